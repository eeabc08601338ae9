/** The operators' routes as `culvert admin` reaches them: beside a running server, without one, and not at all. */
import assert from 'node:assert/strict';
import fs, {
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import Sqlite from 'better-sqlite3';
import { silentLog } from '../../base/log.ts';
import { openDatabase } from '../db/open.ts';
import { openOperator } from '../../server/admin.ts';
import { backupDatabase } from '../../server/backup/command.ts';
import { openControlPlane } from '../../server/control-plane.ts';
import { startServer } from '../../server/start.ts';
import { callerOf, FakeNode, LOOSE, settingsFor } from '../core/testing/harness.ts';

let dataDir = '';
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'culvert-'));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

const start = (folder = dataDir) =>
  startServer(settingsFor(folder, LOOSE), { version: '1.2.3', log: silentLog, startNode: new FakeNode().start });
const open = (folder = dataDir) =>
  openOperator(settingsFor(folder), { version: '1', log: silentLog, command: 'culvert admin …' });

function makeFolder(folder: string, owner: number): void {
  mkdirSync(folder, { mode: 0o700 });
  chownSync(folder, owner, owner);
}

/** Handles of this process on the database. */
function openDatabases(): number {
  return readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === join(dataDir, 'culvert.db');
    } catch {
      return false; // the handle that listed the folder is gone
    }
  }).length;
}

/** What a start leaves that fails before it makes the first account: on a port that is taken, say. */
function makeTables(): void {
  openControlPlane(settingsFor(dataDir), { edgeTemplate: () => '', apiUrl: () => '', log: silentLog }).close();
}

async function create(email: string): Promise<string> {
  const operator = await open();
  try {
    const made = (await operator.call('POST', '/superadmin/users', { email })) as { password: string };
    return made.password;
  } finally {
    operator.close();
  }
}
const login = (apiUrl: string, email: string, password: string) =>
  callerOf(apiUrl)('POST', '/auth/login', { body: { email, password } });

test('beside a running server its own API does it; without one the same routes run here', async () => {
  const server = await start();
  const beside = await create('beside@example.test');
  assert.equal((await login(server.apiUrl, 'Beside@example.TEST', beside)).status, 200);
  await assert.rejects(create('BESIDE@example.test'), { code: 'conflict' });
  await assert.rejects(create('no address'), { code: 'invalid_request' });
  await server.close();

  const without = await create('without@example.test');
  await assert.rejects(create('without@example.test'), { code: 'conflict' });
  const again = await start();
  for (const [email, password] of [
    ['beside@example.test', beside],
    ['without@example.test', without],
  ] as const)
    assert.equal((await login(again.apiUrl, email, password)).status, 200);
  const events = await callerOf(again.apiUrl)('GET', '/events', {
    as: String((await login(again.apiUrl, 'without@example.test', without)).body['access_token']),
  });
  const made = (events.body as unknown as { action: string; userEmail: string; actorType: string }[]).find(
    ({ action }) => action === 'user.create',
  );
  assert.deepEqual([made?.userEmail, made?.actorType], ['operator', 'operator'], 'its members see who made it');
  await again.close();
});

test('the database of a running server is not opened, and no server starts beside a command', async () => {
  const server = await start();
  const handles = openDatabases();
  assert.ok(handles > 0, 'the server of this process has it open');
  const operator = await open();
  await operator.call('GET', '/superadmin/users');
  assert.equal(openDatabases(), handles);
  operator.close();
  await server.close();
  const alone = await open();
  await assert.rejects(start(), /in use by another culvert serve, or by culvert admin/);
  alone.close();
  await (await start()).close();
});

test('what a server has counted is asked of one that runs', async () => {
  const server = await start();
  const beside = await open();
  assert.equal(((await beside.call('GET', '/superadmin/edge')) as { since: string }).since, '2026-11-21T09:30:00.000Z');
  beside.close();
  await server.close();
  const alone = await open();
  await assert.rejects(alone.call('GET', '/superadmin/edge'), {
    code: 'unavailable',
    message: /The server is not running/,
  });
  alone.close();
});

