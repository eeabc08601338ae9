/** What waits for a stream that has no room: bounded, oldest dropped, and what is left comes out whole and in order. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_DATAGRAM_BYTES } from './relay-packets.ts';
import { readRecords } from './relay-records.ts';
import { RelayRing, RING_BYTES, RING_DATAGRAMS } from './relay-ring.ts';

const push = (ring: RelayRing, flow: number, length: number): void => {
  const bytes = Buffer.alloc(length + 3, flow);
  ring.push(flow, bytes, 3, bytes.length);
};

/** Takes up to `writes` writes; the flows that came, each checked to be all its own bytes, and the longest write. */
function drained(ring: RelayRing, writes = Infinity): { readonly flows: number[]; readonly longest: number } {
  const flows: number[] = [];
  let [left, longest] = [writes, 0];
  ring.drain((bytes, start, end) => {
    longest = Math.max(longest, end - start);
    const whole = readRecords(bytes, start, end, (flow, all, from, to) => {
      assert.ok(all.subarray(from, to).every((byte) => byte === (flow & 0xff)));
      flows.push(flow);
    });
    assert.ok(whole);
    return --left > 0;
  });
  return { flows, longest };
}

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);

test('what is pushed comes out in order, in few writes that end between records', () => {
  const ring = new RelayRing();
  for (const flow of range(0, 100)) push(ring, flow, 1_000);
  const { flows, longest } = drained(ring);
  assert.deepEqual(flows, range(0, 100));
  assert.ok(longest > 10_000 && longest <= 16_384, `${longest} bytes`);
  assert.equal(ring.size, 0);
  assert.equal(ring.dropped, 0);
});

test('over 256 datagrams the oldest go, and are counted', () => {
  const ring = new RelayRing();
  for (const flow of range(0, 300)) push(ring, flow, flow % 3);
  assert.equal(ring.size, RING_DATAGRAMS);
  assert.equal(ring.dropped, 44);
  assert.deepEqual(drained(ring).flows, range(44, 300));
});

test('it is half full by datagrams or by bytes, wherever in the buffer they are', () => {
  const ring = new RelayRing();
  for (let round = 0; round < 5; round++) {
    for (const flow of range(0, RING_DATAGRAMS / 2)) {
      assert.equal(ring.isHalfFull, false);
      push(ring, flow, 1_000);
    }
    assert.equal(ring.isHalfFull, true);
    drained(ring, 4);
    assert.equal(ring.isHalfFull, false);
    for (const flow of range(0, 3)) push(ring, flow, 60_000);
    assert.equal(ring.isHalfFull, true);
    drained(ring, 6);
    drained(ring);
    assert.equal(ring.isHalfFull, false);
  }
});

test('over 384 KB the oldest go until the newest has room', () => {
  const ring = new RelayRing();
  for (const flow of range(0, 7)) push(ring, flow, MAX_DATAGRAM_BYTES);
  assert.equal(ring.dropped, 1);
  assert.ok(ring.size * MAX_DATAGRAM_BYTES <= RING_BYTES);
  assert.deepEqual(drained(ring).flows, range(1, 7));
});

test('a stream that takes a little each time gets the newest, whatever the lengths: nothing is mixed, nothing comes twice', () => {
  const ring = new RelayRing();
  let seed = 7;
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
  const seen: number[] = [];
  for (const flow of range(0, 20_000)) {
    push(ring, flow, random(10) === 0 ? random(MAX_DATAGRAM_BYTES + 1) : random(1_500));
    if (random(40) === 0) seen.push(...drained(ring, 1 + random(4)).flows);
  }
  seen.push(...drained(ring).flows);
  assert.equal(seen.length + ring.dropped, 20_000);
  assert.ok(seen.length > 1_000 && ring.dropped > 1_000);
  assert.deepEqual(
    seen,
    [...new Set(seen)].sort((a, b) => a - b),
  );
  assert.equal(seen.at(-1), 19_999);
});

test('a ring that was cleared holds nothing, has counted what it held, and may be used again', () => {
  const ring = new RelayRing();
  push(ring, 1, 10);
  push(ring, 1, 10);
  ring.clear();
  assert.deepEqual([ring.size, ring.dropped], [0, 2]);
  assert.deepEqual(drained(ring).flows, []);
  push(ring, 2, 10);
  assert.deepEqual(drained(ring).flows, [2]);
});
