/** An agent with several services behind one tunnel: what it claims, which service a stream gets, and what it says of each. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FakeFixture, fakeFixture, tunnelSpec } from '../fixtures/fake-channel.ts';
import type { TunnelSpec } from '../tunnel.ts';
import { parseTarget } from './target.ts';
import { targetText } from './route-spec.ts';

const service = (path: string, port: string) => ({ path, target: parseTarget(port, 'http').target });
const routed = (): TunnelSpec => ({ ...tunnelSpec('web'), routes: [service('/api', '8080'), service('/', '3000')] });

async function online(spec: TunnelSpec): Promise<FakeFixture> {
  const fixture = await fakeFixture({ tunnels: [spec] });
  fixture.latest().welcome({ features: ['upstream', 'routes'] });
  fixture.latest().bindAll();
  return fixture;
}

test('routes: the claim has their paths, and no address of a service', async () => {
  const upstream = { host: 'api.local' };
  const spec = routed();
  const routes = (spec.routes ?? []).map((route) => (route.path === '/' ? route : { ...route, upstream }));
  const { events, latest } = await online({ ...spec, routes });
  const [claim] = latest().claims;
  assert.deepEqual(claim?.routes, [{ path: '/api', upstream }, { path: '/' }]);
  assert.equal(claim?.target, '/api → localhost:8080, / → localhost:3000');
  const tunnel = events.find((event) => event.kind === 'tunnel_online')?.tunnel;
  assert.deepEqual(tunnel?.routes, [
    { path: '/api', target: 'localhost:8080' },
    { path: '/', target: 'localhost:3000' },
  ]);
});

test('routes: a stream gets the service that its preamble names, and no other', async () => {
  const { sink } = (await online(routed())).latest();
  const ports = [0, 1, 2, undefined].map((route) => sink.targetOf(1, route)?.port);
  assert.deepEqual(ports, [8_080, 3_000, undefined, undefined]);
  const plain = (await online(tunnelSpec('web'))).latest().sink;
  assert.deepEqual([plain.targetOf(1)?.port, plain.targetOf(1, 0)], [3_000, undefined]);
});

test('routes: an older server is never sent such a claim', async () => {
  const fixture = await fakeFixture({ tunnels: [routed(), tunnelSpec('plain')] });
  fixture.latest().welcome({ features: ['upstream', 'advice'] });
  assert.deepEqual(
    fixture.latest().claims.map(({ routes }) => routes),
    [undefined],
  );
  fixture.latest().bindAll();
  await fixture.time.advance(0);
  const refused = fixture.events.find((event) => event.kind === 'tunnel_refused');
  assert.deepEqual([refused?.tunnel.name, refused?.final], ['web', true]);
  assert.match(refused?.message ?? '', /\(version 1\) is too old for routes\. Upgrade the server/);
});

test('routes: each service that is away is named by its path, until all are back', async () => {
  const spec = routed();
  const { events, latest } = await online(spec);
  const [api, root] = (spec.routes ?? []).map(({ target }) => target);
  assert.ok(api !== undefined && root !== undefined);
  const { sink } = latest();
  sink.onTarget(api, 'refused');
  sink.onTarget(root, 'too slow');
  sink.onTarget(api, undefined);
  sink.onTarget(root, undefined);
  assert.deepEqual(
    events.flatMap((event) => (event.kind === 'target' ? [event.tunnel.fault] : [])),
    ['/api: refused', '/api: refused; /: too slow', '/: too slow', undefined],
  );
});

test('routes: what many of them say to the server stays within the limit of a text', () => {
  const routes = Array.from({ length: 32 }, (_, at) => service(`/${'a'.repeat(200)}${at}`, '3000'));
  assert.equal(targetText({ ...tunnelSpec('web'), routes }).length, 1_000);
});
