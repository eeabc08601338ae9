import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { generateSQLiteDrizzleJson, generateSQLiteMigration } from 'drizzle-kit/api';
import { silentLog } from '../../src/base/log.ts';
import { migrate } from '../../src/control/db/migrate.ts';
import { MIGRATIONS } from '../../src/control/db/migrations.gen.ts';
import { openDatabase } from '../../src/control/db/open.ts';
import * as schema from '../../src/control/db/schema.ts';

const root = new URL('../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');

test('migrations.gen.ts is in step with drizzle/', () => {
  const script = fileURLToPath(new URL('scripts/gen-migrations.mjs', root));
  const { status, stderr } = spawnSync(process.execPath, [script, '--check'], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
});

test('drizzle/ is in step with the schema', async () => {
  const journal = JSON.parse(read('drizzle/meta/_journal.json')) as { entries: { idx: number }[] };
  const last = String(journal.entries.length - 1).padStart(4, '0');
  const before = JSON.parse(read(`drizzle/meta/${last}_snapshot.json`)) as Awaited<
    ReturnType<typeof generateSQLiteDrizzleJson>
  >;
  const now = await generateSQLiteDrizzleJson(schema, before.id);
  assert.deepEqual(await generateSQLiteMigration(before, now), [], 'run npm run db:generate');
  const more = await generateSQLiteDrizzleJson(
    { ...schema, extra: sqliteTable('extra', { id: text().primaryKey() }) },
    before.id,
  );
  assert.equal((await generateSQLiteMigration(before, more)).length, 1, 'the comparison sees a change');
});

/** A database without tables, and what brings it up to one of the migrations. */
function empty(t: TestContext) {
  const dataDir = mkdtempSync(join(tmpdir(), 'culvert-'));
  const sqlite = openDatabase(dataDir);
  t.after(() => {
    sqlite.close();
    rmSync(dataDir, { recursive: true });
  });
  const upTo = (count: number): void =>
    migrate(sqlite, { dataDir, migrations: MIGRATIONS.slice(0, count), nowMs: 1, log: silentLog });
  return { sqlite, upTo };
}

test('a token that was revoked before there was a table for it is in the list of revocations afterwards', (t) => {
  const { sqlite, upTo } = empty(t);
  upTo(3);
  sqlite.exec(`
    INSERT INTO organizations (id, name, slug, plan, approval_status, created_at) VALUES ('o', 'O', 'o', 'free', 'approved', 1);
    INSERT INTO capability_tokens (id, org_id, parent_id, kind, version, name, nonce, subject, key_hash, wire_bytes_len, tunnel_quota,
      bandwidth_limit_mbps, allowed_subdomains, issued_at, expires_at, revoked_at)
    VALUES ('t', 'o', 'm', 'agent', 1, 'n', 'dead', 's', 'h1', 1, 1, 1, '[]', 1, 9, 5),
      ('u', 'o', NULL, 'agent', 1, 'n', 'alive', 's', 'h2', 1, 1, 1, '[]', 1, 9, NULL);`);
  upTo(MIGRATIONS.length);
  assert.deepEqual(sqlite.prepare('SELECT * FROM revoked_nonces').all(), [
    { token_id: 't', nonce: 'dead', minter_id: 'm', from_at: 5, until: 9 },
  ]);
});

test('a token that was rotated before it named its successor does so afterwards', (t) => {
  const { sqlite, upTo } = empty(t);
  upTo(12);
  const insert = sqlite.prepare(
    `INSERT INTO capability_tokens (id, org_id, lineage_id, kind, version, name, nonce, subject, key_hash, wire_bytes_len, tunnel_quota,
      bandwidth_limit_mbps, allowed_subdomains, issued_at, expires_at, grace_ends_at, revoked_at)
    VALUES (?, 'o', ?, 'agent', 1, 'n', ?, 's', ?, 1, 1, 1, '[]', 1, 9, ?, ?)`,
  );
  sqlite.exec(
    `INSERT INTO organizations (id, name, slug, plan, approval_status, created_at) VALUES ('o', 'O', 'o', 'free', 'approved', 1)`,
  );
  const rows: ReadonlyArray<
    readonly [id: string, lineage: string, graceEndsAt: number | null, revokedAt: number | null]
  > = [
    ['a1', 'a1', null, 5],
    ['a2', 'a1', 8, null],
    ['a3', 'a1', null, null],
    ['b1', 'b1', null, 5],
    ['c1', 'c1', 8, null],
  ];
  for (const [id, lineage, graceEndsAt, revokedAt] of rows)
    insert.run(id, lineage, `n-${id}`, `h-${id}`, graceEndsAt, revokedAt);
  upTo(MIGRATIONS.length);
  assert.deepEqual(sqlite.prepare('SELECT id, replaced_by FROM capability_tokens ORDER BY id').raw().all(), [
    ['a1', 'n-a2'],
    ['a2', 'n-a3'],
    ['a3', null],
    ['b1', null],
    ['c1', null],
  ]);
});

test('a receiver that took deliveries in by the secret that it has is known for that afterwards', (t) => {
  const { sqlite, upTo } = empty(t);
  upTo(13);
  sqlite.exec(
    `INSERT INTO organizations (id, name, slug, plan, approval_status, created_at) VALUES ('o', 'O', 'o', 'free', 'approved', 1)`,
  );
  const insert = sqlite.prepare(
    `INSERT INTO webhook_receivers (id, org_id, name, validator, sealed_secret, created_at, updated_at, last_received_at)
    VALUES (?, 'o', 'n', 'github', 's', 1, ?, ?)`,
  );
  for (const [id, updatedAt, lastReceivedAt] of [
    ['changed', 6, 5],
    ['fresh', 1, null],
    ['quiet', 1, 5],
    ['refusing', 1, 5],
  ] as const)
    insert.run(id, updatedAt, lastReceivedAt);
  sqlite.exec(`INSERT INTO webhook_refusals (receiver_id, reason, count, last_at)
    VALUES ('refusing', 'signature_wrong', 2, 4), ('refusing', 'signature_missing', 3, 9), ('fresh', 'signature_wrong', 1, 9)`);
  upTo(MIGRATIONS.length);
  assert.deepEqual(sqlite.prepare('SELECT id, refused_before FROM webhook_receivers ORDER BY id').raw().all(), [
    ['changed', null],
    ['fresh', null],
    ['quiet', 0],
    ['refusing', 2],
  ]);
});

test('ports that were freed before their organizations were written down rest on, TCP ports with the last one that had them', (t) => {
  const { sqlite, upTo } = empty(t);
  upTo(14);
  sqlite.exec(`
    INSERT INTO organizations (id, name, slug, plan, approval_status, created_at)
    VALUES ('o', 'O', 'o', 'free', 'approved', 1), ('p', 'P', 'p', 'free', 'approved', 1);
    INSERT INTO projects (id, org_id, slug, name, is_default, created_at) VALUES ('j', 'o', 'default', 'J', 1, 1);
    INSERT INTO resting_udp_ports (port, freed_at) VALUES (30000, 7), (30001, 8);`);
  const insert = sqlite.prepare(
    `INSERT INTO tunnels (id, org_id, project_id, label, protocol, local_port, tcp_port, status, created_at, touched_at, deleted_at)
    VALUES (?, ?, 'j', ?, 'tcp', 22, ?, 'inactive', 1, 1, ?)`,
  );
  const rows: ReadonlyArray<readonly [id: string, orgId: string, tcpPort: number | null, deletedAt: number | null]> = [
    ['first', 'o', 20_000, 5],
    ['second', 'p', 20_000, 9],
    ['other', 'o', 20_001, 6],
    ['live', 'o', 20_002, null],
    ['web', 'o', null, 9],
  ];
  for (const [id, orgId, tcpPort, deletedAt] of rows) insert.run(id, orgId, id, tcpPort, deletedAt);
  upTo(MIGRATIONS.length);
  const resting = sqlite.prepare('SELECT transport, port, org_id, freed_at FROM resting_ports ORDER BY port').raw();
  assert.deepEqual(resting.all(), [
    ['tcp', 20_000, 'p', 9],
    ['tcp', 20_001, 'o', 6],
    ['udp', 30_000, null, 7],
    ['udp', 30_001, null, 8],
  ]);
  assert.equal(sqlite.prepare('SELECT count(*) FROM tunnels').pluck().get(), rows.length);
});
