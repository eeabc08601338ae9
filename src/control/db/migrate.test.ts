import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, test } from 'node:test';
import { silentLog } from '../../base/log.ts';
import { migrate } from './migrate.ts';
import type { Migration } from './migration.ts';
import { MIGRATIONS } from './migrations.gen.ts';
import { copyDatabase, DATABASE_FILE, lockDataDir, openDatabase } from './open.ts';
import type { Sqlite } from './sqlite.ts';

const NOW = Date.UTC(2026, 10, 21);
let dataDir = '';
let sqlite: Sqlite;

beforeEach(() => {
  dataDir = join(mkdtempSync(join(tmpdir(), 'culvert-')), 'data');
  sqlite = openDatabase(dataDir);
});
afterEach(() => {
  sqlite.close();
  rmSync(join(dataDir, '..'), { recursive: true });
});

const step = (index: number, ...statements: string[]): Migration => ({
  index,
  tag: `000${index}`,
  hash: `h${index}`,
  statements,
});
const FIRST = step(
  1,
  'CREATE TABLE parent (id INTEGER PRIMARY KEY, name TEXT)',
  'CREATE TABLE child (id INTEGER PRIMARY KEY, parent INTEGER NOT NULL REFERENCES parent(id) ON DELETE CASCADE)',
);
/** What drizzle-kit writes to change a column: the table is rebuilt. */
const REBUILD = step(
  2,
  'CREATE TABLE __new_parent (id INTEGER PRIMARY KEY, name TEXT NOT NULL)',
  'INSERT INTO __new_parent SELECT id, name FROM parent',
  'DROP TABLE parent',
  'ALTER TABLE __new_parent RENAME TO parent',
);
const run = (migrations: readonly Migration[], nowMs = NOW): void =>
  migrate(sqlite, { dataDir, migrations, nowMs, log: silentLog });
const bound = (target: Sqlite, key: string | symbol): unknown => {
  const value: unknown = Reflect.get(target, key);
  return typeof value === 'function' ? value.bind(target) : value;
};
const count = (table: string): unknown => sqlite.prepare(`SELECT count(*) FROM ${table}`).pluck().get();
const snapshots = (): string[] =>
  readdirSync(dataDir).includes('snapshots') ? readdirSync(join(dataDir, 'snapshots')).sort() : [];

test('an empty database gets all migrations, without a snapshot, and each once', () => {
  run([FIRST, REBUILD]);
  run([FIRST, REBUILD]);
  assert.equal(count('culvert_migrations'), 2);
  assert.deepEqual(snapshots(), []);
});

test('the migrations of this binary make a database that foreign keys hold in', () => {
  run(MIGRATIONS);
  assert.equal(sqlite.pragma('foreign_keys', { simple: true }), 1);
  assert.deepEqual(sqlite.pragma('foreign_key_check'), []);
  assert.throws(
    () => sqlite.exec("INSERT INTO projects VALUES ('p', 'no such org', 's', 'n', 0, 0, NULL)"),
    /FOREIGN KEY/,
  );
});

test('rebuilding a table loses no rows of others, and a copy is taken before', () => {
  run([FIRST]);
  sqlite.exec("INSERT INTO parent VALUES (1, 'a'); INSERT INTO child VALUES (1, 1), (2, 1)");
  run([FIRST, REBUILD]);
  assert.equal(count('child'), 2);
  assert.deepEqual(sqlite.pragma('foreign_key_check'), []);
  const [file = ''] = snapshots();
  assert.equal(file, 'v1-to-v2.db');
  assert.equal(statSync(join(dataDir, 'snapshots', file)).mode & 0o777, 0o600);
  const copy = join(dataDir, 'copy');
  copyDatabase(sqlite, copy);
  assert.throws(() => copyDatabase(sqlite, copy), { code: 'EEXIST' });
  assert.equal(statSync(copy).mode & 0o777, 0o600);
});

test('a migration that fails leaves the database as it was before it', () => {
  run([FIRST]);
  sqlite.exec('INSERT INTO parent VALUES (1, NULL)');
  assert.throws(
    () => run([FIRST, step(2, 'CREATE TABLE extra (id INTEGER)'), step(3, ...REBUILD.statements)]),
    /migration 0003 failed/,
  );
  assert.equal(count('parent'), 1);
  assert.equal(count('culvert_migrations'), 2, 'the one before it has been applied');
  assert.equal(sqlite.pragma('foreign_keys', { simple: true }), 1);
});

test('a migration that would leave rows pointing at nothing is refused', () => {
  run([FIRST]);
  sqlite.exec("INSERT INTO parent VALUES (1, 'a'); INSERT INTO child VALUES (1, 1)");
  assert.throws(
    () => run([FIRST, step(2, 'DELETE FROM parent')]),
    (error) =>
      error instanceof Error && error.cause instanceof Error && /refer to missing rows/.test(error.cause.message),
  );
  assert.equal(count('parent'), 1);
});

