/** A database that is damaged, or whose file goes, under a running server: one line with what to do, 503, and no change that is lost. */
import assert from 'node:assert/strict';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  openSync,
  writeSync,
  closeSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '../../src/base/log.ts';
import { withoutLogged } from '../../src/base/logged-errors.ts';
import { DATABASE_FILE, openDatabase } from '../../src/control/db/open.ts';
import type { Answer } from '../../src/control/core/testing/harness.ts';
import { Plane } from '../../src/control/core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../../src/control/core/testing/plane-api.ts';

const AT = { agent_address: 'a:1', agent_addresses: ['a:1'] };
const DISCOVERY = { version: '1', ...AT, edge_domain: 'a', api_url: 'http://a', server_id: 'a' };

interface Served {
  readonly plane: Plane;
  readonly api: PlaneApi;
  readonly file: string;
  readonly as: string;
  /** Lines at the levels `error` and `warn`. */
  readonly said: string[];
}

/** A plane on a folder of its own, with some rows in its database, that was started once before. */
async function serve(t: TestContext, spoil: (file: string) => void = () => {}): Promise<Served> {
  const dataDir = mkdtempSync(join(tmpdir(), 'culvert-'));
  const first = new Plane(dataDir);
  const made = await first.control.accounts.createUser({
    email: 'ann@x.test',
    name: '',
    plan: 'free',
    superadmin: true,
  });
  first.control.close();
  const file = join(dataDir, DATABASE_FILE);
  spoil(file);
  const said: string[] = [];
  const say = (_fields: object, message: string): void => void said.push(message);
  const log: Logger = { error: say, warn: say, info: () => {}, debug: () => {}, child: () => log };
  const plane = new Plane(dataDir, { log: withoutLogged(log) });
  const api = await servePlane(plane, {
    discovery: () => DISCOVERY,
    log: withoutLogged(log),
  });
  t.after(async () => {
    await api.close();
    plane.close();
  });
  const body = { email: 'ann@x.test', password: made.password.reveal() };
  const login = await api.call('POST', '/auth/login', { body });
  assert.equal(login.status, 200, login.text);
  return { plane, api, file, as: String(login.body['access_token']), said };
}

const codeOf = ({ status, body }: Answer): string => `${status} ${String(body['error'])}`;
const project = ({ api, as }: Served, slug: string) =>
  api.call('POST', '/projects', { as, body: { name: slug, slug } });

/** Overwrites the first page of a table with what is no page. */
function damage(file: string, table: string): void {
  const sqlite = openDatabase(join(file, '..'));
  const page = Number(
    sqlite.prepare<[string], number>('SELECT rootpage FROM sqlite_schema WHERE name = ?').pluck().get(table),
  );
  const size = Number(sqlite.pragma('page_size', { simple: true }));
  sqlite.pragma('wal_checkpoint(TRUNCATE)');
  sqlite.close();
  const fd = openSync(file, 'r+');
  writeSync(fd, Buffer.alloc(size, 0xff), 0, size, (page - 1) * size);
  closeSync(fd);
}

test('damaged database: requests that meet it are 503, the log says once what to do, and the server is not ready', async (t) => {
  const served = await serve(t, (file) => damage(file, 'projects'));
  const { api, as, said, file } = served;
  for (let i = 0; i < 5; i++) {
    assert.equal(codeOf(await api.call('GET', '/projects', { as })), '503 unavailable');
    assert.equal(codeOf(await project(served, `p${i}`)), '503 unavailable');
  }
  assert.equal(said.length, 1, said.join('\n'));
  for (const part of [file, 'PRAGMA integrity_check', 'culvert backup', 'snapshots'])
    assert.ok(said[0]?.includes(part) === true, said[0] ?? '');
  assert.ok(!said[0]?.includes('\n'));
  assert.equal((await api.call('GET', '/ready')).status, 503);
  assert.equal((await api.call('GET', '/auth/me', { as })).status, 200, 'what is whole is served');
  assert.equal(said.length, 1, said.join('\n'));
});

for (const what of ['deleted', 'replaced'] as const) {
  test(`database file: one that is ${what} under a live server is noticed, and what the server holds is saved`, async (t) => {
    const served = await serve(t);
    const { plane, api, as, said, file } = served;
    t.after(plane.control.store.watchFile({ lookMs: 5 }));
    assert.equal((await project(served, 'before')).status, 201);
    if (what === 'deleted') for (const name of [file, `${file}-wal`, `${file}-shm`]) rmSync(name, { force: true });
    else {
      cpSync(file, `${file}.other`);
      renameSync(`${file}.other`, file);
    }
    while (plane.control.store.fault === undefined) await pause(2);
    assert.equal(codeOf(await project(served, 'after')), '503 unavailable');
    assert.equal((await api.call('GET', '/ready')).status, 503);
    assert.equal((await api.call('GET', '/auth/me', { as })).status, 200);
    while (said.length === 0) await pause(5);
    await pause(30);
    assert.equal(said.length, 1, said.join('\n'));
    assert.match(
      said[0] ?? '',
      new RegExp(`culvert\\.db was ${what} .* Its data is saved in .*culvert\\.db\\.rescued-\\w+\\. Stop the server`),
    );
    const copy = readdirSync(join(file, '..')).find((name) => name.startsWith('culvert.db.rescued-')) ?? '';
    const other = mkdtempSync(join(tmpdir(), 'culvert-'));
    t.after(() => rmSync(other, { recursive: true }));
    cpSync(join(file, '..', copy), join(other, DATABASE_FILE));
    const back = openDatabase(other);
    assert.deepEqual(back.prepare('SELECT slug FROM projects ORDER BY slug').pluck().all(), ['before', 'default']);
    back.close();
  });
}

test('database file: one whose disk does not say, or that is written to, is not taken for gone', async (t) => {
  const served = await serve(t);
  const { plane, said, file } = served;
  t.after(plane.control.store.watchFile({ lookMs: 2 }));
  for (let i = 0; i < 5; i++) assert.equal((await project(served, `p${i}`)).status, 201);
  await pause(20);
  assert.equal(plane.control.store.fault, undefined);
  assert.deepEqual(said, []);
  assert.ok(existsSync(file) && statSync(file).size > 0);
});
