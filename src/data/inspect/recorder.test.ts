/** The limits of recording: accepted, held and dropped records, each counted exactly. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { type Logger, silentLog } from '../../base/log.ts';
import { Head, parseRequestHead, parseResponseHead } from '../../http1/head.ts';
import type { InspectedRequest, InspectionBatch } from '../../plane/inspection.ts';
import { until } from '../fixtures/gateway.ts';
import { testRoute } from '../fixtures/link.ts';
import { RouteEntry, type ServedTunnel } from '../routing/entry.ts';
import { Allowance } from '../../base/limits/allowance.ts';
import { type Draft, OWN_BYTES } from './draft.ts';
import { type InspectorSettings, Recorder } from './recorder.ts';
import type { QueueOptions } from './record-queue.ts';
import { OwnClock } from '../../../test/harness/own-clock.ts';

const WITHIN = { timeout: 120_000 };
const HEAD = Buffer.from('GET /orders HTTP/1.1\r\nHost: shop.example.test\r\n\r\n');
const RESPONSE = Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n');
const SERVED = { agentId: 'agent', tokenId: 'token' } as ServedTunnel;

interface Fixture {
  readonly recorder: Recorder;
  readonly batches: InspectionBatch[];
  readonly faults: string[];
  /** Called per batch; a test may hold it back. */
  onInspect: (batch: InspectionBatch) => Promise<void>;
  entry(name: string): RouteEntry;
  records(): InspectedRequest[];
}

/** `shop-1` and `shop-2` are tunnels of one organization. */
const orgOf = (name: string): string => name.replace(/-.*$/, '');

function fixture(t: TestContext, over: Partial<InspectorSettings> = {}, queue: QueueOptions = {}): Fixture {
  const batches: InspectionBatch[] = [];
  const faults: string[] = [];
  const log = { ...silentLog, error: (_fields: object, words: string) => faults.push(words) } as unknown as Logger;
  const entries = new Map<string, RouteEntry>();
  const settings = {
    maxBodyBytes: 65_536,
    maxPerSecondPerTunnel: 0,
    maxPerSecond: 0,
    maxMemoryMb: 64,
    websocketFrames: false,
    ...over,
  };
  const self: Fixture = {
    batches,
    faults,
    onInspect: async () => {},
    recorder: new Recorder(settings, {
      link: {
        inspect: async (batch) => {
          await self.onInspect(batch);
          batches.push(batch);
        },
      },
      log,
      queue,
    }),
    entry: (name) => {
      const entry = entries.get(name) ?? new RouteEntry({ ...testRoute(name), orgId: orgOf(name) });
      entries.set(name, entry);
      return entry;
    },
    records: () => batches.flatMap(({ records }) => records),
  };
  t.after(() => self.recorder.close());
  return self;
}

/** A request that has come to the edge and is passed on; null: it is not recorded. */
function begun({ recorder, entry }: Fixture, name = 'shop', nowMs = 0): Draft | null {
  const draft = recorder.begin(entry(name), nowMs, null);
  if (draft === null) return null;
  const head = new Head();
  parseRequestHead(HEAD, 0, HEAD.length, head);
  draft.read({ bytes: HEAD, start: 0, head, remoteIp: '192.0.2.1', isHttps: false, isHttp2: false }, '');
  draft.carriedBy(SERVED, false);
  draft.forwarded(HEAD, 0, HEAD.length);
  return draft;
}

function answered(draft: Draft | null, body = 'pear'): boolean {
  if (draft === null) return false;
  const head = new Head();
  parseResponseHead(RESPONSE, 0, RESPONSE.length, head);
  draft.answered(RESPONSE, 0, RESPONSE.length, head);
  draft.responseBody.payload(Buffer.from(body), 0, body.length);
  draft.finish({ status: 200, code: null, isWhole: true });
  return true;
}

/** How many of so many requests were recorded. */
function taken(of: Fixture, count: number, name = 'shop', nowMs = 0): number {
  let all = 0;
  for (let at = 0; at < count; at++) if (answered(begun(of, name, nowMs))) all++;
  return all;
}

