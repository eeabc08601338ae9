/** Whose word ends an agent: that of the server that it was online with, and not that of another one or of a wrong clock. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { FromServer, RefusalCode } from '../../wire/messages.ts';
import { type FakeFixture, fakeFixture } from '../fixtures/fake-channel.ts';
import type { PinStore } from './server-pin.ts';

const OWN = '11111111-1111-4111-8111-111111111111';
const OTHER = '22222222-2222-4222-8222-222222222222';
const FINAL: readonly RefusalCode[] = ['unauthorized', 'forbidden', 'superseded', 'version_unsupported'];

const bye = (code: RefusalCode, more: Partial<Extract<FromServer, { type: 'bye' }>> = {}) =>
  ({ type: 'bye', code, message: 'No.', ...more }) as const;

async function outcome(fixture: FakeFixture): Promise<number | 'runs'> {
  await setImmediate();
  return Promise.race([fixture.agent.done.then(({ code }) => code), setImmediate('runs' as const)]);
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
async function cameBack(pins?: PinStore): Promise<FakeFixture> {
  const fixture = await fakeFixture(pins === undefined ? {} : { pins });
  fixture.latest().welcome({ serverId: OWN });
  fixture.latest().sink.onClosed('gone');
  await fixture.time.advance(500);
  return fixture;
}

for (const code of FINAL) {
  test(`server pin: an agent that was online keeps trying when another server says ${code}`, async () => {
    const fixture = await cameBack();
    fixture.latest().say(bye(code, { serverId: OTHER }));
    assert.equal(await outcome(fixture), 'runs');
    const changed = fixture.events.filter((event) => event.kind === 'server_changed');
    assert.equal(changed.length, 1);
    assert.deepEqual([changed[0]?.serverId, changed[0]?.ownServerId], [OTHER, OWN]);
    assert.match(
      fixture.agent.view().cause ?? '',
      /^a different server responds at http:\/\/fake: .*That server reports: No\./,
    );

    await fixture.time.advance(30_000);
    fixture.latest().welcome({ serverId: OWN });
    assert.equal(fixture.agent.view().state, 'online', 'its own server is back');
    const last = { unauthorized: 3, forbidden: 3, superseded: 4, version_unsupported: 1 }[code as 'forbidden'];
    fixture.latest().say(bye(code, { serverId: OWN }));
    await fixture.time.advance(1_000); // a key may have been replaced
    assert.equal(await outcome(fixture), last, 'and its word counts');
  });
}

test('server pin: pauses before another server grow to 30 s, and it is reported once', async () => {
  const fixture = await cameBack();
  const waits: Array<number | undefined> = [];
  for (let i = 0; i < 8; i++) {
    fixture.latest().say(bye('unauthorized', { serverId: OTHER }));
    waits.push(fixture.time.next);
    await fixture.time.advance(fixture.time.next ?? 0);
  }
  assert.deepEqual(waits, [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
  assert.equal(fixture.events.filter(({ kind }) => kind === 'server_changed').length, 1);
});

test('server pin: a kept pin holds for a new process, and a server that takes the key replaces it', async () => {
  const pins = memory(OWN);
  const fixture = await fakeFixture({ pins });
  fixture.latest().say(bye('unauthorized', { serverId: OTHER }));
  assert.equal(await outcome(fixture), 'runs');
  await fixture.time.advance(500);
  fixture.latest().welcome({ serverId: OTHER });
  assert.equal(pins.kept, OTHER);
  fixture.latest().sink.onClosed('gone');
  await fixture.time.advance(1_000);
  fixture.latest().say(bye('unauthorized', { serverId: OTHER }));
  assert.equal(await outcome(fixture), 3);
});

test('server pin: an agent that never was online ends with exit 3 on a bad key, as with a server without an id', async () => {
  const fresh = await fakeFixture({ pins: memory() });
  fresh.latest().say(bye('unauthorized', { serverId: OTHER }));
  assert.equal(await outcome(fresh), 3);

  const old = await fakeFixture();
  old.latest().welcome();
  old.latest().sink.onClosed('gone');
  await old.time.advance(500);
  old.latest().say(bye('unauthorized'));
  assert.equal(await outcome(old), 3);
});

test('server pin: a server without an id is not the one that had one', async () => {
  const fixture = await cameBack();
  fixture.latest().say(bye('unauthorized'));
  assert.equal(await outcome(fixture), 'runs');
  assert.equal(fixture.events.at(-1)?.kind, 'server_changed');
});

test('clock: a key that is expired by the clock of the server alone ends no agent that was online', async () => {
  const fixture = await cameBack();
  const expiredAt = fixture.time.now() + 60_000;
  fixture.latest().say(bye('unauthorized', { serverId: OWN, expiredAt }));
  assert.equal(await outcome(fixture), 'runs');
  const lost = fixture.events.at(-1);
  assert.ok(lost?.kind === 'server_lost');
  assert.equal(lost.code, 'clock_differs');
  assert.match(
    lost.reason,
    /expired at 1970-01-01 00:17 UTC, but the clock of this machine shows 1970-01-01 00:16 UTC/,
  );
  await fixture.time.advance(60_000);
  fixture.agent.retryNow();
  await setImmediate();
  fixture.latest().say(bye('unauthorized', { serverId: OWN, expiredAt }));
  assert.equal(await outcome(fixture), 3, 'both clocks agree by now');
});

test('clock: a live session that is ended for its time comes back while this clock disagrees', async () => {
  const fixture = await fakeFixture();
  fixture.latest().welcome({ serverId: OWN });
  fixture.latest().say(bye('unauthorized', { serverId: OWN, expiredAt: fixture.time.now() + 60_000 }));
  assert.equal(await outcome(fixture), 'runs');
  assert.equal(fixture.agent.view().state, 'waiting');
});
