/** A database of the first release candidate with rows in all of its tables: today's migrations keep every value, and today's API serves it. */
import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { silentLog } from '../../src/base/log.ts';
import { Secret } from '../../src/base/secret.ts';
import { Plane } from '../../src/control/core/testing/plane.ts';
import { servePlane } from '../../src/control/core/testing/plane-api.ts';
import { type Person, Team } from '../../src/control/core/testing/team.ts';
import { BASELINE } from '../../src/control/db/baseline.ts';
import { migrate } from '../../src/control/db/migrate.ts';
import { MIGRATIONS } from '../../src/control/db/migrations.gen.ts';
import { DATABASE_FILE, openDatabase } from '../../src/control/db/open.ts';
import type { Sqlite } from '../../src/control/db/sqlite.ts';
import { applyBeforeRelease } from './migrations-before-release.ts';
import { type Fixture, Fixtures } from './sweep-fixture.ts';
import { naming, pathOf, rows } from './sweep-routes.ts';

// Without one no tunnel gets a visitor gate. No server answers there.
const google = { clientId: 'id', clientSecret: new Secret('secret'), issuer: 'http://127.0.0.1:1' };
const openPlane = (dataDir?: string): Plane => new Plane(dataDir, { oauth: { google, github: null } });
const OF_TUNNEL = ['auth', 'edge-auth', 'policy', 'maintenance'];

/** With the database of the release candidate: what a plane of today has made, as far as there was a place for it then. */
let dataDir = '';
let ann: Person;
let fixture: Fixture;
before(async () => {
  const plane = openPlane();
  ({ dataDir } = plane);
  const api = await servePlane(plane);
  ann = await new Team(plane, api).person('ann@example.test');
  fixture = await new Fixtures(plane).of(ann);
  for (const route of rows.filter(({ name }) => OF_TUNNEL.some((of) => name === `PUT /tunnels/{id}/${of}`))) {
    const { status, text } = await ann.call('PUT', pathOf(route, [fixture.tunnel]), route.row.body);
    assert.equal(status, 200, text);
  }
  await api.close();
  plane.control.close();
  toReleaseCandidate();
});
after(() => rmSync(dataDir, { recursive: true }));

interface Column {
  readonly name: string;
  readonly type: string;
}

/** Tables with their columns. */
function tablesOf(sqlite: Sqlite): Map<string, readonly Column[]> {
  const names = sqlite
    .prepare<[], string>(
      `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'culvert_migrations'`,
    )
    .pluck()
    .all();
  const columns = sqlite.prepare<[string], Column>('SELECT name, lower(type) AS type FROM pragma_table_info(?)');
  return new Map(names.map((name) => [name, columns.all(name)]));
}

const listed = (columns: readonly Column[]): string => columns.map(({ name }) => `"${name}"`).join(', ');

function toReleaseCandidate(): void {
  const today = join(dataDir, 'today.db');
  renameSync(join(dataDir, DATABASE_FILE), today);
  const sqlite = openDatabase(dataDir);
  applyBeforeRelease(sqlite, BASELINE.count);
  sqlite.pragma('foreign_keys = OFF');
  sqlite.prepare('ATTACH ? AS today').run(today);
  for (const [table, columns] of tablesOf(sqlite)) {
    const list = listed(columns);
    sqlite.exec(`INSERT INTO main."${table}" (${list}) SELECT ${list} FROM today."${table}"`);
  }
  sqlite.close();
  rmSync(today);
}

/** A value for each column, that of another table's row where it refers to one. */
function addRow(sqlite: Sqlite, table: string, columns: readonly Column[]): void {
  const keys = sqlite
    .prepare<[string], { from: string; table: string; to: string }>('SELECT * FROM pragma_foreign_key_list(?)')
    .all(table);
  const values = columns.map(({ name, type }) => {
    const key = keys.find(({ from }) => from === name);
    if (key !== undefined) return sqlite.prepare(`SELECT "${key.to}" FROM "${key.table}" LIMIT 1`).pluck().get();
    if (type === 'blob') return Buffer.from(name);
    return type === 'text' ? name : 7;
  });
  sqlite
    .prepare(`INSERT INTO "${table}" (${listed(columns)}) VALUES (${columns.map(() => '?').join(', ')})`)
    .run(...values);
}

test('migrations: each value in each table of the release candidate is kept', () => {
  const folder = mkdtempSync(join(tmpdir(), 'culvert-'));
  copyFileSync(join(dataDir, DATABASE_FILE), join(folder, DATABASE_FILE));
  const sqlite = openDatabase(folder);
  const tables = [...tablesOf(sqlite)];
  const isEmpty = (table: string): boolean => sqlite.prepare(`SELECT 1 FROM "${table}"`).get() === undefined;
  for (const [table, columns] of tables) if (isEmpty(table)) addRow(sqlite, table, columns);
  const values = (): unknown =>
    tables.map(([table, columns]) => {
      return [
        table,
        sqlite
          .prepare(`SELECT ${listed(columns)} FROM "${table}" ORDER BY rowid`)
          .raw()
          .all(),
      ];
    });
  const old = values();
  assert.equal(tables.length, 46);
  assert.ok(tables.every(([table]) => !isEmpty(table)));
  migrate(sqlite, { dataDir: folder, migrations: MIGRATIONS, nowMs: 2, log: silentLog });
  assert.deepEqual(values(), old);
  assert.deepEqual(sqlite.pragma('integrity_check', { simple: true }), 'ok');
  sqlite.close();
  rmSync(folder, { recursive: true });
});

test('migrations: the data of the release candidate is served, and its forgetting goes on', async () => {
  const plane = openPlane(dataDir);
  const api = await servePlane(plane);
  new Fixtures(plane);
  for (const route of rows.filter(({ isRead, row }) => isRead && row.operators === undefined)) {
    const { ids } = naming(route, fixture);
    const { status, text } = await api.call('GET', pathOf(route, ids), { as: ann.token });
    assert.equal(status, route.row.answer?.[0] ?? 200, `${route.name}: ${text}`);
  }
  plane.now += 400 * 24 * 3_600_000;
  plane.control.retention.sweep();
  await api.close();
  plane.control.close();
});