const counts = ({ batches }: Fixture): Record<string, number> => {
  const sums: Record<string, number> = {};
  for (const { unrecorded } of batches)
    for (const { tunnelId, count } of unrecorded) sums[tunnelId] = (sums[tunnelId] ?? 0) + count;
  return sums;
};

test('an allowance lets a burst pass, then so many per second, and saves up no more than the burst', () => {
  const allowance = new Allowance({ perSecond: 10, burst: 30 }, 1_000);
  const take = (nowMs: number): number => {
    let count = 0;
    for (; allowance.hasOne(nowMs); count++) allowance.spend();
    return count;
  };
  assert.equal(take(1_000), 30);
  assert.equal(take(1_000), 0);
  assert.equal(take(1_250), 2);
  assert.equal(take(2_250), 10);
  assert.equal(take(900), 0);
  assert.equal(take(2_350), 1);
  assert.equal(take(1_000_000), 30);
  const none = new Allowance({ perSecond: 0, burst: 0 }, 0);
  for (let at = 0; at < 1_000_000; at++) {
    if (!none.hasOne(0)) assert.fail('no limit');
    none.spend();
  }
});

test('a tunnel records no more than its allowance, and takes nothing from its neighbours', WITHIN, async (t) => {
  const of = fixture(t, { maxPerSecondPerTunnel: 10 });
  assert.equal(taken(of, 500, 'shop'), 100);
  assert.equal(taken(of, 60, 'shed'), 60);
  assert.equal(taken(of, 500, 'shop', 1_000), 10);
  await of.recorder.flush();
  assert.equal(of.records().length, 170);
  assert.deepEqual(counts(of), { [of.entry('shop').route.tunnelId]: 890 });
  const { recorded, dropped, waiting, heldBytes } = of.recorder.stats();
  assert.deepEqual([recorded, waiting, heldBytes], [170, 0, 0]);
  assert.deepEqual(dropped, { tunnel_rate: 890, org_rate: 0, node_rate: 0, memory: 0, queue: 0, lost: 0, failed: 0 });
});

test('what the node does not record is no loss of the allowance of the tunnel', WITHIN, async (t) => {
  const of = fixture(t, { maxPerSecond: 50, maxPerSecondPerTunnel: 10 });
  const now = Math.ceil(performance.now());
  assert.equal(taken(of, 90, 'shop', now), 90);
  assert.equal(taken(of, 90, 'shed', now), 90);
  assert.equal(taken(of, 90, 'barn', now), 20);
  assert.equal(taken(of, 90, 'barn', now + 1_000), 50);
  await of.recorder.flush();
  assert.deepEqual(counts(of), { [of.entry('barn').route.tunnelId]: 110 });
  assert.equal(of.recorder.stats().dropped['node_rate'], 110);
});

test('one organization has half of the rate at most, however many tunnels it has', WITHIN, async (t) => {
  const of = fixture(t, { maxPerSecond: 50 });
  const now = Math.ceil(performance.now());
  assert.deepEqual([taken(of, 90, 'shop-1', now), taken(of, 90, 'shop-2', now)], [90, 10]);
  assert.equal(taken(of, 90, 'shed', now), 90);
  assert.equal(taken(of, 90, 'shop-2', now + 1_000), 25);
  const { dropped } = of.recorder.stats();
  assert.deepEqual([dropped['org_rate'], dropped['node_rate']], [145, 0]);
});

test(
  'an organization that holds all that it may leaves room for others, and each of them for the next',
  WITHIN,
  async (t) => {
    const of = fixture(t, { maxMemoryMb: 1 });
    const held = (name: string): number => {
      const before = of.recorder.stats().heldBytes;
      while (begun(of, name)?.isOpen === true);
      return (of.recorder.stats().heldBytes - before) / (1 << 20);
    };
    for (const [name, share] of [
      ['shop-1', 1 / 2],
      ['shop-2', 0],
      ['shed', 1 / 4],
      ['barn', 1 / 8],
    ] as const)
      assert.ok(Math.abs(held(name) - share) < 0.01, name);
  },
);

