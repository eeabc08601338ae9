import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RelayRoute } from '../../plane/relays.ts';
import type { Route } from '../../plane/routes.ts';
import { RouteTable } from './table.ts';

function route(tunnelId: string, over: Partial<Route> = {}): Route {
  return {
    tunnelId,
    orgId: 'org',
    protocol: 'http',
    subdomain: tunnelId,
    tcpPort: null,
    publicUrl: `http://${tunnelId}.example.test`,
    stopped: false,
    expiresAt: null,
    maintenance: null,
    domains: [],
    policy: null,
    gate: null,
    visitorGate: null,
    ...over,
  };
}

function tableOf(...routes: Route[]): RouteTable {
  const table = new RouteTable('Example.test');
  assert.equal(table.load({ version: 10, routes, accessKeys: [], visitorKey: '', relays: [] }), true);
  return table;
}

test('finds by host whatever its case, by port and by id', () => {
  const table = tableOf(route('shop'), route('db', { subdomain: '', protocol: 'tcp', tcpPort: 20_001 }));
  const shop = table.findById('shop');
  assert.ok(shop);
  assert.equal(table.findByHost('shop.example.test'), shop);
  assert.equal(table.findByHost('SHOP.Example.TEST.'), shop);
  assert.equal(table.findByHost('shop'), undefined);
  assert.equal(table.findByHost('.example.test'), undefined);
  assert.equal(table.findByHost('shop.example.test..'), undefined);
  assert.equal(table.findByPort(20_001)?.route.tunnelId, 'db');
  assert.equal(table.findByPort(20_002), undefined);
});

test('finds by a custom domain for as long as the route has it', () => {
  const table = tableOf(route('a', { domains: ['shop.example.net', 'example.net'] }), route('b'));
  const [a, b] = [table.findById('a'), table.findById('b')];
  assert.equal(table.findByHost('Shop.Example.NET.'), a);
  assert.equal(table.findByHost('example.net'), a);
  assert.equal(table.findByHost('other.example.net'), undefined);
  table.apply({ version: 11, kind: 'put', route: route('a', { domains: ['example.net'] }) });
  assert.equal(table.findByHost('shop.example.net'), undefined);
  table.apply({ version: 12, kind: 'put', route: route('b', { domains: ['example.net'] }) });
  assert.equal(table.findByHost('example.net'), b, 'it moved');
  table.apply({ version: 13, kind: 'put', route: route('a') });
  assert.equal(table.findByHost('example.net'), b);
  table.apply({ version: 14, kind: 'remove', tunnelId: 'b', code: 'tunnel_deleted', message: '' });
  assert.equal(table.findByHost('example.net'), undefined);
});

test("a custom domain under the edge's own takes no label", () => {
  const domains = ['b.example.test', 'free.example.test'];
  for (const routes of [
    [route('a', { domains }), route('b')],
    [route('b'), route('a', { domains })],
  ]) {
    const table = tableOf(...routes);
    assert.equal(table.findByHost('b.example.test'), table.findById('b'));
    assert.equal(table.findByHost('free.example.test'), undefined);
  }
});

test('an entry outlives a change of its route and moves with its name', () => {
  const table = tableOf(route('a'));
  const entry = table.findById('a');
  assert.ok(entry);
  const before = table.version;
  assert.equal(
    table.apply({ version: 11, kind: 'put', route: route('a', { subdomain: 'b', maintenance: 'later' }) }),
    true,
  );
  assert.ok(table.version > before);
  assert.equal(table.findByHost('b.example.test'), entry);
  assert.equal(table.findByHost('a.example.test'), undefined);
  assert.equal(entry.route.maintenance, 'later');
});

test('a removed entry is marked, gone, and told of with its code', () => {
  const table = tableOf(route('a'));
  const entry = table.findById('a');
  const told: string[] = [];
  table.subscribe({ onRemove: (removed, code, message) => told.push(`${removed.route.tunnelId} ${code} ${message}`) });
  table.apply({ version: 11, kind: 'remove', tunnelId: 'a', code: 'tunnel_expired', message: 'over' });
  assert.equal(entry?.removed, true);
  assert.equal(table.findByHost('a.example.test'), undefined);
  assert.deepEqual(told, ['a tunnel_expired over']);
});

