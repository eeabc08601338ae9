/** Updates of WebSockets in the store of records. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { RecordedFrame, WebSocketUpdate } from '../../../../plane/inspection.ts';
import { openUsageFile } from '../../open.ts';
import { ANN, batch, BEN, openStore, recorded, SHOP, usageFolder } from '../testing.ts';
import { USAGE_FILE } from '../usage-file.ts';

const FRAME: RecordedFrame = {
  ...{ from: 'visitor', atMs: 1, opcode: 1, fragments: 1, size: 5, isCompressed: false, isTruncated: false },
  bytes: Buffer.from('hello'),
};
const FACTS = {
  ...{ isOpen: true, durationMs: 10, bytesIn: 11, bytesOut: 7, framesIn: 2, framesOut: 1, isFramed: true },
  ...{ closedBy: null, closeCode: null, framesLeftOut: 0 },
} as const;

function update(id: string, over: Partial<WebSocketUpdate> = {}): WebSocketUpdate {
  return { id, tunnelId: SHOP, orgId: ANN, ...FACTS, frames: null, ...over };
}

const told = (...websockets: readonly WebSocketUpdate[]) => ({ records: [], unrecorded: [], websockets });

test('WebSocket: the last update counts, and frames stay until there are others', async (t) => {
  const store = openStore(t);
  const record = recorded({ status: 101 });
  const other = recorded({ status: 101 });
  await store.store(batch(record, other));
  assert.equal((await store.find(ANN, record.id))?.websocket, undefined);
  await store.store(told(update(record.id, { frames: [FRAME, { ...FRAME, bytes: Buffer.from('you') }] })));
  await store.store(told(update(record.id, { isOpen: false, durationMs: 20, closedBy: 'service', closeCode: 1000 })));
  await store.store(told(update(record.id, { orgId: BEN, durationMs: 99 }), update('no id', {})));
  const { frames, ...facts } = (await store.find(ANN, record.id))?.websocket ?? {};
  const end = { ...FACTS, isOpen: false, durationMs: 20, closedBy: 'service', closeCode: 1000 };
  assert.deepEqual(facts, end);
  assert.deepEqual(
    frames?.map(({ bytes }) => Buffer.from(bytes).toString()),
    ['hello', 'you'],
  );
  const { items } = await store.list(ANN, { limit: 10 });
  assert.deepEqual(items.find(({ id }) => id === record.id)?.websocket, end);
  assert.equal(items.find(({ id }) => id === other.id)?.websocket, undefined);
});

test('WebSocket: what is known of it weighs with its record, and goes with it', async (t) => {
  const dataDir = usageFolder(t);
  const store = openStore(t, { dataDir });
  const record = recorded({ status: 101 });
  await store.store(batch(record));
  const file = openUsageFile(join(dataDir, USAGE_FILE));
  t.after(() => file.close());
  const weights = (): unknown =>
    file.prepare('SELECT o.bytes AS o, r.bytes AS r FROM organizations o JOIN records r ON r.org = o.n').get();
  const { o: before } = weights() as { o: number };
  for (const size of [10_000, 60_000]) {
    await store.store(told(update(record.id, { frames: [{ ...FRAME, bytes: Buffer.alloc(size) }] })));
    const { o, r } = weights() as { o: number; r: number };
    assert.equal(o, r);
    assert.ok(o - before > size && o - before < size + 1_000, `${o - before}`);
  }
  await store.sweep([{ orgId: ANN, since: Date.now() + 60_000 }]);
  assert.deepEqual(file.prepare('SELECT count(*) AS n FROM websockets').get(), { n: 0 });
  assert.deepEqual(file.prepare('SELECT bytes FROM organizations').get(), { bytes: 0 });
});

test('WebSocket: a file that was made before them takes them, and keeps its records', async (t) => {
  const dataDir = usageFolder(t);
  const record = recorded({ status: 101 });
  const first = openStore(t, { dataDir });
  await first.store(batch(record));
  await first.close();
  const file = openUsageFile(join(dataDir, USAGE_FILE));
  file.exec('DROP TRIGGER websockets_gone; DROP TABLE websockets');
  file.close();
  const store = openStore(t, { dataDir });
  await store.store(told(update(record.id, { frames: [FRAME] })));
  assert.equal((await store.find(ANN, record.id))?.websocket?.frames?.length, 1);
});
