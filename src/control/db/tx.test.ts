import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { sql } from 'drizzle-orm';
import { systemClock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { silentLog } from '../../base/log.ts';
import { openDatabase } from './open.ts';
import { Store } from './tx.ts';

let dataDir = '';
let store: Store;
const errors: string[] = [];

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'culvert-'));
  const log = { ...silentLog, error: (_: object, message: string) => void errors.push(message) };
  store = new Store(openDatabase(dataDir), { clock: systemClock, log });
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

test('a transaction that throws stores nothing and tells nobody', () => {
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

test('one listener that fails does not keep the news from the next, nor undo the commit', () => {
  const told: unknown[] = [];
  store.inTx((tx) => {
    tx.db.run('INSERT INTO t VALUES (1)');
    tx.onCommit(() => {
      throw new Error('listener');
    });
    tx.onCommit(() => told.push('second'));
  });
  assert.deepEqual([told, rows(), errors], [['second'], 1, ['telling of a commit failed']]);
});

test('refuses a transaction inside a transaction', () => {
  assert.throws(() => store.inTx(() => store.inTx(() => 1)), /inside a transaction/);
});

test('a relaxed transaction does not leave the connection relaxed', () => {
  const level = (): unknown => store.db.get<{ synchronous: number }>(sql`PRAGMA synchronous`).synchronous;
  store.inTx((tx) => void tx.db.run('INSERT INTO t VALUES (1)'), { relaxed: true });
  assert.equal(level(), 2);
  assert.throws(() =>
    store.inTx(
      () => {
        throw new Error('no');
      },
      { relaxed: true },
    ),
  );
  assert.equal(level(), 2);
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
  assert.throws(() => store.ping(), isUnavailable);
  pages(1_000_000);
  store.ping();
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
