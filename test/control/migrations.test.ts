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
import { BASELINE } from '../../src/control/db/baseline.ts';
import { migrate } from '../../src/control/db/migrate.ts';
import { MIGRATIONS } from '../../src/control/db/migrations.gen.ts';
import { openDatabase } from '../../src/control/db/open.ts';
import * as schema from '../../src/control/db/schema.ts';
import type { Sqlite } from '../../src/control/db/sqlite.ts';
import { applyBeforeRelease } from './migrations-before-release.ts';

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

/** A database with the first `count` of the migrations before the first release. */
function before(t: TestContext, count: number) {
  const dataDir = mkdtempSync(join(tmpdir(), 'culvert-'));
  const sqlite = openDatabase(dataDir);
  t.after(() => {
    sqlite.close();
    rmSync(dataDir, { recursive: true });
  });
  applyBeforeRelease(sqlite, count);
  const run = (): void => migrate(sqlite, { dataDir, migrations: MIGRATIONS, nowMs: 2, log: silentLog });
  return { sqlite, run };
}

/** Tables with their columns, keys and indexes, in an order that does not depend on how they came about. */
function structureOf(sqlite: Sqlite): unknown {
  const all = (sql: string): unknown[] => sqlite.prepare(sql).raw().all();
  const names = sqlite.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").pluck().all();
  return names.map((name) => ({
    name,
    columns: all(
      `SELECT name, type, "notnull", dflt_value, pk, hidden FROM pragma_table_xinfo('${name}') ORDER BY name`,
    ),
    keys: all(
      `SELECT "table", "from", "to", on_update, on_delete FROM pragma_foreign_key_list('${name}') ORDER BY 1, 2`,
    ),
    indexes: all(
      `SELECT name, replace(sql, char(10), ' ') FROM sqlite_schema WHERE type = 'index' AND tbl_name = '${name}' ORDER BY 1`,
    ),
  }));
}

test('migrations: a database of the last build before the first release is taken as it is', (t) => {
  const old = before(t, BASELINE.count);
  old.sqlite.exec(
    `INSERT INTO organizations (id, name, slug, plan, approval_status, created_at) VALUES ('o', 'O', 'o', 'free', 'approved', 1)`,
  );
  old.run();
  const fresh = before(t, 0);
  fresh.run();
  assert.deepEqual(structureOf(old.sqlite), structureOf(fresh.sqlite));
  assert.deepEqual(old.sqlite.prepare('SELECT id FROM organizations').pluck().all(), ['o']);
  const recorded = (sqlite: Sqlite): unknown[] => sqlite.prepare('SELECT id, tag, hash FROM culvert_migrations').all();
  assert.deepEqual(recorded(old.sqlite), recorded(fresh.sqlite));
  old.run();
  assert.equal(recorded(old.sqlite).length, MIGRATIONS.length, 'a second start changes nothing');
});

test('migrations: a database from before the last build before the first release is refused by name', (t) => {
  const { sqlite, run } = before(t, 12);
  assert.throws(
    run,
    /it ends at migration 0011_webhook_refusals\. Start it once with a build that has migration 0017_/,
  );
  assert.equal(sqlite.prepare('SELECT count(*) FROM culvert_migrations').pluck().get(), 12);
});
