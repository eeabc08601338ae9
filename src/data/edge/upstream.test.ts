import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectedPair } from '../../mux/testing.ts';
import { encodePreamble } from '../../wire/preamble.ts';
import { type ServedTunnel, TunnelMeter } from '../routing/entry.ts';
import { acquire, type Upstream, type UpstreamUser } from './upstream.ts';

const user: UpstreamUser = {
  onResponse: () => {},
  onResponseEnd: () => {},
  onUpstreamLost: () => {},
  onUpstreamDrain: () => {},
};

function served(maxStreams: number): ServedTunnel {
  const pair = connectedPair({ client: { maxStreams }, accept: () => {} });
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
    draining: false,
    cut: false,
    watched: false,
    note: () => {},
  };
}

function take(tunnel: ServedTunnel, nowMs: number, repeatable = true): Upstream {
  const upstream = acquire(tunnel, nowMs, repeatable);
  assert.ok(upstream);
  upstream.carry(user);
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
