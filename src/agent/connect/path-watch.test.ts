/** An agent whose address changes, or whose connection is dead without a word, is back soon: on time that the test moves. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AgentOptions } from '../agent.ts';
import { type FakeFixture, fakeFixture } from '../fixtures/fake-channel.ts';

interface Net {
  addresses: string[];
  /** Another connection can be made. */
  open: boolean;
  tries: number;
}

async function online(options: Partial<AgentOptions> = {}): Promise<{ fixture: FakeFixture; net: Net }> {
  const net: Net = { addresses: ['192.0.2.7', '10.0.0.1'], open: true, tries: 0 };
  const fixture = await fakeFixture({
    addresses: () => net.addresses,
    tryAnother: () => {
      net.tries++;
      return net.open ? Promise.resolve() : Promise.reject(new Error('unreachable'));
    },
    ...options,
  });
  fixture.latest().welcome();
  fixture.latest().bindAll();
  return { fixture, net };
}

test('address change: a session whose own address is gone is given up within 2 s', async () => {
  const { fixture, net } = await online();
  await fixture.time.advance(60_000);
  net.addresses = ['192.0.2.8', '10.0.0.1'];
  await fixture.time.advance(2_000);
  assert.equal(fixture.channels[0]?.ended, 'destroyed');
  assert.equal(fixture.channels.length, 2, 'and the next one is open');
});

test('address change: an agent that waits tries at once when the network changes', async () => {
  const { fixture, net } = await online();
  fixture.fault = new Error('no route');
  fixture.latest().sink.onClosed('gone');
  await fixture.time.advance(120_000);
  fixture.fault = undefined;
  net.addresses = ['192.0.2.9'];
  await fixture.time.advance(1_001);
  assert.equal(fixture.channels.length, 2);
});

test('dead path: a silent session is replaced within 8 s once another connection can be made', async () => {
  const { fixture, net } = await online();
  await fixture.time.advance(60_000);
  assert.equal(net.tries, 0, 'a session that answers costs no connection');
  fixture.latest().answers = false;
  await fixture.time.advance(8_000);
  assert.equal(fixture.channels[0]?.ended, 'destroyed');
  assert.equal(fixture.channels.length, 2);
  assert.match(JSON.stringify(fixture.events), /the connection stopped responding, but the server accepts a new one/);
});

test('dead path: a network that is broken for all ends no session, and a busy uplink is no silence', async () => {
  const { fixture, net } = await online();
  net.open = false;
  fixture.latest().answers = false;
  await fixture.time.advance(19_000);
  assert.ok(net.tries > 2, `${net.tries} tries`);
  assert.equal(fixture.channels.length, 1);

  const busy = await online();
  busy.fixture.latest().answers = false;
  for (let second = 0; second < 60; second++) {
    busy.fixture.latest().sentBytes += 100_000;
    await busy.fixture.time.advance(1_000);
  }
  assert.equal(busy.net.tries, 0);
});

for (const how of ['sleep', 'sleepCounted'] as const) {
  test(`waking up (${how}): within a second the session is asked, and another way is tried`, async () => {
    const { fixture, net } = await online();
    await fixture.time.advance(60_000);
    fixture.latest().answers = false;
    fixture.time[how](3_600_000);
    await fixture.time.advance(1_000);
    assert.equal(net.tries, 1);
    assert.equal(fixture.channels[0]?.ended, 'destroyed');
    assert.equal(fixture.channels.length, 2, 'the next session is open');
  });

  test(`waking up (${how}): a session that answers stays`, async () => {
    const { fixture } = await online();
    await fixture.time.advance(60_000);
    fixture.time[how](3_600_000);
    await fixture.time.advance(20_000);
    assert.equal(fixture.channels.length, 1);
  });

  test(`waking up (${how}): an agent that waits tries within a second`, async () => {
    const { fixture } = await online();
    fixture.fault = new Error('no route');
    fixture.latest().sink.onClosed('gone');
    await fixture.time.advance(120_000);
    fixture.fault = undefined;
    fixture.time[how](3_600_000);
    await fixture.time.advance(1_000);
    assert.equal(fixture.channels.length, 2);
  });
}

test('path watch: nothing of it is left when the agent is over', async () => {
  const { fixture } = await online();
  fixture.agent.destroy();
  await fixture.agent.done;
  assert.equal(fixture.time.next, undefined);
});
