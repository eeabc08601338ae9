/** What leaves in one packet, and when: at the end of the turn at the latest, in order, never longer than every path carries. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TurnEnd } from '../base/process/turn.ts';
import { RelayBatch } from './relay-batch.ts';
import {
  BATCH_BYTES,
  DATA_HEAD_BYTES,
  hasRelayToken,
  MAX_DATAGRAM_BYTES,
  RELAY_HEAD_BYTES,
  RELAY_KIND,
} from './relay-packets.ts';
import { readFlow, readRecords } from './relay-records.ts';

const TOKEN = Buffer.from('0a1b2c3d4e5f60', 'hex');

interface Packet {
  readonly kind: 'data' | 'batch';
  readonly bytes: number;
  readonly datagrams: ReadonlyArray<readonly [number, string]>;
}

/** A batch, and what it sent as the other side reads it. */
function batching(): { readonly batch: RelayBatch; readonly packets: Packet[]; full: boolean } {
  const packets: Packet[] = [];
  const state = { full: false };
  const send = (bytes: Buffer, start: number, end: number): boolean => {
    if (state.full) return false;
    const packet = Buffer.from(bytes.subarray(start, end));
    assert.ok(hasRelayToken(packet, TOKEN));
    const datagrams: Array<readonly [number, string]> = [];
    if (packet[0] === RELAY_KIND.data) {
      datagrams.push([readFlow(packet, RELAY_HEAD_BYTES), packet.toString('latin1', DATA_HEAD_BYTES)]);
    } else {
      assert.equal(packet[0], RELAY_KIND.batch);
      const taken = readRecords(packet, RELAY_HEAD_BYTES, packet.length, (flow, all, from, to) => {
        datagrams.push([flow, all.toString('latin1', from, to)]);
      });
      assert.ok(taken);
    }
    packets.push({ kind: packet[0] === RELAY_KIND.data ? 'data' : 'batch', bytes: packet.length, datagrams });
    return true;
  };
  return Object.assign(state, { batch: new RelayBatch({ token: TOKEN, turn: new TurnEnd(), send }), packets });
}

const add = (batch: RelayBatch, flow: number, text: string): void => {
  const bytes = Buffer.from(`##${text}`, 'latin1');
  batch.add(flow, bytes, 2, bytes.length);
  // The reader's buffer is used again.
  bytes.fill(0xee);
};

const turnEnd = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('small datagrams of one turn leave together at its end, and the next turn begins anew', async () => {
  const { batch, packets } = batching();
  add(batch, 1, 'one');
  add(batch, 0xffff_ffff, '');
  add(batch, 3, 'three');
  assert.deepEqual(packets, []);
  await turnEnd();
  add(batch, 4, 'four');
  await turnEnd();
  add(batch, 5, 'five');
  add(batch, 6, 'six');
  await turnEnd();
  assert.deepEqual(
    packets.map(({ kind, datagrams }) => [kind, ...datagrams]),
    [
      ['batch', [1, 'one'], [0xffff_ffff, ''], [3, 'three']],
      ['data', [4, 'four']],
      ['batch', [5, 'five'], [6, 'six']],
    ],
  );
});

test('no batch is longer than every path carries; what fits no batch leaves alone, behind what came before it', async () => {
  const { batch, packets } = batching();
  const sent: string[] = [];
  for (let length = 0; length < 1_500; length += 13) {
    sent.push('x'.repeat(length));
    add(batch, length, 'x'.repeat(length));
  }
  for (const length of [MAX_DATAGRAM_BYTES, 1, 20_000, 2]) {
    sent.push('y'.repeat(length));
    add(batch, length, 'y'.repeat(length));
  }
  await turnEnd();
  assert.deepEqual(
    packets.flatMap(({ datagrams }) => datagrams),
    sent.map((text) => [text.length, text]),
  );
  for (const { kind, bytes, datagrams } of packets) {
    assert.equal(kind, datagrams.length > 1 ? 'batch' : 'data');
    if (datagrams.length > 1) assert.ok(bytes <= BATCH_BYTES, `${bytes} bytes`);
  }
  assert.ok(packets.length < sent.length);
});

test('a datagram that fills a batch to the last byte goes as one packet', async () => {
  const { batch, packets } = batching();
  add(batch, 1, 'z'.repeat(BATCH_BYTES - RELAY_HEAD_BYTES - 6));
  assert.equal(batch.waiting, 1);
  await turnEnd();
  add(batch, 2, 'z'.repeat(BATCH_BYTES - RELAY_HEAD_BYTES - 5));
  assert.equal(batch.waiting, 0);
  assert.deepEqual(
    packets.map(({ kind, bytes }) => [kind, bytes]),
    [
      ['data', BATCH_BYTES - 2],
      ['data', BATCH_BYTES - 1],
    ],
  );
});

test('what could not be sent is counted, and the next packet goes', async () => {
  const batching_ = batching();
  const { batch, packets } = batching_;
  batching_.full = true;
  add(batch, 1, 'lost');
  add(batch, 1, 'lost');
  await turnEnd();
  add(batch, 1, 'l'.repeat(5_000));
  assert.equal(batch.lost, 3);
  batching_.full = false;
  add(batch, 1, 'sent');
  await turnEnd();
  assert.equal(packets.length, 1);
  assert.equal(batch.lost, 3);
});