test('a request of the control plane needs no allowance and has the id that it was given', WITHIN, async (t) => {
  const of = fixture(t, { maxPerSecondPerTunnel: 1 });
  assert.equal(taken(of, 20), 10);
  const draft = of.recorder.begin(of.entry('shop'), 0, { id: 'known', replayOf: 'first' });
  assert.ok(answered(draft));
  await of.recorder.flush();
  const last = of.records().at(-1);
  assert.deepEqual([last?.id, last?.replayOf], ['known', 'first']);
});

test('a tunnel that is not inspected, and one that is no HTTP, have no records and no counts', WITHIN, async (t) => {
  const of = fixture(t);
  of.entry('shop').inspected = false;
  of.entry('raw').route = testRoute('raw', { protocol: 'tcp' });
  assert.equal(taken(of, 5, 'shop') + taken(of, 5, 'raw'), 0);
  assert.equal(of.recorder.begin(of.entry('shop'), 0, { id: 'known', replayOf: null }), null);
  await of.recorder.flush();
  assert.deepEqual([of.batches.length, of.recorder.stats().dropped['tunnel_rate']], [0, 0]);
});

test('what is under way takes memory until it is stored, and what finds none is not recorded', WITHIN, async (t) => {
  const of = fixture(t, { maxMemoryMb: 1 });
  const stored = Promise.withResolvers<void>();
  of.onInspect = () => stored.promise;
  const open: Draft[] = [];
  for (let draft = begun(of); draft?.isOpen === true; draft = begun(of)) {
    open.push(draft);
    assert.ok(of.recorder.stats().heldBytes <= 1 << 20);
  }
  const each = OWN_BYTES + HEAD.length + '/orders'.length;
  assert.ok(Math.abs(open.length - (1 << 19) / each) < 2, String(open.length));
  assert.equal(begun(of), null);
  const missed = of.recorder.stats().dropped['memory'] ?? 0;
  // One that grows beyond it is given up whole, and frees what it had.
  const [first, second] = open.splice(0, 2) as [Draft, Draft];
  first.requestBody.payload(Buffer.alloc(50_000), 0, 50_000);
  assert.deepEqual([first.isOpen, first.isDropped], [false, true]);
  const { heldBytes } = of.recorder.stats();
  first.requestBody.payload(HEAD, 0, HEAD.length);
  first.finish({ status: 200, code: null, isWhole: true });
  assert.equal(of.recorder.stats().heldBytes, heldBytes);
  assert.equal(of.recorder.stats().dropped['memory'], missed + 1);
  second.requestBody.payload(Buffer.alloc(1_100), 0, 1_100);
  assert.equal(second.isOpen, true);
  for (const draft of [second, ...open]) draft.finish({ status: 0, code: null, isWhole: true });
  const flushed = of.recorder.flush();
  await until(() => of.recorder.stats().waiting === open.length + 1);
  assert.equal(begun(of), null);
  stored.resolve();
  await flushed;
  assert.equal(of.records().length, open.length + 1);
  assert.equal(of.recorder.stats().heldBytes, 0);
  assert.equal(of.records()[0]?.requestSize, 1_100);
  assert.ok(answered(begun(of)));
});

test(
  'what is complete waits up to a bound while a batch is under way; the next one goes when it is stored',
  WITHIN,
  async (t) => {
    const of = fixture(t, {}, { maxWaiting: 30, maxRecords: 10 });
    const stored = Promise.withResolvers<void>();
    let underWay = 0;
    let most = 0;
    of.onInspect = async () => {
      most = Math.max(most, ++underWay);
      await stored.promise;
      underWay--;
    };
    taken(of, 10);
    await until(() => underWay === 1);
    taken(of, 50);
    assert.equal(of.recorder.stats().waiting, 40);
    assert.equal(of.recorder.stats().dropped['queue'], 20);
    stored.resolve();
    await of.recorder.flush();
    assert.equal(most, 1);
    assert.deepEqual(
      of.batches.map(({ records }) => records.length).filter((count) => count > 0),
      [10, 10, 10, 10],
    );
    assert.deepEqual(counts(of), { [of.entry('shop').route.tunnelId]: 20 });
    assert.deepEqual([of.recorder.stats().recorded, of.recorder.stats().heldBytes], [40, 0]);
  },
);

