/** The store on its thread and a real file. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { AppError } from '../../../base/errors.ts';
import type { InspectedRequest } from '../../../plane/inspection.ts';
import { openUsageFile } from '../open.ts';
import type { RecordFilter } from './records.ts';
import { ANN, batch, BEN, BENS, BLOG, idAt, type LogLine, openStore, recorded, SHOP, usageFolder } from './testing.ts';

const MINUTE = 60_000;
const isError = (code: string) => (error: unknown) => error instanceof AppError && error.code === code;
/** Bytes as plain arrays: a Buffer and a Uint8Array are not equal otherwise. */
const plain = (record: InspectedRequest | undefined): object =>
  Object.fromEntries(
    Object.entries(record ?? {}).map(([name, value]) => [name, value instanceof Uint8Array ? [...value] : value]),
  );

test('a record comes back as it was given, byte for byte', async (t) => {
  const store = openStore(t);
  const full = recorded();
  // Lies in a larger buffer, as what a node reads does.
  const inside = Buffer.concat([Buffer.from('others'), full.requestBody, Buffer.from('bytes')]).subarray(6, 9);
  const empty = recorded({ status: 0, responseHead: null, responseBody: Buffer.alloc(0), replayOf: full.id });
  await store.store(batch({ ...full, requestBody: inside }, empty));
  assert.deepEqual(plain(await store.find(ANN, full.id)), plain({ ...full, requestBody: Uint8Array.from(inside) }));
  assert.deepEqual(plain(await store.find(ANN, empty.id)), plain(empty));
  assert.equal(await store.find(ANN, idAt(Date.now())), undefined);
  for (const id of ['', 'x', `${full.id}0`, full.id.replaceAll('-', '')])
    assert.equal(await store.find(ANN, id), undefined);
});

test('another organization sees nothing of it, whatever it asks', async (t) => {
  const store = openStore(t);
  const record = recorded();
  await store.store({
    records: [record, recorded({ orgId: BEN, tunnelId: BENS })],
    unrecorded: [{ orgId: ANN, tunnelId: SHOP, count: 3 }],
  });
  assert.equal((await store.list(BEN, { limit: 500 })).items.length, 1);
  for (const filter of [
    { tunnelId: SHOP },
    { tunnelId: SHOP, method: 'GET' },
    { pathContains: 'orders', tunnelId: SHOP },
  ]) {
    assert.deepEqual(await store.list(BEN, { limit: 500, ...filter }), { items: [], stoppedAt: null });
  }
  assert.equal(await store.find(BEN, record.id), undefined);
  const hour = { since: Date.now() - 60 * MINUTE, until: Date.now() + MINUTE };
  assert.deepEqual(await store.unrecorded(BEN, hour), []);
  assert.deepEqual(await store.unrecorded(BEN, { ...hour, tunnelId: SHOP }), []);
  await store.forgetTunnel(BEN, SHOP);
  assert.equal((await store.list(ANN, { limit: 500 })).items.length, 1);
  // An id that says the same tunnel for another organization is another tunnel.
  await store.store(batch(recorded({ orgId: BEN })));
  assert.equal((await store.list(ANN, { limit: 500, tunnelId: SHOP })).items.length, 1);
});

test('lists hold what fits the filter, newest first', async (t) => {
  const store = openStore(t);
  const start = Date.now() - 60 * MINUTE;
  const of = (minute: number, changes: Partial<InspectedRequest>) =>
    recorded({ at: start + minute * MINUTE, ...changes });
  const first = of(0, { method: 'POST', status: 500, target: '/Orders/50%_off' });
  const records = [
    of(3, { status: 404, target: '/a' }),
    first,
    of(1, { status: 503, target: '/orders/7', tunnelId: BLOG }),
    of(2, { status: 499, replayOf: first.id, trace: { ...first.trace, outcome: 'refused', code: 'denied' } }),
  ];
  await store.store(batch(...records));
  const statuses = async (filter: Omit<RecordFilter, 'limit'>): Promise<number[]> =>
    (await store.list(ANN, { limit: 10, ...filter })).items.map(({ status }) => status);
  const table: ReadonlyArray<readonly [Omit<RecordFilter, 'limit'>, number[]]> = [
    [{}, [404, 499, 503, 500]],
    [{ tunnelId: SHOP }, [404, 499, 500]],
    [{ tunnelId: BLOG }, [503]],
    [{ tunnelId: BENS }, []],
    [{ method: 'POST' }, [500]],
    [{ method: 'post' }, [500]],
    [{ status: { from: 500, to: 599 } }, [503, 500]],
    [{ status: { from: 500, to: 599 }, tunnelId: SHOP }, [500]],
    [{ status: { from: 404, to: 404 } }, [404]],
    [{ pathContains: 'orders' }, [499, 503, 500]],
    [{ pathContains: '50%_OFF' }, [500]],
    [{ pathContains: '%' }, [500]],
    [{ pathContains: '\\' }, []],
    [{ pathContains: 'orders', status: { from: 500, to: 599 }, tunnelId: BLOG, method: 'GET' }, [503]],
    [{ since: start + 2 * MINUTE }, [404, 499]],
    [{ until: start + 2 * MINUTE }, [503, 500]],
    [{ since: start + MINUTE, until: start + MINUTE + 1 }, [503]],
    [{ since: start + 2 * MINUTE, pathContains: '/a' }, [404]],
    [{ replayOf: first.id }, [499]],
    [{ replayOf: first.id, tunnelId: BLOG }, []],
    [{ replayOf: first.id, method: 'GET', since: start }, [499]],
    [{ replayOf: 'x' }, []],
    [{ outcome: 'refused' }, [499]],
    [{ outcome: 'refused', tunnelId: BLOG }, []],
    [{ outcome: 'forwarded', tunnelId: SHOP }, [404, 500]],
    [{ outcome: 'refused', replayOf: first.id }, [499]],
    [{ before: records[3]?.id }, [503, 500]],
  ];
  for (const [filter, found] of table) {
    assert.deepEqual(await statuses(filter), found, JSON.stringify(filter));
  }
  await assert.rejects(store.list(ANN, { limit: 10, before: 'x' }), isError('invalid_request'));
  for (const limit of [0, 501, 1.5]) await assert.rejects(store.list(ANN, { limit }), isError('invalid_request'));
});

