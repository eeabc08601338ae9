import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { generateSQLiteDrizzleJson, generateSQLiteMigration } from 'drizzle-kit/api';
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
