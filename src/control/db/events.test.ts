import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { sql } from 'drizzle-orm';
import { systemClock } from '../../base/clock.ts';
import { silentLog } from '../../base/log.ts';
import { after, event, on } from './events.ts';
import { openDatabase, openStore } from './open.ts';
import { Store } from './tx.ts';

interface Removed {
  readonly rows: number;
  readonly files: number;
}

const removed = event<{ readonly id: number }, Removed>('removed', { rows: 0, files: 0 });
const added = event<{ readonly id: number }>('added');

let dataDir = '';
let store: Store;
const errors: string[] = [];
const calls: unknown[] = [];

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'culvert-'));
  const log = { ...silentLog, error: (_: object, message: string) => void errors.push(message) };
  store = new Store(openStore(openDatabase(dataDir), dataDir), { clock: systemClock, log });
  store.db.run('CREATE TABLE t (x INTEGER)');
  errors.length = 0;
  calls.length = 0;
});
afterEach(() => {
  store.close();
  rmSync(dataDir, { recursive: true });
});

const rows = (): number | undefined => store.db.get<{ n: number }>(sql`SELECT count(*) AS n FROM t`)?.n;

test('event: handlers run in their order inside the transaction, and their counts are added up', () => {
  store.handleEvents([
    on(removed, (tx, { id }) => {
      tx.db.run(sql`INSERT INTO t VALUES (${id})`);
      return { rows: 1 };
    }),
    on(added, () => void calls.push('of another event')),
    on(removed, () => ({ rows: rows() ?? 0, files: 2 })),
    on(removed, () => void calls.push('without counts')),
  ]);
  const counts = store.inTx((tx) => tx.emit(removed, { id: 7 }));
  assert.deepEqual(counts, { rows: 2, files: 2 });
  assert.deepEqual(calls, ['without counts']);
});

test('event: without a handler all counts are 0', () => {
  assert.deepEqual(
    store.inTx((tx) => tx.emit(removed, { id: 7 })),
    { rows: 0, files: 0 },
  );
});

test('event: a handler that throws rolls the whole change back', () => {
  store.handleEvents([
    on(added, (tx) => void tx.db.run('INSERT INTO t VALUES (1)')),
    after(added, () => void calls.push('after')),
    on(added, () => {
      throw new Error('no');
    }),
  ]);
  const change = () => store.inTx((tx) => void tx.emit(added, { id: 1 }));
  assert.throws(change, /no/);
  assert.deepEqual([rows(), calls], [0, []]);
});

test('event: a handler after the commit sees the rows, and its failure is logged and reaches no caller', () => {
  store.handleEvents([
    after(added, () => {
      throw new Error('no');
    }),
    after(added, ({ id }) => void calls.push(id, rows())),
  ]);
  store.inTx((tx) => {
    tx.emit(added, { id: 3 });
    tx.db.run('INSERT INTO t VALUES (3)');
    assert.deepEqual(calls, []);
  });
  assert.deepEqual([calls, errors.length], [[3, 1], 1]);
});

test('event: handlers get the instant of the transaction that emits, also of a copy at another one', () => {
  store.handleEvents([on(added, ({ now }) => void calls.push(now))]);
  store.inTx((tx) => {
    const then = { ...tx, now: 5 };
    then.emit(added, { id: 1 });
  });
  assert.deepEqual(calls, [5]);
});
