import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test, type TestContext } from 'node:test';
import Database from 'better-sqlite3';
import { sql } from 'drizzle-orm';
import { systemClock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { silentLog } from '../../base/log.ts';
import { DurableLog } from './disk/durable-log.ts';
import { openDatabase, openStore } from './open.ts';
import { Store } from './tx.ts';

let dataDir = '';
let store: Store;
const errors: string[] = [];

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'culvert-'));
  const log = { ...silentLog, error: (_: object, message: string) => void errors.push(message) };
  store = new Store(openStore(openDatabase(dataDir), dataDir), { clock: systemClock, log });
  store.db.run('CREATE TABLE t (x INTEGER)');
  errors.length = 0;
});
afterEach(() => {
  store.close();
  rmSync(dataDir, { recursive: true });
});

const rows = (): unknown => store.db.get<{ n: number }>(sql`SELECT count(*) AS n FROM t`).n;

test('tells after the commit, in order, when the rows are there', () => {
  const told: unknown[] = [];
  const answer = store.inTx((tx) => {
    tx.onCommit(() => told.push('first', rows()));
    tx.onCommit(() => told.push('second'));
    tx.db.run('INSERT INTO t VALUES (1)');
    assert.deepEqual(told, []);
    return 'done';
  });
  assert.equal(answer, 'done');
  assert.deepEqual(told, ['first', 1, 'second']);
});

test('transaction: one that throws stores nothing and calls no listener', () => {
  const told: unknown[] = [];
  assert.throws(
    () =>
      store.inTx((tx) => {
        tx.onCommit(() => told.push('ghost'));
        tx.db.run('INSERT INTO t VALUES (1)');
        throw new Error('no');
      }),
    /no/,
  );
  assert.deepEqual([told, rows()], [[], 0]);
  store.inTx((tx) => void tx.db.run('INSERT INTO t VALUES (2)'));
  assert.equal(rows(), 1, 'the next one works');
});

test('transaction: a listener that fails neither skips the next one nor undoes the commit', () => {
  const told: unknown[] = [];
  store.inTx((tx) => {
    tx.db.run('INSERT INTO t VALUES (1)');
    tx.onCommit(() => {
      throw new Error('listener');
    });
    tx.onCommit(() => told.push('second'));
  });
  assert.deepEqual([told, rows(), errors], [['second'], 1, ['a commit handler failed']]);
});

test('refuses a transaction inside a transaction', () => {
  assert.throws(() => store.inTx(() => store.inTx(() => 1)), /inside a transaction/);
});