test('a batch has a bound in bytes; one record beyond it goes alone', WITHIN, async (t) => {
  const of = fixture(t, { maxBodyBytes: 1 << 20 }, { maxBytes: 100_000 });
  for (const size of [40_000, 40_000, 40_000, 300_000, 40_000]) answered(begun(of), 'x'.repeat(size));
  await of.recorder.flush();
  assert.deepEqual(
    of.batches.map(({ records }) => records.map(({ responseSize }) => responseSize)),
    [[40_000, 40_000], [40_000], [300_000], [40_000]],
  );
});

test('records come within moments by themselves, and in the order in which they ended', WITHIN, async (t) => {
  const of = fixture(t);
  const slow = begun(of);
  const drafts = Array.from({ length: 5 }, () => begun(of));
  for (const draft of drafts) answered(draft);
  answered(slow);
  await until(() => of.records().length === 6);
  assert.equal(of.batches.length, 1);
  assert.deepEqual(
    of.records().map(({ id }) => id),
    [...drafts, slow].map((draft) => draft?.id),
  );
});

test(
  'a batch that is refused, or never answered, is lost and counted; the next one is sent all the same',
  WITHIN,
  async (t) => {
    for (const fault of [() => Promise.reject(new Error('no')), () => new Promise<void>(() => {})]) {
      const of = fixture(t, { maxPerSecondPerTunnel: 1 }, { answerMs: 50 });
      of.onInspect = fault;
      taken(of, 15);
      await until(() => of.recorder.stats().dropped['lost'] === 10);
      assert.deepEqual(of.faults, ['request records were lost']);
      assert.equal(of.recorder.stats().heldBytes, 0);
      of.onInspect = async () => {};
      assert.equal(taken(of, 1, 'shop', 1_000), 1);
      await of.recorder.flush();
      assert.equal(of.records().length, 1);
      assert.deepEqual(counts(of), { [of.entry('shop').route.tunnelId]: 15 });
    }
  },
);

test('a flush waits for what was there when it was asked for, and no longer than half a second', WITHIN, async (t) => {
  const of = fixture(t, {}, { gatherMs: 60_000 });
  await of.recorder.flush();
  assert.equal(of.batches.length, 0);
  taken(of, 3);
  await Promise.all([of.recorder.flush(), of.recorder.flush()]);
  assert.equal(of.records().length, 3);
  of.onInspect = () => new Promise<void>(() => {});
  taken(of, 1);
  const before = performance.now();
  const own = new OwnClock();
  await of.recorder.flush();
  assert.ok(performance.now() - before >= 490);
  assert.ok(own.ms < 2_000, `${own.ms} ms`);
  of.onInspect = async () => {};
});

test('the end of a node stores what is left', WITHIN, async (t) => {
  const of = fixture(t, {}, { gatherMs: 60_000 });
  taken(of, 3);
  await of.recorder.close();
  assert.equal(of.records().length, 3);
  taken(of, 2);
  assert.deepEqual([of.recorder.stats().dropped['queue'], of.recorder.stats().heldBytes], [2, 0]);
});

test('recorder: a fault in a record ends that record alone and is logged once', WITHIN, async (t) => {
  const of = fixture(t);
  const broken = begun(of);
  const fine = begun(of);
  const mock = t.mock.method(Buffer, 'allocUnsafeSlow', () => {
    throw new Error('broken');
  });
  broken?.requestBody.payload(HEAD, 0, HEAD.length);
  answered(broken);
  assert.equal(begun(of)?.isOpen, false);
  mock.mock.restore();
  answered(fine);
  await of.recorder.flush();
  assert.deepEqual(
    of.records().map(({ id }) => id),
    [fine?.id],
  );
  assert.equal(of.recorder.stats().dropped['failed'], 2);
  assert.equal(of.recorder.stats().heldBytes, 0);
  assert.deepEqual(of.faults, ['could not record a request']);
  assert.deepEqual(counts(of), { [of.entry('shop').route.tunnelId]: 2 });
});
