/** Other tunnels while the agent runs: what changes, and what is not touched. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FakeFixture, fakeFixture, tunnelSpec } from './fixtures/fake-channel.ts';
import { parseTarget } from './local/target.ts';
import type { TunnelSpec } from './tunnel.ts';

const other = (spec: TunnelSpec, port: string): TunnelSpec => ({ ...spec, ...parseTarget(port, 'http') });

async function online(tunnels: readonly TunnelSpec[]): Promise<FakeFixture> {
  const fixture = await fakeFixture({ tunnels });
  fixture.latest().welcome();
  fixture.latest().bindAll();
  return fixture;
}

const lines = ({ events }: FakeFixture): string[] =>
  events.flatMap((event) => ('tunnel' in event ? `${event.kind} ${event.tunnel.name}` : []));

test('reload: a tunnel that did not change is not touched, one is added, one gets no new streams', async () => {
  const [stays, goes, comes] = [tunnelSpec('stays', 'a'), tunnelSpec('goes', 'b'), tunnelSpec('comes', 'c')];
  const fixture = await online([stays, goes]);
  const channel = fixture.latest();
  const before = channel.sent.length;
  fixture.agent.reload({ tunnels: [stays, comes], relays: [] });
  assert.deepEqual(
    channel.sent.slice(before).map((message) => (message.type === 'claim' ? message.subdomain : message)),
    [{ type: 'unbind', slot: 2 }, 'c'],
  );
  assert.equal(channel.sink.targetOf(2), undefined);
  assert.equal(channel.sink.targetOf(1), stays.target);
  channel.bind(3);
  assert.deepEqual(lines(fixture), [
    'tunnel_online stays',
    'tunnel_online goes',
    'tunnel_offline goes',
    'tunnel_online comes',
  ]);
  assert.deepEqual(fixture.channels.length, 1, 'the session stays');
});

test('reload: a changed tunnel serves its old target until the server has bound the new one, under the same name', async () => {
  const old = tunnelSpec('web');
  const fixture = await online([old]);
  const channel = fixture.latest();
  fixture.agent.reload({ tunnels: [other(old, '4000')], relays: [] });
  assert.equal(channel.sink.targetOf(1)?.port, 3000);
  const [, claim] = channel.claims;
  assert.deepEqual(
    [claim?.subdomain, claim?.tunnelId, claim?.localPort, claim?.revision],
    ['name1', '00000000-0000-4000-8000-000000000001', 4000, 1],
  );
  channel.bind(2);
  assert.equal(channel.sink.targetOf(2)?.port, 4000);
  assert.equal(channel.sink.targetOf(1), undefined);
  // The server's own word about the old slot, which crosses.
  channel.say({ type: 'unbound', slot: 1, code: 'superseded', message: 'replaced' });
  assert.equal(fixture.agent.view().tunnels[0]?.state, 'online');
  assert.deepEqual(lines(fixture), ['tunnel_online web', 'tunnel_online web']);
});

test('reload: a server that answers a changed claim with the old slot serves the new target there', async () => {
  const old = tunnelSpec('web', 'shop');
  const fixture = await online([old]);
  const channel = fixture.latest();
  fixture.agent.reload({ tunnels: [other(old, '4000')], relays: [] });
  const tunnelId = '00000000-0000-4000-8000-000000000001';
  const url = 'http://name1.localhost';
  channel.say({ type: 'bound', ref: 2, slot: 1, tunnelId, subdomain: 'name1', url, protocol: 'http', expiresAt: null });
  assert.equal(channel.sink.targetOf(1)?.port, 4000);
  assert.ok(!channel.sent.some(({ type }) => type === 'unbind'));
});

test('reload: a changed tunnel that is refused no longer serves its old target', async () => {
  const [old, more] = [tunnelSpec('web', 'shop'), tunnelSpec('more')];
  const fixture = await online([old, more]);
  const channel = fixture.latest();
  fixture.agent.reload({ tunnels: [other(old, '4000'), more], relays: [] });
  channel.refuse(3, 'invalid_request');
  assert.equal(channel.sink.targetOf(1), undefined);
  assert.deepEqual(channel.sent.at(-1), { type: 'unbind', slot: 1 });
});

test('reload: another name is another tunnel', async () => {
  const old = tunnelSpec('web', 'shop');
  const fixture = await online([old]);
  const channel = fixture.latest();
  fixture.agent.reload({ tunnels: [tunnelSpec('web', 'store')], relays: [] });
  assert.deepEqual(channel.sent.at(-2), { type: 'unbind', slot: 1 });
  assert.deepEqual([channel.claims[1]?.subdomain, channel.claims[1]?.tunnelId], ['store', undefined]);
});

test('reload: a claim under way for a tunnel that is removed is given back', async () => {
  const [one, two] = [tunnelSpec('one', 'a'), tunnelSpec('two', 'b')];
  const fixture = await fakeFixture({ tunnels: [one, two] });
  const channel = fixture.latest();
  channel.welcome();
  fixture.agent.reload({ tunnels: [one], relays: [] });
  channel.bindAll();
  assert.deepEqual(channel.sent.at(-1), { type: 'unbind', slot: 2 });
  assert.deepEqual(lines(fixture), ['tunnel_online one']);
});

test('reload: without a session the next one asks for the new tunnels alone', async () => {
  const [one, two] = [tunnelSpec('one', 'a'), tunnelSpec('two', 'b')];
  const fixture = await online([one]);
  fixture.latest().sink.onClosed('cable');
  fixture.agent.reload({ tunnels: [two], relays: [] });
  await fixture.time.advance(1_000);
  fixture.latest().welcome();
  assert.deepEqual(
    fixture.latest().claims.map(({ subdomain }) => subdomain),
    ['b'],
  );
});

test('reload: no tunnels are refused, and a removal that leaves only refused ones ends the agent', async () => {
  const [good, bad] = [tunnelSpec('good', 'a'), tunnelSpec('bad', 'b')];
  const fixture = await fakeFixture({ tunnels: [good, bad] });
  const channel = fixture.latest();
  channel.welcome();
  channel.bind(1);
  channel.refuse(2, 'duplicate_name');
  assert.throws(() => fixture.agent.reload({ tunnels: [], relays: [] }), RangeError);
  fixture.agent.reload({ tunnels: [bad], relays: [] });
  assert.deepEqual(await fixture.agent.done, { code: 4, message: 'refused: duplicate_name' });
});