/** A store whose disk answers on command. */
function slowStore(t: TestContext, diskMs?: number) {
  const folder = mkdtempSync(join(tmpdir(), 'culvert-'));
  const asked: Array<PromiseWithResolvers<void>> = [];
  const sqlite = openDatabase(folder);
  const said: string[] = [];
  const say = (_: object, message: string): void => void said.push(message);
  const durableLog = new DurableLog(sqlite, {
    file: join(folder, 'culvert.db'),
    openReader: () => openDatabase(folder),
    sync: () => {
      const one = Promise.withResolvers<void>();
      asked.push(one);
      return one.promise;
    },
  });
  const log = { ...silentLog, error: say, info: say };
  const slow = new Store(
    { sqlite, durableLog },
    { clock: systemClock, log, ...(diskMs === undefined ? {} : { diskMs }) },
  );
  slow.db.run('CREATE TABLE t (x INTEGER)');
  t.after(() => {
    slow.close();
    rmSync(folder, { recursive: true });
  });
  const write = (options = {}): void => slow.inTx((tx) => void tx.db.run('INSERT INTO t VALUES (1)'), options);
  return { slow, asked, said, write };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('an answer waits for a turn of the disk that began behind its commit; all that were made until then share it', async (t) => {
  const { slow, asked, write } = slowStore(t);
  await slow.durable();
  assert.equal(asked.length, 0, 'nothing was written');
  write();
  const first = slow.durable();
  while (asked.length < 1) await turn();
  const done: number[] = [];
  for (let n = 0; n < 20; n++) {
    write();
    void slow.durable().then(() => done.push(n));
  }
  asked[0]?.resolve();
  await first;
  while (asked.length < 2) await turn();
  assert.deepEqual(done, [], 'the first turn began before they were written');
  asked[1]?.resolve();
  while (done.length < 20) await turn();
  await slow.durable();
  assert.equal(asked.length, 2);
});

test('nothing waits for what may be lost', async (t) => {
  const { slow, asked, write } = slowStore(t);
  write({ relaxed: true });
  assert.equal(slow.commits, 0);
  await slow.durable();
  assert.equal(asked.length, 0);
});

test('a disk that does not answer is `unavailable` with a time to come again, until it does', async (t) => {
  const { slow, asked, said, write } = slowStore(t, 5);
  write();
  const isUnconfirmed = (error: unknown): boolean =>
    error instanceof AppError && error.code === 'unavailable' && (error.retryAfterSeconds ?? 0) > 0;
  await assert.rejects(slow.durable(), isUnconfirmed);
  await assert.rejects(slow.durable(), isUnconfirmed);
  assert.throws(() => slow.checkDisk(), isUnconfirmed);
  assert.match(said.join(), /has not confirmed a write/);
  assert.equal(said.length, 1);
  // The wait for the disk may be over before the disk is asked.
  while (asked.length < 1) await turn();
  asked[0]?.resolve();
  while (slow.state.kind === 'slow') await turn();
  slow.checkDisk();
  assert.match(said.at(-1) ?? '', /responds again/);
  await slow.durable();
});

test('a patient caller waits for a slow disk, and the log says so all the same', async (t) => {
  const { slow, asked, said, write } = slowStore(t, 5);
  write();
  const waiting = slow.durable(60_000);
  while (said.length === 0 || asked.length === 0) await turn();
  assert.match(said.join(), /has not confirmed a write/);
  asked[0]?.resolve();
  await waiting;
  assert.equal(slow.state.kind, 'ok');
});

test('a disk that says no is `unavailable`; what it forgot is written anew', async (t) => {
  const { slow, asked, write } = slowStore(t);
  write();
  const first = slow.durable();
  while (asked.length < 1) await turn();
  asked[0]?.reject(Object.assign(new Error('EIO'), { code: 'EIO' }));
  await assert.rejects(first, (error) => error instanceof AppError && error.code === 'unavailable');
  // Into the file itself, by real calls: asking the log again would only hear that nothing is to be written.
  await slow.durable();
  assert.equal(asked.length, 1);
  assert.equal(slow.db.get<{ n: number }>(sql`SELECT count(*) AS n FROM t`).n, 1);
});

test('a file that another program has locked is `unavailable`', (t) => {
  const other = openDatabase(dataDir);
  t.after(() => other.close());
  other.exec('BEGIN IMMEDIATE');
  const write = (): void => store.inTx((tx) => void tx.db.run('INSERT INTO t VALUES (1)'));
  assert.throws(
    write,
    (error) => error instanceof AppError && error.code === 'unavailable' && /locked/.test(error.message),
  );
  other.exec('ROLLBACK');
  write();
});

const big = 'x'.repeat(200_000);
const pages = (limit: number): void => void store.db.get(sql.raw(`PRAGMA max_page_count = ${limit}`));

test('a full disk is `unavailable`, with its cause for the log, and stays so until a trial works', () => {
  store.db.run('CREATE TABLE spent_once (id TEXT PRIMARY KEY, expires_at INTEGER)');
  const isUnavailable = (error: unknown): boolean =>
    error instanceof AppError && error.code === 'unavailable' && error.cause instanceof Error;
  store.checkDisk();
  pages(1);
  assert.throws(() => store.inTx((tx) => void tx.db.run(sql`INSERT INTO t VALUES (${big})`)), isUnavailable);
  assert.equal(rows(), 0);
  assert.throws(() => store.checkDisk(), isUnavailable);
  assert.equal(store.state.kind, 'failed');
  store.look();
  assert.equal(store.state.kind, 'failed');
  pages(1_000_000);
  store.look();
  assert.equal(store.state.kind, 'ok');
  assert.equal(store.db.get<{ n: number }>(sql`SELECT count(*) AS n FROM spent_once`).n, 0);
  pages(1);
  store.checkDisk();
});

test('a disk that has turned read-only is `unavailable` too; other failures keep their name', () => {
  store.db.run(sql`PRAGMA query_only = ON`);
  const write = (): void => store.inTx((tx) => void tx.db.run('INSERT INTO t VALUES (1)'));
  assert.throws(write, (error) => error instanceof AppError && error.code === 'unavailable');
  store.db.run(sql`PRAGMA query_only = OFF`);
  store.db.run('CREATE UNIQUE INDEX one ON t (x)');
  write();
  assert.throws(write, (error) => !(error instanceof AppError));
});

test('statements: one text is compiled once, and each use has its rows in its own form', (t) => {
  const compiled: string[] = [];
  const { prepare } = Database.prototype;
  t.mock.method(Database.prototype, 'prepare', function (this: Database.Database, text: string) {
    compiled.push(text);
    return prepare.call(this, text);
  });
  const text = 'SELECT 1 AS n';
  assert.deepEqual(store.db.values(sql.raw(text)), [[1]]);
  assert.deepEqual(store.db.get(sql.raw(text)), { n: 1 });
  assert.deepEqual(store.db.values(sql.raw(text)), [[1]]);
  assert.deepEqual(compiled, [text]);
});
