import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectedPair } from '../../../mux/testing.ts';
import { encodePreamble } from '../../../wire/preamble.ts';
import { type ServedTunnel, TunnelMeter } from '../../routing/entry.ts';
import { AddressLoad } from '../../entrance/admission.ts';
import { PathRoutes } from '../path-routes/path-routes.ts';
import {
  acquire,
  dropKept,
  dropStale,
  hasItsShare,
  IDLE_MS,
  type OwnStreams,
  REST_MS,
  type Upstream,
  type UpstreamUser,
} from './upstream.ts';

const user: UpstreamUser = {
  onResponse: () => {},
  onResponseEnd: () => {},
  onUpstreamLost: () => {},
  onUpstreamDrain: () => {},
};

function served(maxStreams: number, isAlone = true): ServedTunnel {
  const pair = connectedPair({ client: { maxStreams }, accept: () => {} });
  pair.client.hearsClear = true;
  return alone({
    session: pair.client,
    agentId: 'a',
    tokenId: 't',
    payer: { tokenId: 't', exhausted: false, charge: () => {} },
    meter: new TunnelMeter(),
    inFlight: 0,
    slot: 1,
    preamble: encodePreamble(1),
    idle: [],
    resting: new Set(),
    draining: false,
    cut: false,
    isAlone,
    watched: false,
    narrowing: null,
    inspected: true,
    rewrite: null,
    idleMs: IDLE_MS,
    note: () => {},
    forgive: () => {},
  });
}

function alone(of: Omit<ServedTunnel, 'routes' | 'tunnel' | 'services'>): ServedTunnel {
  const services: ServedTunnel[] = [];
  const whole = Object.assign(of, { routes: null, services, tunnel: of as ServedTunnel });
  services.push(whole);
  return whole;
}

/** `own`: of the visitor's connection; its first request unless given. */
function take(tunnel: ServedTunnel, nowMs: number, repeatable = true, own: OwnStreams = []): Upstream {
  const upstream = acquire(tunnel, nowMs, repeatable, own);
  assert.ok(upstream);
  upstream.carry(user);
  upstream.stream.isClear = true;
  return upstream;
}

test('a stream that waits makes room for a request when the session is full', () => {
  const tunnel = served(4);
  const all = [0, 0, 0].map((nowMs) => take(tunnel, nowMs));
  for (const upstream of all) upstream.release(true, 0);
  assert.equal(tunnel.resting.size, 3);
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
  assert.equal(tunnel.resting.size, 3);
  assert.equal(acquire(served(0), 0, true, []), null);
});

test('a tunnel has three quarters of a session that it shares, and all of one that it has alone', () => {
  const shared = served(8, false);
  const taken = Array.from({ length: 6 }, () => take(shared, 0));
  assert.equal(acquire(shared, 0, true, []), null);
  assert.equal(hasItsShare(shared), true);
  for (const one of taken) one.release(true, 0);
  assert.equal(shared.inFlight, 0);
  const again = Array.from({ length: 6 }, (_, i) => take(shared, REST_MS, i % 2 === 0));
  assert.ok(
    again.every((one) => one.reused),
    'those that are kept count once',
  );
  assert.equal(acquire(shared, 0, false, []), null);
  const alone = served(8);
  for (let i = 0; i < 8; i++) take(alone, 0);
  assert.equal(acquire(alone, 0, true, []), null);
});

test('an address is charged for what its requests hold, and for nothing else', () => {
  const tunnel = served(8);
  const [one, other] = [new AddressLoad(), new AddressLoad()];
  const own: OwnStreams = [];
  const upstream = acquire(tunnel, 0, true, own) as Upstream;
  upstream.load = one;
  upstream.carry(user);
  assert.equal(one.requests, 1);
  upstream.stream.isClear = true;
  upstream.release(true, 0);
  const next = acquire(tunnel, 0, true, own) as Upstream;
  assert.equal(next, upstream);
  next.load = other;
  next.carry(user);
  assert.deepEqual([one.requests, other.requests], [0, 1]);
  next.release(false, 0);
  assert.deepEqual([one.requests, other.requests], [0, 0]);
});

