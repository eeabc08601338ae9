/** `culvert tunnels latency`: of a tunnel, of the organization, and as JSON. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { start } from '../fixtures/in-process.ts';
import { loggedInAt, playServer, refreshWith } from '../fixtures/played-server.ts';
import { TUNNEL_ITEM } from '../fixtures/tunnel-item.ts';

const NONE = { p50_ms: null, p95_ms: null, p99_ms: null };
const SUMMARY = {
  count: 1_204,
  first_byte: { p50_ms: 2.44, p95_ms: 48.5, p99_ms: 1_215 },
  total: NONE,
  status: { '2xx': 1_202, '5xx': 2 },
  bytes_in: 1,
  bytes_out: 2,
  connections: 3,
};

test('tunnels latency: percentiles and classes of a tunnel', async (t) => {
  const server = await playServer(t);
  const { home } = loggedInAt(t, server.url);
  const program = start(t, ['tunnels', 'latency', 'shop', '--range', '24h', '--server', server.url], { home });
  refreshWith(await server.next(), 'cookie-1');
  (await server.next()).answer(200, [TUNNEL_ITEM]);
  const asked = await server.next();
  assert.equal(asked.what, 'GET /tunnels/t1/latency?range=24h');
  asked.answer(200, { summary: SUMMARY, buckets: [] });
  assert.equal(await program.exit, 0, program.stderr);
  assert.deepEqual(
    program.stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.trimEnd().split(/ {2,}/)),
    [
      ['LAST 24H', 'P50', 'P95', 'P99'],
      ['first byte', '2.4 ms', '49 ms', '1.22 s'],
      ['whole response', '-', '-', '-'],
      ['1204 requests, 1202 2xx, 2 5xx; 3 connections'],
    ],
  );
});

test('tunnels latency: without a tunnel, of the active organization, as JSON', async (t) => {
  const server = await playServer(t);
  const { home } = loggedInAt(t, server.url);
  const program = start(t, ['tunnels', 'latency', '--json', '--server', server.url], { home });
  refreshWith(await server.next(), 'cookie-1');
  (await server.next()).answer(200, { active_org: { id: 'o1' } });
  const asked = await server.next();
  assert.equal(asked.what, 'GET /orgs/o1/latency?range=1h');
  asked.answer(200, { summary: { ...SUMMARY, connections: 0 }, buckets: [] });
  assert.equal(await program.exit, 0, program.stderr);
  assert.deepEqual(JSON.parse(program.stdout), { summary: { ...SUMMARY, connections: 0 }, buckets: [] });
});
