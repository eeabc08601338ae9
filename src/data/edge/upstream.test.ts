import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectedPair } from '../../mux/testing.ts';
import { encodePreamble } from '../../wire/preamble.ts';
import { type ServedTunnel, TunnelMeter } from '../routing/entry.ts';
import { AddressLoad } from './admission.ts';
import { acquire, dropStale, hasItsShare, type Upstream, type UpstreamUser } from './upstream.ts';

const user: UpstreamUser = {
  onResponse: () => {},
  onResponseEnd: () => {},
  onUpstreamLost: () => {},
  onUpstreamDrain: () => {},
};

function served(maxStreams: number, isAlone = true): ServedTunnel {
  const pair = connectedPair({ client: { maxStreams }, accept: () => {} });
  pair.client.hearsClear = true;
  return {
    session: pair.client,
    agentId: 'a',
    tokenId: 't',
    payer: { tokenId: 't', exhausted: false, charge: () => {} },
    meter: new TunnelMeter(),
    inFlight: 0,
    slot: 1,
    preamble: encodePreamble(1),
    idle: [],
    settling: new Set(),
    draining: false,
    cut: false,
    isAlone,
    watched: false,
    inspected: true,
    note: () => {},
    forgive: () => {},
  };
}

function take(tunnel: ServedTunnel, nowMs: number, repeatable = true): Upstream {
  const upstream = acquire(tunnel, nowMs, repeatable);
  assert.ok(upstream);
  upstream.carry(user);
  upstream.stream.isClear = true;
  return upstream;
}

test('a stream that waits makes room for a request when the session is full', () => {
  const tunnel = served(4);
  const all = [0, 0, 0].map((nowMs) => take(tunnel, nowMs));
  for (const upstream of all) upstream.release(true, 0);
  assert.equal(tunnel.idle.length, 3);
  // Two seconds later none is fresh enough for a request that must not be repeated; the fourth stream and then the oldest serve it.
  take(tunnel, 2_000, false);
  take(tunnel, 2_000, false);
  assert.equal(tunnel.idle.length, 2);
  assert.equal(tunnel.session.streamCount, 4);
  assert.equal(tunnel.inFlight, 2);
});

test('a crowded session keeps no streams in reserve', () => {
  const tunnel = served(4);
  const all = [0, 0, 0, 0].map((nowMs) => take(tunnel, nowMs));
  for (const upstream of all) upstream.release(true, 0);
  assert.equal(tunnel.idle.length, 3);
  assert.equal(acquire(served(0), 0, true), null);
});

test('a tunnel has three quarters of a session that it shares, and all of one that it has alone', () => {
  const shared = served(8, false);
  const taken = Array.from({ length: 6 }, () => take(shared, 0));
  assert.equal(acquire(shared, 0, true), null);
  assert.equal(hasItsShare(shared), true);
  for (const one of taken) one.release(true, 0);
  assert.equal(shared.inFlight, 0);
  const again = Array.from({ length: 6 }, (_, i) => take(shared, 0, i % 2 === 0));
  assert.ok(
    again.every((one) => one.reused),
    'those that are kept count once',
  );
  assert.equal(acquire(shared, 0, false), null);
  const alone = served(8);
  for (let i = 0; i < 8; i++) take(alone, 0);
  assert.equal(acquire(alone, 0, true), null);
});

test('an address is charged for what its requests hold, and for nothing else', () => {
  const tunnel = served(8);
  const [one, other] = [new AddressLoad(), new AddressLoad()];
  const upstream = acquire(tunnel, 0, true) as Upstream;
  upstream.load = one;
  upstream.carry(user);
  assert.equal(one.requests, 1);
  upstream.stream.isClear = true;
  upstream.release(true, 0);
  const next = acquire(tunnel, 0, true) as Upstream;
  assert.equal(next, upstream);
  next.load = other;
  next.carry(user);
  assert.deepEqual([one.requests, other.requests], [0, 1]);
  next.release(false, 0);
  assert.deepEqual([one.requests, other.requests], [0, 0]);
});

test('a stream waits for the word that nothing is behind its response, and is kept only then', () => {
  const tunnel = served(8);
  const upstream = take(tunnel, 0);
  upstream.stream.isClear = false;
  upstream.release(true, 0);
  assert.deepEqual([tunnel.idle.length, tunnel.settling.size], [0, 1]);
  assert.notEqual(acquire(tunnel, 0, true), upstream);
  upstream.stream.clearArrived();
  assert.deepEqual([tunnel.idle.length, tunnel.settling.size], [1, 0]);
  assert.equal(acquire(tunnel, 0, true), upstream);
});

test('bytes instead of that word, or none of it for five seconds, end the stream', () => {
  const tunnel = served(8);
  const [first, second] = [take(tunnel, 0), take(tunnel, 0)];
  for (const upstream of [first, second]) {
    upstream.stream.isClear = false;
    upstream.release(true, 0);
  }
  first.onData(first.stream, Buffer.from([0, 0, 120]), 0, 3);
  assert.ok(first.stream.gone);
  dropStale(tunnel, 4_999);
  assert.ok(!second.stream.gone);
  dropStale(tunnel, 5_000);
  assert.ok(second.stream.gone);
  assert.equal(tunnel.settling.size, 0);
});

test('an agent that never says it has each stream used once', () => {
  const tunnel = served(8);
  tunnel.session.hearsClear = false;
  const upstream = take(tunnel, 0);
  upstream.release(true, 0);
  assert.ok(upstream.stream.gone);
  assert.deepEqual([tunnel.idle.length, tunnel.settling.size], [0, 0]);
});