test('a stream waits for the word that nothing is behind its response, and serves another request only then', () => {
  const tunnel = served(8);
  const own: OwnStreams = [];
  const upstream = take(tunnel, 0, true, own);
  upstream.stream.isClear = false;
  upstream.release(true, 0);
  assert.notEqual(take(tunnel, 0, true, own), upstream);
  assert.notEqual(take(tunnel, REST_MS), upstream);
  upstream.stream.clearArrived();
  assert.equal(take(tunnel, 0, true, own), upstream, 'its connection gets it as soon as it is clear');
  upstream.release(true, 0);
  assert.equal(take(tunnel, REST_MS), upstream);
});

test('a stream rests before it serves another connection, and goes on at once for its own', () => {
  const tunnel = served(8);
  const [own, other]: OwnStreams[] = [[], []];
  const upstream = take(tunnel, 0, true, own);
  upstream.release(true, 0);
  const another = take(tunnel, REST_MS - 1, true, other);
  assert.notEqual(another, upstream);
  assert.equal(take(tunnel, REST_MS - 1, true, own), upstream);
  upstream.release(true, 1_000);
  another.release(true, 1_000);
  assert.equal(take(tunnel, 1_000 + REST_MS, true, other), another, 'it has rested, and is the latest');
  assert.equal(take(tunnel, 1_000 + REST_MS, true, other), upstream, 'what has rested is for every connection');
  assert.notEqual(take(tunnel, 1_000 + REST_MS, true, own), upstream, 'it has gone to another');
  assert.deepEqual([own, other], [[], []]);
});

test('a connection that asks for two tunnels by turns keeps a stream of each', () => {
  const tunnels = [served(8), served(8)];
  const own: OwnStreams = [];
  const first = tunnels.map((tunnel) => take(tunnel, 0, true, own));
  for (let round = 0; round < 4; round++) {
    for (const upstream of first) upstream.release(true, round);
    assert.equal(own.length, 2);
    assert.deepEqual(
      tunnels.map((tunnel) => take(tunnel, round, true, own)),
      first,
    );
  }
});

test('what a connection remembers of its streams does not grow', () => {
  const tunnel = served(64);
  const own: OwnStreams = [];
  for (let nowMs = 0; nowMs < 100 * REST_MS; nowMs += REST_MS) {
    const taken = Array.from({ length: 5 }, () => take(tunnel, nowMs, true, own));
    for (const upstream of taken) upstream.release(true, nowMs);
    // Others take some of them meanwhile.
    take(tunnel, nowMs + REST_MS - 1).release(true, nowMs + REST_MS - 1);
    assert.ok(own.length <= 5, `${own.length}`);
  }
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
  assert.equal(tunnel.resting.size, 0);
});

test('an agent that never says it has each stream used once', () => {
  const tunnel = served(8);
  tunnel.session.hearsClear = false;
  const upstream = take(tunnel, 0);
  upstream.release(true, 0);
  assert.ok(upstream.stream.gone);
  assert.deepEqual([tunnel.idle.length, tunnel.resting.size], [0, 0]);
});

test('a full session makes room for one route from the idle streams of another', () => {
  const tunnel = served(4);
  const { services } = new PathRoutes([{ path: '/api' }, { path: '/' }], tunnel);
  Object.assign(tunnel, { services });
  const [api, root] = services;
  assert.ok(api !== undefined && root !== undefined);
  const kept = [take(api, 0), take(api, 0), take(api, 0)];
  for (const upstream of kept) upstream.release(true, 0);
  assert.equal(api.resting.size, 3);
  for (let i = 0; i < 2; i++) assert.equal(take(root, 10).served, root);
  assert.equal(api.resting.size + api.idle.length, 2);
  assert.equal(kept.filter(({ stream }) => stream.gone).length, 1);
  dropKept(tunnel);
  assert.equal(api.resting.size, 0);
});
