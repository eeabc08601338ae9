/** `culvert config check --migrate`: the answer of one version to another, before an upgrade and before a rollback. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { silentLog } from '../../src/base/log.ts';
import { run, tempHome } from '../../src/cli/fixtures/in-process.ts';
import { migrate, readApplied } from '../../src/control/db/migrate.ts';
import type { Migration } from '../../src/control/db/migration.ts';
import { MIGRATIONS } from '../../src/control/db/migrations.gen.ts';
import { openDatabase } from '../../src/control/db/open.ts';

const FUTURE: Migration = {
  index: MIGRATIONS.length + 1,
  tag: 'future',
  hash: 'f',
  statements: ['CREATE TABLE future (a)'],
};

/** A folder with a copy of a database that has these migrations. */
function copyWith(t: TestContext, migrations: readonly Migration[]): { home: string; folder: string } {
  const home = tempHome(t);
  const folder = join(home, 'copy');
  mkdirSync(folder);
  const sqlite = openDatabase(folder);
  migrate(sqlite, { dataDir: folder, migrations, nowMs: 0, log: silentLog });
  sqlite.close();
  return { home, folder };
}

function appliedIn(folder: string): number {
  const sqlite = openDatabase(folder);
  const { length } = readApplied(sqlite);
  sqlite.close();
  return length;
}

test('config check --migrate: migrates the copy', async (t) => {
  const { home, folder } = copyWith(t, MIGRATIONS.slice(0, -1));
  const { code, stdout, stderr } = await run(['config', 'check', '--migrate', 'copy'], { home });
  assert.deepEqual([code, stdout], [0, 'defaults: ok\n'], stderr);
  assert.equal(appliedIn(folder), MIGRATIONS.length);
});

test('config check --migrate: exit code 10 for a newer database, 1 for one of another build', async (t) => {
  const newer = copyWith(t, [...MIGRATIONS, FUTURE]);
  const { code, stderr } = await run(['config', 'check', '--migrate', 'copy'], newer);
  assert.equal(code, 10);
  assert.match(stderr, /the database in copy is newer than this program/);
  const other = copyWith(t, [...MIGRATIONS.slice(0, -1), { ...FUTURE, index: MIGRATIONS.length }]);
  const outcome = await run(['config', 'check', '--migrate', 'copy'], other);
  assert.equal(outcome.code, 1);
  assert.match(outcome.stderr, /they come from different builds/);
});

test('config check --migrate: refuses the data folder of a server, and a folder without a database', async (t) => {
  const { home, folder } = copyWith(t, MIGRATIONS.slice(0, -1));
  writeFileSync(join(folder, 'seal.key'), '');
  const { code, stderr } = await run(['config', 'check', '--migrate', 'copy'], { home });
  assert.equal(code, 1);
  assert.match(stderr, /is the data folder of a server/);
  assert.equal(appliedIn(folder), MIGRATIONS.length - 1);
  const none = await run(['config', 'check', '--migrate', '.'], { home });
  assert.match(none.stderr, /there is no culvert\.db/);
});