test('a database that is newer than the binary, or from another build, is refused with a word', () => {
  run([FIRST, REBUILD]);
  assert.throws(() => run([FIRST]), /newer than this binary: it has migration 0002, this binary ends at 0001/);
  assert.throws(
    () => run([FIRST, { ...REBUILD, hash: 'edited' }]),
    /migration 0002 of the database does not match this binary/,
  );
});

test('snapshots: the newest five stay after a migration, also beside those of older releases', () => {
  const steps = [FIRST];
  for (let i = 2; i <= 9; i++) {
    run(steps, NOW + i * 1000);
    steps.push(step(i, `CREATE TABLE t${i} (id INTEGER)`));
    if (i === 3) writeFileSync(join(dataDir, 'snapshots', '2025-11-21T00-00-00-000Z-v1.db'), 'old');
    if (i === 3) utimesSync(join(dataDir, 'snapshots', '2025-11-21T00-00-00-000Z-v1.db'), 1, 1);
  }
  run(steps, NOW + 20_000);
  assert.deepEqual(
    snapshots(),
    [4, 5, 6, 7, 8].map((from) => `v${from}-to-v${from + 1}.db`),
  );
});

test('snapshots: a migration that fails at every start keeps one copy, which leads back', () => {
  run([FIRST]);
  sqlite.exec("INSERT INTO parent VALUES (1, 'before')");
  const broken = [FIRST, step(2, 'CREATE TABLE extra (id INTEGER)'), step(3, 'INSERT INTO parent VALUES (1, 2, 3)')];
  for (let i = 0; i < 12; i++) assert.throws(() => run(broken, NOW + i * 1000), /migration 0003 failed/);
  assert.deepEqual(snapshots(), ['v1-to-v3.db', 'v2-to-v3.db']);
  const back = new DatabaseSync(join(dataDir, 'snapshots', 'v1-to-v3.db'), { readOnly: true });
  assert.deepEqual(
    [
      back.prepare('SELECT name FROM parent').get()?.['name'],
      back.prepare('SELECT count(*) AS n FROM culvert_migrations').get()?.['n'],
    ],
    ['before', 1],
  );
  back.close();
});

test('snapshots: a later attempt at the same migration has what was stored between', () => {
  run([FIRST]);
  const broken = [FIRST, step(2, 'INSERT INTO parent VALUES (1, 2, 3)')];
  assert.throws(() => run(broken));
  sqlite.exec("INSERT INTO parent VALUES (7, 'since')");
  assert.throws(() => run(broken, NOW + 1000));
  assert.deepEqual(snapshots(), ['v1-to-v2.db']);
  const back = new DatabaseSync(join(dataDir, 'snapshots', 'v1-to-v2.db'), { readOnly: true });
  assert.equal(back.prepare('SELECT name FROM parent').get()?.['name'], 'since');
  back.close();
});

test('snapshots: a copy that is cut short has no name of a copy, and the next one removes it', () => {
  run([FIRST]);
  const names: string[][] = [];
  const dying = new Proxy(sqlite, {
    get: (target, key) => {
      if (key !== 'prepare') return bound(target, key);
      return (sql: string) => {
        if (!sql.startsWith('VACUUM')) return target.prepare(sql);
        return {
          run: (file: string) => {
            target.prepare(sql).run(file);
            names.push(snapshots());
            throw new Error('killed');
          },
        };
      };
    },
  });
  const migrations = [FIRST, REBUILD];
  assert.throws(() => migrate(dying, { dataDir, migrations, nowMs: NOW, log: silentLog }), /killed/);
  assert.equal(names[0]?.length, 1);
  assert.match(names[0]?.[0] ?? '', /\.part$/);
  writeFileSync(join(dataDir, 'snapshots', names[0]?.[0] ?? ''), 'half a copy');
  run(migrations);
  assert.deepEqual(snapshots(), ['v1-to-v2.db']);
});

test('folder and file are private, also when the file was not', () => {
  assert.equal(statSync(dataDir).mode & 0o777, 0o700);
  for (const file of readdirSync(dataDir)) assert.equal(statSync(join(dataDir, file)).mode & 0o777, 0o600, file);
  assert.ok(readdirSync(dataDir).includes(DATABASE_FILE));
  const other = join(dataDir, 'other');
  openDatabase(other).close();
  writeFileSync(join(other, DATABASE_FILE), 'this is no database, and long enough to be seen as none'.repeat(100));
  assert.throws(() => openDatabase(other), /can't be opened: it is damaged/);
});

test('one server per folder, until it lets go', () => {
  const unlock = lockDataDir(dataDir);
  assert.throws(() => lockDataDir(dataDir), /in use by another culvert serve/);
  unlock();
  lockDataDir(dataDir)();
});