test('a name that another tunnel took stays with it when the first goes', () => {
  const table = tableOf(route('old', { subdomain: 'shop' }));
  table.apply({ version: 11, kind: 'put', route: route('new', { subdomain: 'shop' }) });
  table.apply({ version: 12, kind: 'remove', tunnelId: 'old', code: 'tunnel_deleted', message: '' });
  assert.equal(table.findByHost('shop.example.test')?.route.tunnelId, 'new');
});

test('a delta that was seen is ignored and a gap stops everything until a snapshot', () => {
  const table = tableOf(route('a'));
  assert.equal(table.apply({ version: 9, kind: 'remove', tunnelId: 'a', code: 'tunnel_deleted', message: '' }), true);
  assert.ok(table.findById('a'));
  assert.equal(table.apply({ version: 12, kind: 'put', route: route('b') }), false);
  assert.equal(table.needsSnapshot, true);
  assert.equal(table.apply({ version: 11, kind: 'put', route: route('c') }), false, 'in order again, but behind a gap');
  assert.equal(table.findById('c'), undefined);
  assert.equal(table.load({ version: 12, routes: [route('b')], accessKeys: [], visitorKey: '', relays: [] }), true);
  assert.equal(table.needsSnapshot, false);
  assert.equal(table.findById('a'), undefined);
  assert.ok(table.findById('b'));
});

test('an older snapshot never overwrites a newer table', () => {
  const table = tableOf(route('a'));
  table.apply({ version: 11, kind: 'put', route: route('b') });
  assert.equal(table.load({ version: 10, routes: [], accessKeys: [], visitorKey: '', relays: [] }), false);
  assert.equal(table.size, 2);
});

test('a snapshot keeps the identity of what stays and says that deltas were missed', () => {
  const table = tableOf(route('a'), route('gone'));
  const entry = table.findById('a');
  const told: string[] = [];
  table.subscribe({ onRemove: (e) => told.push(`removed ${e.route.tunnelId}`), onReload: () => told.push('reload') });
  table.load({ version: 20, routes: [route('a', { stopped: true })], accessKeys: [], visitorKey: '', relays: [] });
  assert.equal(table.findById('a'), entry);
  assert.equal(entry?.route.stopped, true);
  assert.deepEqual(told, ['removed gone', 'reload']);
});

test('relays of a snapshot come one by one, and the loop may turn between many devices', () => {
  const devices = Array.from({ length: 600 }, (_, n) => ({ deviceId: `d${n}` }));
  const relays = ['a', 'b', 'c', 'd'].map((networkId) => ({ networkId, devices }) as unknown as RelayRoute);
  const table = new RouteTable('example.test');
  const told: string[] = [];
  table.subscribe({
    onRelayIds: (ids) => told.push(`all ${[...ids].join(' ')}`),
    onRelay: ({ networkId }) => told.push(networkId),
  });
  const steps = table.loading({ version: 10, routes: [], accessKeys: [], visitorKey: '', relays });
  assert.deepEqual([steps.next().done, told], [false, ['all a b c d', 'a', 'b']]);
  assert.equal(table.planeVersion, -1, 'it is not loaded before the last one');
  assert.deepEqual([steps.next().done, told.slice(3)], [false, ['c', 'd']]);
  assert.deepEqual(steps.next(), { done: true, value: true });
  assert.equal(table.planeVersion, 10);
});

test('waits for a version and no longer than told', async () => {
  const table = tableOf();
  assert.equal(await table.reached(10, 1), true);
  const waiting = table.reached(12, 60_000);
  table.apply({ version: 11, kind: 'put', route: route('a') });
  table.apply({ version: 12, kind: 'put', route: route('b') });
  assert.equal(await waiting, true);
  assert.equal(await table.reached(13, 1), false);
});

test('a revocation reaches the listeners', () => {
  const table = tableOf();
  const told: string[] = [];
  const stop = table.subscribe({ onRevoke: (tokenId) => told.push(tokenId) });
  table.apply({ version: 11, kind: 'revoke_token', tokenId: 't', message: '' });
  stop();
  table.apply({ version: 12, kind: 'revoke_token', tokenId: 'u', message: '' });
  assert.deepEqual(told, ['t']);
});

test('the cut of an organization reaches the listeners', () => {
  const table = tableOf();
  const told: string[] = [];
  table.subscribe({ onCutOrg: (orgId, message) => told.push(`${orgId}: ${message}`) });
  table.apply({ version: 11, kind: 'cut_org', orgId: 'o', message: 'suspended' });
  assert.deepEqual(told, ['o: suspended']);
  assert.equal(table.planeVersion, 11);
});