test('pages follow one another without a gap and without a record twice, also of one millisecond', async (t) => {
  const store = openStore(t);
  const at = Date.now();
  const all = Array.from({ length: 95 }, (_, i) =>
    recorded({ at: at - Math.floor(i / 50), tunnelId: i % 2 ? SHOP : BLOG }),
  );
  await store.store(batch(...all));
  for (const filter of [{}, { tunnelId: SHOP }, { pathContains: 'orders' }]) {
    const ids: string[] = [];
    for (let before: string | undefined; ; before = ids.at(-1)) {
      const { items } = await store.list(ANN, { limit: 10, before, ...filter });
      if (items.length === 0) break;
      ids.push(...items.map(({ id }) => id));
    }
    assert.equal(new Set(ids).size, ids.length);
    assert.equal(ids.length, 'tunnelId' in filter ? 47 : 95);
    assert.deepEqual(ids, ids.toSorted().toReversed());
  }
});

test('what was not recorded is counted by tunnel and minute', async (t) => {
  const store = openStore(t);
  const told = (tunnelId: string, count: number) => ({ orgId: ANN, tunnelId, count });
  await store.store({ records: [], unrecorded: [told(SHOP, 2), told(BLOG, 5)] });
  await store.store({ records: [recorded()], unrecorded: [told(SHOP, 1)] });
  const now = Date.now();
  const counts = (filter: object) => store.unrecorded(ANN, { since: now - 2 * MINUTE, until: now + MINUTE, ...filter });
  const found = await counts({});
  assert.deepEqual(
    found.map(({ tunnelId, count }) => [tunnelId, count]),
    [
      [BLOG, 5],
      [SHOP, 3],
    ],
  );
  assert.ok(found.every(({ lastAt }) => lastAt % MINUTE === 0 && now - lastAt < 2 * MINUTE));
  assert.equal((await counts({ tunnelId: SHOP }))[0]?.count, 3);
  assert.deepEqual(await counts({ since: now - 60 * MINUTE, until: now - 30 * MINUTE }), []);
});

test('what is forgotten is not found from then on, and its room comes free', async (t) => {
  const store = openStore(t);
  const shop = recorded();
  const blog = recorded({ tunnelId: BLOG });
  await store.store({
    records: [shop, blog, recorded({ orgId: BEN, tunnelId: BENS })],
    unrecorded: [{ orgId: ANN, tunnelId: SHOP, count: 1 }],
  });
  await store.forgetTunnel(ANN, SHOP);
  const ids = async (filter = {}) => (await store.list(ANN, { limit: 10, ...filter })).items.map(({ id }) => id);
  assert.deepEqual(await ids(), [blog.id]);
  assert.deepEqual(await ids({ tunnelId: SHOP }), []);
  assert.equal(await store.find(ANN, shop.id), undefined);
  assert.deepEqual(await store.unrecorded(ANN, { since: 0, until: Date.now() + MINUTE }), []);
  const later = recorded();
  await store.store(batch(later));
  assert.deepEqual(await ids({ tunnelId: SHOP }), [later.id], 'the tunnel goes on');
  const swept = await store.sweep([]);
  assert.deepEqual([swept.deleted, swept.done], [1, true]);
  assert.equal((await ids()).length, 2);
  await store.forgetOrganization(ANN);
  assert.deepEqual(await ids(), []);
  assert.deepEqual(await store.organizations(), [BEN]);
  assert.equal((await store.sweep([])).deleted, 2);
  assert.deepEqual(await store.tunnels(null), [{ orgId: BEN, tunnelId: BENS }]);
});

