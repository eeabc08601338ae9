/** Batches of records and of what passes through WebSockets, while more waits than one batch takes. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Allowance } from '../../base/limits/allowance.ts';
import { silentLog } from '../../base/log.ts';
import type { InspectionBatch } from '../../plane/inspection.ts';
import { Draft, type DraftOwner } from './draft.ts';
import { type QueueOptions, RecordQueue } from './record-queue.ts';
import { TunnelRecords } from './tunnel-records.ts';
import type { WebSocketRecord } from './websocket/websocket-record.ts';

const allowance = new Allowance({ perSecond: 0, burst: 0 }, 0);
const tunnel = new TunnelRecords(
  { route: { tunnelId: 'shop', orgId: 'ann' } },
  { allowance, org: { heldBytes: 0, allowance, frames: { heldBytes: 0 } } },
);
/** A text frame of a service, of 102 bytes. */
const FRAME = Buffer.concat([Buffer.from([0x81, 100]), Buffer.alloc(100, 'x')]);

class Fixture {
  readonly batches: InspectionBatch[] = [];
  readonly queue: RecordQueue;
  readonly #owner: DraftOwner;

  constructor(t: TestContext, options: QueueOptions) {
    const inspect = async (batch: InspectionBatch): Promise<void> => void this.batches.push(batch);
    this.queue = new RecordQueue({ link: { inspect }, log: silentLog }, options);
    this.#owner = {
      ...{ maxBodyBytes: 0, websocketFrames: true },
      ...{ take: () => true, give: () => {}, takeFrames: () => true, giveFrames: () => {} },
      finished: (draft) => this.queue.add(draft),
      changed: (websocket) => this.queue.change(websocket),
      dropped: (_of, reason) => assert.fail(reason),
      failed: (error) => assert.fail(String(error)),
    };
    t.after(() => this.queue.close());
  }

  /** Records with heads of 1,000 bytes. */
  records(count: number): void {
    for (let at = 0; at < count; at++) this.#draft(`r${at}`, 1_000).finish({ status: 200, code: null, isWhole: true });
  }

  /** The record of an upgrade, and one frame behind it. */
  websocket(id: string): WebSocketRecord {
    const websocket = this.#draft(id, 10).switched(true);
    assert.ok(websocket);
    websocket.fromService.payload(FRAME, 0, FRAME.length);
    return websocket;
  }

  async rest(): Promise<void> {
    await this.queue.flush(10_000);
  }

  /** The ids of each batch. */
  shown(): string[] {
    return this.batches.map(({ records, websockets = [] }) =>
      [...records.map(({ id }) => id), ...websockets.map(({ id }) => `+${id}`)].join(' '),
    );
  }

  #draft(id: string, bytes: number): Draft {
    const draft = new Draft(this.#owner, { id, tunnel, replayOf: null });
    draft.forwarded(Buffer.alloc(bytes), 0, bytes);
    return draft;
  }
}

test('record queue: a backlog holds back only updates of records that are in it', async (t) => {
  const of = new Fixture(t, { maxRecords: 2 });
  const old = of.websocket('old');
  await of.rest();
  of.records(3);
  of.websocket('new').end();
  old.end();
  of.records(2);
  await of.rest();
  assert.deepEqual(of.shown(), ['old', 'r0 r1 +old', 'r2 new +new', 'r0 r1']);
});

test('record queue: records leave updates a part of the bytes of each batch', async (t) => {
  const of = new Fixture(t, { maxBytes: 4_000 });
  const open = Array.from({ length: 12 }, (_, at) => of.websocket(`w${at}`));
  await of.rest();
  for (const websocket of open) websocket.end();
  of.records(8);
  await of.rest();
  const [, ...batches] = of.batches;
  assert.deepEqual(
    batches.map(({ records, websockets = [] }) => [records.length, websockets.length]),
    [
      [3, 10],
      [3, 2],
      [2, 0],
    ],
  );
});

test('record queue: an update goes also beside a record that fills a batch by itself', async (t) => {
  const of = new Fixture(t, { maxBytes: 500 });
  const websocket = of.websocket('ws');
  await of.rest();
  websocket.end();
  of.records(2);
  await of.rest();
  assert.deepEqual(of.shown(), ['ws', 'r0 +ws', 'r1']);
});
