/** The agent's rules for private networks, on fake time and fake connections: attach, refusals, the end. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Attached, RefusalCode } from '../../wire/messages.ts';
import { type FakeChannel, type FakeFixture, fakeFixture, tunnelSpec } from '../fixtures/fake-channel.ts';
import type { RelaySpec } from './spec.ts';

const TARGET = { text: 'localhost:51820', hosts: ['127.0.0.1', '::1'], port: 51_820 };
// Without UDP: no socket is opened before a datagram comes.
const spec = (name: string, network = name): RelaySpec => ({ name, network, target: TARGET, udp: false });

function attached(ref: number, slot = ref): Attached {
  return {
    type: 'attached',
    ref,
    slot,
    networkId: `00000000-0000-4000-8000-${String(ref).padStart(12, '0')}`,
    name: 'office',
    endpoint: 'relay.example.com:20000',
    port: 20_000,
    token: 'AAAAAAAAAA',
    key: 'A'.repeat(43),
    epoch: 1,
  };
}

const attaches = (channel: FakeChannel): Array<{ ref: number; network: string }> =>
  channel.sent.filter((message) => message.type === 'attach');
const kinds = (fixture: FakeFixture): string[] => fixture.events.map((event) => event.kind);

async function online(): Promise<FakeFixture> {
  const fixture = await fakeFixture({ tunnels: [], relays: [spec('vpn')] });
  fixture.latest().welcome();
  fixture.latest().say(attached(1));
  return fixture;
}

test('an agent of relays alone attaches after welcome, and tells the endpoint before the way', async () => {
  const fixture = await fakeFixture({ tunnels: [], relays: [spec('vpn', 'my network')] });
  const channel = fixture.latest();
  channel.welcome();
  assert.deepEqual(channel.sent.slice(1), [
    { type: 'attach', ref: 1, network: 'my network', target: 'localhost:51820' },
  ]);
  channel.say(attached(1));
  assert.deepEqual(kinds(fixture), ['online', 'relay_online', 'relay_path']);
  const [relay] = fixture.agent.view().relays;
  assert.deepEqual(
    [relay?.state, relay?.network, relay?.endpoint, relay?.path],
    ['online', 'office', 'relay.example.com:20000', 'stream'],
  );
  assert.ok(channel.sink.takerOf(1) !== undefined);
  assert.deepEqual([channel.sink.targetOf(1), channel.sink.takerOf(2)], [undefined, undefined]);
});

test('relay: a managed interface is asked for, and refused at a server that sends no peers', async () => {
  const managed = { ...spec('vpn'), manage: { name: 'wg0', folder: '/nowhere' } };
  const now = await fakeFixture({ tunnels: [], relays: [managed] });
  now.latest().welcome({ features: ['peers'] });
  assert.deepEqual(now.latest().sent.slice(1), [
    { type: 'attach', ref: 1, network: 'vpn', target: 'localhost:51820', peers: true },
  ]);
  const old = await fakeFixture({ tunnels: [], relays: [managed] });
  old.latest().welcome({ features: ['routes'] });
  await setImmediate();
  assert.deepEqual(attaches(old.latest()), []);
  const { code, message } = await old.agent.done;
  assert.equal(code, 4);
  assert.match(message, /too old for --manage\. Upgrade the server, or leave the option out/);
});

test('tunnels and relays of one agent have their slots side by side', async () => {
  const fixture = await fakeFixture({ tunnels: [tunnelSpec('web')], relays: [spec('vpn')] });
  const channel = fixture.latest();
  channel.welcome();
  channel.bind(1);
  channel.say(attached(2));
  assert.ok(channel.sink.targetOf(1) !== undefined && channel.sink.takerOf(1) === undefined);
  assert.ok(channel.sink.targetOf(2) === undefined && channel.sink.takerOf(2) !== undefined);
});

test('what only a relay or only a tunnel is answered breaks the protocol elsewhere', async () => {
  for (const answer of ['bound', 'attached', 'unasked'] as const) {
    const fixture = await fakeFixture(answer === 'bound' ? { tunnels: [], relays: [spec('vpn')] } : {});
    const channel = fixture.latest();
    channel.welcome();
    if (answer === 'bound') channel.bind(1);
    else channel.say(attached(answer === 'attached' ? 1 : 9));
    assert.equal(channel.ended, 'destroyed', answer);
  }
});

test('a lost session is come back from, and the relay is away meanwhile', async () => {
  const fixture = await online();
  fixture.latest().sink.onClosed('gone');
  const [relay] = fixture.agent.view().relays;
  assert.deepEqual([relay?.state, relay?.path, relay?.reason], ['waiting', undefined, 'gone']);
  assert.ok(kinds(fixture).includes('relay_offline'));
  await fixture.time.advance(1_000);
  fixture.latest().welcome();
  assert.equal(attaches(fixture.latest()).length, 1);
  fixture.latest().say(attached(1));
  assert.equal(fixture.agent.view().relays[0]?.state, 'online');
});

test('each refusal has its fate', async () => {
  const fates: Array<[RefusalCode, number | 'again']> = [
    ['network_not_found', 4],
    ['network_deleted', 4],
    ['network_not_ready', 'again'],
    ['forbidden', 3],
    ['quota_exceeded', 4],
    ['budget_exhausted', 4],
    ['no_port_free', 'again'],
    ['overloaded', 'again'],
  ];
  for (const [code, fate] of fates) {
    const fixture = await fakeFixture({ tunnels: [], relays: [spec('vpn')] });
    const channel = fixture.latest();
    channel.welcome();
    channel.refuse(1, code);
    const event = fixture.events.find(({ kind }) => kind === 'relay_refused');
    assert.deepEqual(event?.kind === 'relay_refused' ? [event.code, event.final] : event, [code, fate !== 'again']);
    if (fate === 'again') {
      await fixture.time.advance(11_000);
      assert.equal(attaches(channel).length > 1, true, code);
    } else {
      assert.equal((await fixture.agent.done).code, fate, code);
    }
  }
});

test('a network that another agent took over, or that was deleted, ends; others go on', async () => {
  const fixture = await fakeFixture({ tunnels: [], relays: [spec('a'), spec('b')] });
  const channel = fixture.latest();
  channel.welcome();
  channel.say(attached(1));
  channel.say(attached(2));
  channel.say({ type: 'unbound', slot: 1, code: 'superseded', message: 'another agent carries it' });
  assert.deepEqual(
    fixture.agent.view().relays.map(({ state }) => state),
    ['ended', 'online'],
  );
  assert.equal(channel.sink.takerOf(1), undefined);
  channel.say({ type: 'unbound', slot: 2, code: 'network_deleted', message: 'it is gone' });
  assert.deepEqual((await fixture.agent.done).code, 4);
});

test('an agent that leaves ends at once: a relay is nothing to wait for', async () => {
  const fixture = await online();
  fixture.agent.drain();
  assert.equal((await fixture.agent.done).code, 0);
  await setImmediate();
  assert.equal(fixture.time.next, undefined, 'no timer is left');
});

test('a server that leaves is left, and the relay attaches to the next', async () => {
  const fixture = await online();
  fixture.latest().say({ type: 'drain', retryAfterMs: 1_000, message: 'the server restarts' });
  assert.equal(fixture.agent.view().relays[0]?.state, 'waiting');
  await fixture.time.advance(1_200);
  fixture.latest().welcome();
  assert.equal(attaches(fixture.latest()).length, 1);
});

test('neither tunnel nor relay is nothing to start', async () => {
  await assert.rejects(fakeFixture({ tunnels: [], relays: [] }), RangeError);
});
