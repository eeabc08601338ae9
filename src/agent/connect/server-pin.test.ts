/** Whose word ends an agent: that of the server that it was online with, and not that of another one or of a wrong clock. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { FromServer, RefusalCode } from '../../wire/messages.ts';
import { type FakeWorld, fakeWorld } from '../fixtures/fake-channel.ts';
import type { PinStore } from './server-pin.ts';

const OWN = '11111111-1111-4111-8111-111111111111';
const OTHER = '22222222-2222-4222-8222-222222222222';
const FINAL: readonly RefusalCode[] = ['unauthorized', 'forbidden', 'superseded', 'version_unsupported'];

const bye = (code: RefusalCode, more: Partial<Extract<FromServer, { type: 'bye' }>> = {}) =>
  ({ type: 'bye', code, message: 'No.', ...more }) as const;

async function outcome(world: FakeWorld): Promise<number | 'runs'> {
  await setImmediate();
  return Promise.race([world.agent.done.then(({ code }) => code), setImmediate('runs' as const)]);
}

function memory(kept?: string): PinStore & { kept: string | undefined } {
  const store = {
    kept,
    read: () => store.kept,
    keep: (id: string) => {
      store.kept = id;
    },
  };
  return store;
}

/** Online with its own server once, which is gone now; the next connection is open. */
async function cameBack(pins?: PinStore): Promise<FakeWorld> {
  const world = await fakeWorld(pins === undefined ? {} : { pins });
  world.latest().welcome({ serverId: OWN });
  world.latest().sink.onClosed('gone');
  await world.time.advance(500);
  return world;
}

for (const code of FINAL) {
  test(`server pin: an agent that was online keeps trying when another server says ${code}`, async () => {
    const world = await cameBack();
    world.latest().say(bye(code, { serverId: OTHER }));
    assert.equal(await outcome(world), 'runs');
    const changed = world.events.filter((event) => event.kind === 'server_changed');
    assert.equal(changed.length, 1);
    assert.deepEqual([changed[0]?.serverId, changed[0]?.ownServerId], [OTHER, OWN]);
    assert.match(
      world.agent.view().cause ?? '',
      /^a different server responds at http:\/\/fake: .*That server reports: No\./,
    );

    await world.time.advance(30_000);
    world.latest().welcome({ serverId: OWN });
    assert.equal(world.agent.view().state, 'online', 'its own server is back');
    const last = { unauthorized: 3, forbidden: 3, superseded: 4, version_unsupported: 1 }[code as 'forbidden'];
    world.latest().say(bye(code, { serverId: OWN }));
    await world.time.advance(1_000); // a key may have been replaced
    assert.equal(await outcome(world), last, 'and its word counts');
  });
}

test('server pin: pauses before another server grow to 30 s, and it is reported once', async () => {
  const world = await cameBack();
  const waits: Array<number | undefined> = [];
  for (let i = 0; i < 8; i++) {
    world.latest().say(bye('unauthorized', { serverId: OTHER }));
    waits.push(world.time.next);
    await world.time.advance(world.time.next ?? 0);
  }
  assert.deepEqual(waits, [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
  assert.equal(world.events.filter(({ kind }) => kind === 'server_changed').length, 1);
});

test('server pin: a kept pin holds for a new process, and a server that takes the key replaces it', async () => {
  const pins = memory(OWN);
  const world = await fakeWorld({ pins });
  world.latest().say(bye('unauthorized', { serverId: OTHER }));
  assert.equal(await outcome(world), 'runs');
  await world.time.advance(500);
  world.latest().welcome({ serverId: OTHER });
  assert.equal(pins.kept, OTHER);
  world.latest().sink.onClosed('gone');
  await world.time.advance(1_000);
  world.latest().say(bye('unauthorized', { serverId: OTHER }));
  assert.equal(await outcome(world), 3);
});

test('server pin: an agent that never was online ends with exit 3 on a bad key, as with a server without an id', async () => {
  const fresh = await fakeWorld({ pins: memory() });
  fresh.latest().say(bye('unauthorized', { serverId: OTHER }));
  assert.equal(await outcome(fresh), 3);

  const old = await fakeWorld();
  old.latest().welcome();
  old.latest().sink.onClosed('gone');
  await old.time.advance(500);
  old.latest().say(bye('unauthorized'));
  assert.equal(await outcome(old), 3);
});

test('server pin: a server without an id is not the one that had one', async () => {
  const world = await cameBack();
  world.latest().say(bye('unauthorized'));
  assert.equal(await outcome(world), 'runs');
  assert.equal(world.events.at(-1)?.kind, 'server_changed');
});

test('clock: a key that is expired by the clock of the server alone ends no agent that was online', async () => {
  const world = await cameBack();
  const expiredAt = world.time.now() + 60_000;
  world.latest().say(bye('unauthorized', { serverId: OWN, expiredAt }));
  assert.equal(await outcome(world), 'runs');
  const lost = world.events.at(-1);
  assert.ok(lost?.kind === 'server_lost');
  assert.equal(lost.code, 'clock_differs');
  assert.match(
    lost.reason,
    /expired at 1970-01-01 00:17 UTC, but the clock of this machine shows 1970-01-01 00:16 UTC/,
  );
  await world.time.advance(60_000);
  world.agent.retryNow();
  await setImmediate();
  world.latest().say(bye('unauthorized', { serverId: OWN, expiredAt }));
  assert.equal(await outcome(world), 3, 'both clocks agree by now');
});

test('clock: a live session that is ended for its time comes back while this clock disagrees', async () => {
  const world = await fakeWorld();
  world.latest().welcome({ serverId: OWN });
  world.latest().say(bye('unauthorized', { serverId: OWN, expiredAt: world.time.now() + 60_000 }));
  assert.equal(await outcome(world), 'runs');
  assert.equal(world.agent.view().state, 'waiting');
});