test('a record that comes twice is stored once, and one without an id not at all', async (t) => {
  const store = openStore(t);
  const record = recorded();
  await store.store(batch(record, recorded({ id: 'no id' }), record));
  await store.store(batch(record));
  assert.equal((await store.list(ANN, { limit: 10 })).items.length, 1);
  assert.equal((await store.sweep([{ orgId: ANN, since: Date.now() + MINUTE }])).deleted, 1);
});

test('where nothing was recorded nothing is started', async (t) => {
  const dataDir = usageFolder(t);
  const store = openStore(t, { dataDir });
  assert.deepEqual(await store.list(ANN, { limit: 10 }), { items: [], stoppedAt: null });
  assert.equal(await store.find(ANN, idAt(Date.now())), undefined);
  await store.sweep([]);
  assert.equal(existsSync(join(dataDir, 'usage.db')), false);
});

test('more batches than may wait are lost, counted, and told with the next', async (t) => {
  const store = openStore(t);
  await Promise.all(Array.from({ length: 70 }, () => store.store(batch(recorded()))));
  const { stored, lost } = store.stats();
  assert.deepEqual([stored, lost.queue], [64, 6]);
  await store.store(batch(recorded()));
  const [told] = await store.unrecorded(ANN, { since: 0, until: Date.now() + MINUTE });
  assert.equal(told?.count, 6);
  assert.deepEqual([store.stats().waitingBatches, store.stats().waitingBytes], [0, 0]);
});

test('an organization reads so much at once and no more, and so do all together', async (t) => {
  const store = openStore(t);
  await store.store(batch(recorded()));
  const lists = (orgId: string, count: number) => Array.from({ length: count }, () => store.list(orgId, { limit: 10 }));
  const own = await Promise.allSettled(lists(ANN, 9));
  assert.deepEqual(
    own.map(({ status }) => status),
    [...Array<string>(8).fill('fulfilled'), 'rejected'],
  );
  await assert.rejects(
    Promise.all(lists(ANN, 9)),
    (error) => isError('rate_limited')(error) && (error as AppError).retryAfterSeconds === 1,
  );
  const all = await Promise.allSettled(Array.from({ length: 66 }, (_, i) => store.list(`org ${i}`, { limit: 10 })));
  assert.equal(all.filter(({ status }) => status === 'rejected').length >= 2, true);
  const refused = all.find(({ status }) => status === 'rejected');
  assert.ok(refused?.status === 'rejected' && isError('unavailable')(refused.reason));
  assert.equal(store.stats().waitingReads, 0);
  assert.ok(store.stats().refusedReads >= 4);
});

test('while another program holds the file, records are lost and told afterwards; lists go on', async (t) => {
  const dataDir = usageFolder(t);
  const lines: LogLine[] = [];
  const store = openStore(t, { dataDir, lines });
  await store.store(batch(recorded()));
  const other = openUsageFile(join(dataDir, 'usage.db'));
  other.exec('BEGIN IMMEDIATE');
  await store.store(batch(recorded(), recorded()));
  await store.store(batch(recorded()));
  assert.equal(store.stats().lost.file, 3);
  assert.equal((await store.list(ANN, { limit: 10 })).items.length, 1);
  other.exec('ROLLBACK');
  other.close();
  await store.store(batch(recorded()));
  assert.equal((await store.list(ANN, { limit: 10 })).items.length, 2);
  assert.equal((await store.unrecorded(ANN, { since: 0, until: Date.now() + MINUTE }))[0]?.count, 3);
  assert.deepEqual(
    lines.map(({ level }) => level),
    ['error', 'info'],
    'said once, and when it is over',
  );
});

test('a store that is closed keeps what was given, takes nothing more, and can be closed again', async (t) => {
  const dataDir = usageFolder(t);
  const store = openStore(t, { dataDir });
  const given = store.store(batch(recorded(), recorded()));
  await store.close();
  await given;
  await store.store(batch(recorded()));
  await store.close();
  assert.equal(store.stats().lost.thread, 1);
  assert.equal(existsSync(join(dataDir, 'usage.db-wal')), false, 'folded back');
  await assert.rejects(store.list(ANN, { limit: 10 }), isError('unavailable'));
  const again = openStore(t, { dataDir });
  // A read waits two seconds, which is less than a thread takes to start on a busy machine. What is stored waits for it.
  await again.store(batch(recorded()));
  assert.equal((await again.list(ANN, { limit: 10 })).items.length, 3);
});
