/** An agent whose address changes, or whose connection is dead without a word, is back soon: on time that the test moves. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AgentOptions } from '../agent.ts';
import { type FakeWorld, fakeWorld } from '../fixtures/fake-channel.ts';

interface Net {
  addresses: string[];
  /** Another connection can be made. */
  open: boolean;
  tries: number;
}

async function online(options: Partial<AgentOptions> = {}): Promise<{ world: FakeWorld; net: Net }> {
  const net: Net = { addresses: ['192.0.2.7', '10.0.0.1'], open: true, tries: 0 };
  const world = await fakeWorld({
    addresses: () => net.addresses,
    tryAnother: () => {
      net.tries++;
      return net.open ? Promise.resolve() : Promise.reject(new Error('unreachable'));
    },
    ...options,
  });
  world.latest().welcome();
  world.latest().bindAll();
  return { world, net };
}

test('address change: a session whose own address is gone is given up within 2 s', async () => {
  const { world, net } = await online();
  await world.time.advance(60_000);
  net.addresses = ['192.0.2.8', '10.0.0.1'];
  await world.time.advance(2_000);
  assert.equal(world.channels[0]?.ended, 'destroyed');
  assert.equal(world.channels.length, 2, 'and the next one is open');
});

test('address change: an agent that waits tries at once when the network changes', async () => {
  const { world, net } = await online();
  world.fault = new Error('no route');
  world.latest().sink.onClosed('gone');
  await world.time.advance(120_000);
  world.fault = undefined;
  net.addresses = ['192.0.2.9'];
  await world.time.advance(1_001);
  assert.equal(world.channels.length, 2);
});

test('dead path: a silent session is replaced within 8 s once another connection can be made', async () => {
  const { world, net } = await online();
  await world.time.advance(60_000);
  assert.equal(net.tries, 0, 'a session that answers costs no connection');
  world.latest().answers = false;
  await world.time.advance(8_000);
  assert.equal(world.channels[0]?.ended, 'destroyed');
  assert.equal(world.channels.length, 2);
  assert.match(JSON.stringify(world.events), /the connection stopped responding, but the server accepts a new one/);
});

test('dead path: a network that is broken for all ends no session, and a busy uplink is no silence', async () => {
  const { world, net } = await online();
  net.open = false;
  world.latest().answers = false;
  await world.time.advance(19_000);
  assert.ok(net.tries > 2, `${net.tries} tries`);
  assert.equal(world.channels.length, 1);

  const busy = await online();
  busy.world.latest().answers = false;
  for (let second = 0; second < 60; second++) {
    busy.world.latest().sentBytes += 100_000;
    await busy.world.time.advance(1_000);
  }
  assert.equal(busy.net.tries, 0);
});

test('path watch: nothing of it is left when the agent is over', async () => {
  const { world } = await online();
  world.agent.destroy();
  await world.agent.done;
  assert.equal(world.time.next, undefined);
});