test('nothing is made where no server ever ran, and what is missing is named', async () => {
  const absent = join(dataDir, 'absent');
  await assert.rejects(open(absent), /data folder .*absent can't be used: it does not exist/);
  assert.throws(() => backupDatabase(settingsFor(absent), join(dataDir, 'copy'), 'x'), /it does not exist/);
  await assert.rejects(open(), /there is no culvert\.db in .*first start of culvert serve/s);
  assert.deepEqual(readdirSync(dataDir), []);
});

test("another user's folder: root asks the server while it runs", { skip: process.getuid?.() !== 0 }, async () => {
  const server = await start();
  chownSync(dataDir, 65_534, 65_534);
  const operator = await open();
  assert.equal(((await operator.call('GET', '/superadmin/users')) as unknown[]).length, 1);
  operator.close();
  await server.close();
  await assert.rejects(open(), /belongs to the user nobody/);
});

test("another user's folder is left alone, and what to type instead is said", {
  skip: process.getuid?.() !== 0,
}, async () => {
  const stranger = join(dataDir, 'theirs');
  const settings = settingsFor(stranger);
  const copy = join(dataDir, 'copy');
  makeFolder(stranger, 65_534);
  const typed = /belongs to the user nobody.*: sudo -u nobody culvert admin …/;
  await assert.rejects(openOperator(settings, { version: '1', log: silentLog, command: 'culvert admin …' }), typed);
  assert.throws(() => backupDatabase(settings, copy, 'culvert backup FILE'), /sudo -u nobody culvert backup FILE/);
  chownSync(stranger, 54_321, 54_321);
  assert.throws(() => backupDatabase(settings, copy, 'culvert backup FILE'), /sudo -u '#54321' culvert/);
  assert.deepEqual(readdirSync(stranger), []);
});

test('a backup is whole and private, names what is in the way, and a server starts on it', async () => {
  const server = await start();
  const password = await create('kept@example.test');
  const copy = join(dataDir, 'copy.db');
  const settings = settingsFor(dataDir);
  const bytes = backupDatabase(settings, copy, 'culvert backup FILE');
  assert.equal(bytes, statSync(copy).size);
  assert.equal(statSync(copy).mode & 0o777, 0o600);
  assert.throws(() => backupDatabase(settings, copy, 'x'), /copy\.db already exists/);
  assert.throws(() => backupDatabase(settings, join(dataDir, 'no/copy.db'), 'x'), /can't be written/);
  await create('later@example.test');
  await server.close();

  const restored = join(dataDir, 'restored');
  mkdirSync(restored);
  for (const [from, to] of [
    ['copy.db', 'culvert.db'],
    ['seal.key', 'seal.key'],
  ] as const)
    copyFileSync(join(dataDir, from), join(restored, to));
  const second = await start(restored);
  assert.equal(second.firstOwner, undefined);
  assert.equal((await login(second.apiUrl, 'kept@example.test', password)).status, 200);
  assert.equal((await login(second.apiUrl, 'later@example.test', password)).status, 401);
  await second.close();
});

test('a database that was restored without its key is left as it is, and the key is asked for', async () => {
  const first = await start();
  const password = await create('kept@example.test');
  await first.close();
  const key = readFileSync(join(dataDir, 'seal.key'));
  rmSync(join(dataDir, 'seal.key'));
  const needed = /there is no seal\.key next to the database in .*: restore it from your backup/;
  await assert.rejects(start(), needed);
  await assert.rejects(open(), needed);
  assert.throws(() => backupDatabase(settingsFor(dataDir), join(dataDir, 'copy.db'), 'x'), needed);
  assert.ok(!existsSync(join(dataDir, 'seal.key')), 'no other key takes its place');

  writeFileSync(join(dataDir, 'seal.key'), key, { mode: 0o600 });
  const again = await start();
  assert.equal((await login(again.apiUrl, 'kept@example.test', password)).status, 200);
  await again.close();
});

test('a first start that ended before the first table gets its key at the next', async () => {
  openDatabase(dataDir).close();
  assert.deepEqual(readdirSync(dataDir), ['culvert.db']);
  const server = await start();
  assert.ok(server.firstOwner !== undefined);
  await server.close();
});

test('the first account of a server is one that owns it', async () => {
  makeTables();
  await assert.rejects(create('ann@example.test'), {
    code: 'conflict',
    message: /has no account yet.*Start the server once.*--superadmin/,
  });
  const server = await start();
  assert.equal(server.firstOwner?.email, 'admin@localhost');
  await create('ann@example.test');
  await server.close();
});

test('operator: a superadmin made before the first start owns the server', async () => {
  makeTables();
  const operator = await open();
  await operator.call('POST', '/superadmin/users', { email: 'root@example.test', superadmin: true });
  operator.close();
  const server = await start();
  assert.equal(server.firstOwner, undefined);
  await create('ann@example.test');
  await server.close();
});

test('a copy and its name are on the disk when the command says so', async (t) => {
  await (await start()).close();
  const seen: string[] = [];
  const { fsyncSync } = fs;
  t.mock.method(fs, 'fsyncSync', (fd: number) => {
    seen.push(readlinkSync(`/proc/self/fd/${fd}`));
    fsyncSync(fd);
  });
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  const copies = join(dataDir, 'copies');
  mkdirSync(copies);
  backupDatabase(settingsFor(dataDir), join(copies, 'copy.db'), 'x');
  assert.match(seen[0] ?? '', /\/copies\/copy\.db\.\w+\.part$/, 'before it has its name');
  assert.deepEqual(seen.slice(1), [copies]);
});

test('backup: no file has the name of the copy until it is whole, whenever the command is killed', async (t) => {
  await (await start()).close();
  const copy = join(dataDir, 'copy.db');
  const namedAt: boolean[] = [];
  const { prepare } = Sqlite.prototype;
  t.mock.method(Sqlite.prototype, 'prepare', function (this: InstanceType<typeof Sqlite>, sql: string) {
    const statement = prepare.call(this, sql);
    if (!sql.startsWith('VACUUM')) return statement;
    const run = statement.run.bind(statement);
    return Object.assign(statement, {
      run: (file: string) => {
        namedAt.push(existsSync(copy));
        const done = run(file);
        namedAt.push(existsSync(copy));
        return done;
      },
    });
  });
  backupDatabase(settingsFor(dataDir), copy, 'x');
  assert.deepEqual(namedAt, [false, false]);
  assert.ok(existsSync(copy));
});

test('a copy that is not whole is not kept', async () => {
  await (await start()).close();
  const sqlite = openDatabase(dataDir);
  sqlite.exec('CREATE TABLE extra (a TEXT); INSERT INTO extra VALUES (NULL)');
  // As a damaged page would: the copy itself goes well, what comes out is no sound database.
  sqlite.unsafeMode(true);
  sqlite.pragma('writable_schema = ON');
  sqlite.exec("UPDATE sqlite_schema SET sql = 'CREATE TABLE extra (a TEXT NOT NULL)' WHERE name = 'extra'");
  sqlite.close();
  const copy = join(dataDir, 'copy.db');
  assert.throws(
    () => backupDatabase(settingsFor(dataDir), copy, 'x'),
    /culvert\.db is damaged, so no copy was kept: NULL value in extra\.a/,
  );
  assert.ok(!existsSync(copy));
});
