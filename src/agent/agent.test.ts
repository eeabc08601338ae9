/** The agent's rules, on fake time and fake connections: when it comes back, when it ends, and with what. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { RefusalCode } from '../wire/messages.ts';
import type { ExitReason } from './events.ts';
import { type FakeFixture, fakeFixture, tunnelSpec } from './fixtures/fake-channel.ts';

/** Connected, claimed and bound. */
async function online(options: Parameters<typeof fakeFixture>[0] = {}): Promise<FakeFixture> {
  const fixture = await fakeFixture(options);
  fixture.latest().welcome();
  fixture.latest().bindAll();
  return fixture;
}

async function ended(fixture: FakeFixture): Promise<ExitReason | 'runs'> {
  await setImmediate();
  return Promise.race([fixture.agent.done, setImmediate('runs' as const)]);
}

const kinds = (fixture: FakeFixture): string[] => fixture.events.map((event) => event.kind);

test('says hello with the token, then claims, and tells the URL', async () => {
  const fixture = await fakeFixture({ tunnels: [tunnelSpec('web', 'shop')], watch: true });
  const channel = fixture.latest();
  const { run, ...hello } = channel.sent[0] as { run?: string };
  assert.match(run ?? '', /^[0-9a-f-]{36}$/);
  assert.deepEqual(hello, {
    type: 'hello',
    version: 1,
    token: 'mtk_test',
    agent: { version: '1', os: 'test', hostname: 'test' },
    clear: true,
    step: true,
  });
  assert.equal(channel.sent.length, 1, 'nothing is said before welcome');
  channel.welcome();
  assert.deepEqual(channel.sent.slice(1), [
    { type: 'watch', requests: true },
    { type: 'claim', ref: 1, protocol: 'http', target: 'localhost:3000', localPort: 3000, subdomain: 'shop' },
  ]);
  channel.bind(1);
  assert.deepEqual(kinds(fixture), ['online', 'tunnel_online']);
  assert.equal(fixture.agent.view().tunnels[0]?.url, 'http://name1.localhost');
  assert.equal(channel.sink.targetOf(1)?.port, 3000);
  assert.equal(channel.sink.targetOf(2), undefined);
});

test('an old server is never sent a tunnel whose options it would leave out of account', async () => {
  const upstream = { host: 'localhost:3000', prefix: '/app' };
  const tunnels = [{ ...tunnelSpec('app'), upstream }, tunnelSpec('web')];
  const [old, now] = [await fakeFixture({ tunnels }), await fakeFixture({ tunnels })];
  old.latest().welcome();
  now.latest().welcome({ features: ['upstream', 'from the future'] });
  assert.deepEqual(
    now.latest().claims.map((claim) => claim.upstream),
    [upstream, undefined],
  );
  assert.equal(old.latest().claims.length, 1);
  old.latest().bindAll();
  assert.equal(await ended(old), 'runs', 'the other tunnel goes on');
  const refused = old.events.find((event) => event.kind === 'tunnel_refused');
  assert.deepEqual(
    [refused?.tunnel.name, refused?.final, refused?.message],
    [
      'app',
      true,
      'the server (version 1) is too old for --host-header, --path-prefix. Upgrade the server, or leave the option out',
    ],
  );
  const [app] = tunnels;
  const alone = await fakeFixture({ tunnels: app === undefined ? [] : [app] });
  alone.latest().welcome();
  assert.deepEqual(await ended(alone), { code: 4, message: refused?.message });
});

test('what a service says in its refusals is reported once, and to each server that takes it', async () => {
  const fixture = await fakeFixture();
  const first = fixture.latest();
  first.welcome({ features: ['advice'] });
  first.bindAll();
  const target = first.sink.targetOf(1) ?? assert.fail();
  first.sink.onAdvice(target, 'host_header');
  const advice = fixture.events.filter((event) => event.kind === 'tunnel_advice');
  assert.deepEqual(
    advice.map(({ tunnel, code, message }) => [tunnel.name, code, message]),
    [['web', 'host_header', 'your service refuses the public host name: try --host-header rewrite']],
  );
  const sent = { type: 'advice', slot: 1, code: 'host_header' };
  assert.deepEqual(first.sent.at(-1), sent);
  first.sink.onClosed('lost');
  await fixture.time.advance(60_000);
  const second = fixture.latest();
  assert.notEqual(second, first);
  second.welcome({ features: ['advice'] });
  second.bindAll();
  assert.deepEqual(second.sent.at(-1), sent);
  second.sink.onClosed('lost');
  await fixture.time.advance(60_000);
  fixture.latest().welcome();
  fixture.latest().bindAll();
  assert.equal(fixture.latest().sent.at(-1)?.type, 'claim', 'an older server knows no such message');
});

test('silence behind what was sent is looked into soon with a server that says which one it is', async () => {
  const [now, older] = [await fakeFixture(), await online()];
  now.latest().welcome({ serverId: '11111111-1111-4111-8111-111111111111' });
  assert.deepEqual([now.latest().isPrompt, older.latest().isPrompt], [true, false]);
});

test('a server that says its bandwidth limit is sent no more than that, and one that says none is not held back', async () => {
  const [limited, free] = [await fakeFixture(), await online()];
  limited.latest().welcome({ bandwidthLimitMbps: 7 });
  assert.deepEqual([limited.latest().heldBackTo, free.latest().heldBackTo], [7, undefined]);
});

test('a network failure at the first connect is retried for ever, doubling from 0.5 s to 30 s', async () => {
  const fixture = await fakeFixture({ fault: new Error('getaddrinfo EAI_AGAIN nowhere') });
  const waits: Array<number | undefined> = [];
  for (let i = 0; i < 9; i++) {
    waits.push(fixture.time.next);
    await fixture.time.advance(fixture.time.next ?? 0);
  }
  assert.deepEqual(waits, [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
  await fixture.time.advance(3_600_000);
  assert.equal(await ended(fixture), 'runs');
  assert.equal(
    kinds(fixture).filter((kind) => kind === 'retrying').length,
    1,
    'the cause is reported once, not per try',
  );
  fixture.fault = new Error('connect ECONNREFUSED');
  await fixture.time.advance(60_000);
  assert.equal(kinds(fixture).filter((kind) => kind === 'retrying').length, 2, 'and again when it changes');
});

test('jitter takes the whole step: a wait lies anywhere between nothing and the step', async () => {
  const fixture = await fakeFixture({ fault: new Error('down'), random: () => 0.25 });
  assert.equal(fixture.time.next, 125);
});

for (const way of ['destroy', 'drain'] as const) {
  test(`an agent that ends while it connects does not come back (${way})`, async () => {
    const attempt = Promise.withResolvers<string>();
    const fixture = await fakeFixture({ token: () => attempt.promise });
    fixture.agent[way]();
    attempt.reject(new Error('given up'));
    assert.notEqual(await ended(fixture), 'runs');
    await fixture.time.advance(60_000);
    assert.deepEqual(
      [fixture.agent.view().state, fixture.time.next, kinds(fixture)],
      ['stopped', undefined, ['stopped']],
    );
  });
}

test('a failing token source is retried like the network, with the token read again each time', async () => {
  let reads = 0;
  const fixture = await fakeFixture({
    token: () =>
      ++reads === 2 ? Promise.reject(new Error('key file is being replaced')) : Promise.resolve(`mtk_${reads}`),
  });
  fixture.latest().sink.onClosed('gone');
  await fixture.time.advance(500);
  assert.equal(fixture.agent.view().cause, 'key file is being replaced');
  await fixture.time.advance(1000);
  const hello = fixture.latest().sent[0];
  assert.equal(hello?.type === 'hello' && hello.token, 'mtk_3');
});

test('a key that is taken back from a live session ends it a second later with exit 3, unless there is another by then', async () => {
  let key: string | undefined = 'mtk_1';
  const fixture = await fakeFixture({
    token: () => (key === undefined ? Promise.reject(new Error('no such key file')) : Promise.resolve(key)),
  });
  const takeBack = async (): Promise<void> => {
    fixture.latest().welcome();
    fixture.latest().say({ type: 'bye', code: 'unauthorized', message: 'The token ci was rotated.' });
    await fixture.time.advance(900);
  };
  await takeBack();
  key = 'mtk_2'; // the rotation writes its file only now
  await fixture.time.advance(200);
  const hello = fixture.latest().sent[0];
  assert.equal(hello?.type === 'hello' && hello.token, 'mtk_2');
  await takeBack();
  key = undefined;
  await fixture.time.advance(200);
  assert.deepEqual(await ended(fixture), { code: 3, message: 'The token ci was rotated.' });
});

test('a lost session comes back within 0.5 s and asks for the same tunnel again', async () => {
  const fixture = await online();
  await fixture.time.advance(60_000);
  fixture.latest().sink.onClosed('the peer closed the connection');
  assert.deepEqual(kinds(fixture).slice(2), ['offline', 'tunnel_offline', 'retrying', 'server_lost']);
  assert.equal(fixture.time.next, 500);
  await fixture.time.advance(500);
  fixture.latest().welcome();
  const [claim] = fixture.latest().claims;
  assert.equal(claim?.subdomain, 'name1');
  assert.equal(claim?.tunnelId, '00000000-0000-4000-8000-000000000001');
});

test('sessions that die young are not hammered, and recover in 2 s at most', async () => {
  const fixture = await online();
  const waits: Array<number | undefined> = [];
  for (let i = 0; i < 6; i++) {
    fixture.latest().sink.onClosed('crash');
    waits.push(fixture.time.next);
    await fixture.time.advance(fixture.time.next ?? 0);
    fixture.latest().welcome();
  }
  assert.deepEqual(waits, [500, 1000, 2000, 2000, 2000, 2000]);
});

test('SIGHUP connects at once and starts the waits anew', async () => {
  const fixture = await fakeFixture({ fault: new Error('down') });
  await fixture.time.advance(20_000);
  const before = fixture.tries;
  fixture.agent.retryNow();
  await setImmediate();
  assert.equal(fixture.tries, before + 1);
  assert.equal(fixture.time.next, 500);
});

test('a server that does not answer hello within 10 s is left', async () => {
  const fixture = await fakeFixture();
  assert.equal(fixture.time.next, 10_000);
  await fixture.time.advance(10_000);
  assert.equal(fixture.channels[0]?.ended, 'destroyed');
  assert.match(fixture.agent.view().cause ?? '', /did not respond to hello/);
});

test('after a forced disconnect it comes back in about 5 s', async () => {
  for (const [random, wait] of [
    [0, 4500],
    [0.5, 5000],
    [0.999_999, 5500],
  ] as const) {
    const fixture = await online({ random: () => random });
    fixture.latest().say({ type: 'bye', code: 'disconnected', message: 'disconnected by an operator' });
    assert.equal(fixture.time.next, wait);
  }
});

test('after drain it finishes what is in flight and comes back when the server says so', async () => {
  const fixture = await online({ random: () => 0 });
  const old = fixture.latest();
  old.inFlight = 1;
  old.say({ type: 'drain', retryAfterMs: 3000, message: 'the server restarts' });
  assert.equal(old.refusing, true);
  assert.equal(old.ended, undefined);
  assert.equal(fixture.time.next, 3000);
  await fixture.time.advance(3000);
  assert.equal(fixture.channels.length, 2);
  fixture.latest().welcome();
  fixture.latest().bindAll();
  assert.equal(old.ended, undefined, 'the old session still carries its stream');
  old.inFlight = 0;
  old.sink.onIdle();
  assert.equal(old.ended, 'closed');
  assert.equal(fixture.agent.view().state, 'online');
});

test('restart: after a drain the agent looks for the next process each 50 to 100 ms, later each 150 to 250, then by back-off', async () => {
  const fixture = await online();
  fixture.fault = new Error('connect ECONNREFUSED');
  fixture.latest().say({ type: 'drain', retryAfterMs: 0, message: 'the server restarts' });
  const waits: number[] = [];
  let passed = 0;
  while (passed < 46_000) {
    const next = fixture.time.next ?? 0;
    waits.push(next);
    passed += next;
    await fixture.time.advance(next);
  }
  const soon = waits.slice(1, 40);
  assert.ok(
    soon.every((ms) => ms >= 50 && ms <= 100),
    String(soon),
  );
  assert.ok(
    waits.slice(110, 200).every((ms) => ms >= 150 && ms <= 250),
    String(waits.slice(110, 200)),
  );
  assert.ok((waits.at(-1) ?? 0) >= 500, 'after 45 s it is a server like any other');
  fixture.fault = undefined;
  await fixture.time.advance(fixture.time.next ?? 0);
  fixture.latest().welcome();
  fixture.fault = new Error('connect ECONNREFUSED');
  fixture.latest().sink.onClosed('connection lost');
  assert.ok((fixture.time.next ?? 0) > 100, 'a session that is lost later is retried by back-off');
});

test('a drained session whose streams do not end is cut after 30 s', async () => {
  const fixture = await online({ random: () => 0 });
  const old = fixture.latest();
  old.inFlight = 1;
  old.say({ type: 'drain', retryAfterMs: 0, message: 'bye' });
  await fixture.time.advance(29_999);
  assert.equal(old.ended, undefined);
  await fixture.time.advance(1);
  assert.equal(old.ended, 'destroyed');
});

test('superseded: ends with exit 4, says why, and does not fight back', async () => {
  const fixture = await online();
  fixture.latest().say({ type: 'unbound', slot: 1, code: 'superseded', message: 'another agent took this name over' });
  assert.deepEqual(await ended(fixture), { code: 4, message: 'another agent took this name over' });
  await fixture.time.advance(600_000);
  assert.equal(fixture.tries, 1);
  assert.equal(fixture.time.next, undefined, 'nothing is left to happen');
});

test('superseded with answers under way: they end whole first, and the code stays', async () => {
  const fixture = await online();
  const channel = fixture.latest();
  channel.inFlight = 2;
  channel.say({ type: 'unbound', slot: 1, code: 'superseded', message: 'taken over' });
  assert.equal(channel.refusing, true);
  assert.equal(await ended(fixture), 'runs');
  assert.equal(channel.ended, undefined);
  fixture.agent.drain();
  assert.equal(await ended(fixture), 'runs', 'SIGTERM asks for what is done already');
  channel.inFlight = 0;
  channel.sink.onIdle();
  assert.deepEqual(await ended(fixture), { code: 4, message: 'taken over' });
  assert.equal(channel.ended, 'closed');
  assert.equal(fixture.time.next, undefined);
});

test('superseded with an answer that never ends: 30 s, or until the connection is lost', async () => {
  const slow = await online();
  slow.latest().inFlight = 1;
  slow.latest().say({ type: 'unbound', slot: 1, code: 'superseded', message: 'taken over' });
  await slow.time.advance(29_999);
  assert.equal(await ended(slow), 'runs');
  await slow.time.advance(1);
  assert.deepEqual(await ended(slow), { code: 4, message: 'taken over; some streams were interrupted' });

  const lost = await online();
  lost.latest().inFlight = 1;
  lost.latest().say({ type: 'unbound', slot: 1, code: 'superseded', message: 'taken over' });
  lost.latest().sink.onClosed('network');
  assert.deepEqual(await ended(lost), { code: 4, message: 'taken over' });
});

test('superseded on one of two tunnels: the other goes on, also over a reconnect', async () => {
  const fixture = await online({ tunnels: [tunnelSpec('a'), tunnelSpec('b')] });
  fixture.latest().say({ type: 'unbound', slot: 1, code: 'superseded', message: 'taken over' });
  assert.equal(await ended(fixture), 'runs');
  fixture.latest().sink.onClosed('network');
  await fixture.time.advance(500);
  fixture.latest().welcome();
  assert.equal(fixture.latest().claims.length, 1, 'the tunnel that ended is not claimed again');
});

const FINAL: ReadonlyArray<readonly [RefusalCode, number]> = [
  ['unauthorized', 3],
  ['forbidden', 3],
  ['subdomain_not_allowed', 4],
  ['duplicate_name', 4],
  ['invalid_name', 4],
  ['quota_exceeded', 4],
  ['budget_exhausted', 4],
  ['upgrade_required', 4],
  ['no_port_free', 4],
  ['tunnel_expired', 4],
  ['tunnel_deleted', 4],
  ['superseded', 4],
  ['invalid_request', 4],
  ['version_unsupported', 1],
];
for (const [code, exit] of FINAL) {
  test(`${code}: exit ${exit}, whether it refuses the claim or ends the session`, async () => {
    const claiming = await fakeFixture();
    claiming.latest().welcome();
    claiming.latest().refuse(1, code);
    assert.deepEqual(await ended(claiming), { code: exit, message: `refused: ${code}` });

    const waiting = await fakeFixture();
    waiting.latest().say({ type: 'bye', code, message: 'no' });
    assert.deepEqual(await ended(waiting), { code: exit, message: 'no' });
  });
}

for (const [code, waitMs] of [
  ['overloaded', 500],
  ['internal', 500],
  ['server_shutdown', 500],
  ['protocol_error', 500],
] as const) {
  test(`${code} never ends the agent`, async () => {
    const fixture = await fakeFixture();
    fixture.latest().say({ type: 'bye', code, message: 'later' });
    assert.equal(fixture.time.next, waitMs);
    await fixture.time.advance(500);
    fixture.latest().welcome();
    fixture.latest().refuse(1, code);
    assert.equal(await ended(fixture), 'runs');
    await fixture.time.advance(500);
    assert.equal(fixture.latest().claims.length, 2, 'the claim is made again on the same session');
  });
}

test('a tunnel that is refused for now is asked for again within 5 s, however long that takes', async () => {
  const fixture = await fakeFixture();
  fixture.latest().welcome();
  for (let ref = 1; ref <= 10; ref++) {
    fixture.latest().refuse(ref, 'overloaded');
    await fixture.time.advance(5_000);
    assert.equal(fixture.latest().claims.length, ref + 1);
  }
});

test('stopped tunnel: the agent waits for its start and reports it once', async () => {
  const fixture = await online();
  fixture.latest().say({ type: 'unbound', slot: 1, code: 'tunnel_stopped', message: 'stopped' });
  for (let i = 0; i < 5; i++) {
    await fixture.time.advance(11_000);
    fixture.latest().refuse(i + 2, 'tunnel_stopped');
  }
  assert.equal(kinds(fixture).filter((kind) => kind === 'tunnel_refused').length, 2, 'by unbound, then by refusal');
  await fixture.time.advance(11_000);
  fixture.latest().bind(7);
  assert.equal(fixture.agent.view().tunnels[0]?.state, 'online');
});

test('unauthorized stops at once, whatever other tunnels there are', async () => {
  const fixture = await online({ tunnels: [tunnelSpec('a'), tunnelSpec('b')] });
  fixture.latest().say({ type: 'unbound', slot: 1, code: 'unauthorized', message: 'the key was revoked' });
  assert.equal(((await ended(fixture)) as ExitReason).code, 3);
});

test('the last refusal decides the exit code; until then the others go on', async () => {
  const fixture = await fakeFixture({ tunnels: [tunnelSpec('a'), tunnelSpec('b')] });
  fixture.latest().welcome();
  fixture.latest().refuse(1, 'duplicate_name');
  assert.equal(await ended(fixture), 'runs');
  fixture.latest().bind(2);
  fixture.latest().say({ type: 'unbound', slot: 2, code: 'superseded', message: 'taken over' });
  assert.equal(((await ended(fixture)) as ExitReason).code, 4);
});

test('SIGTERM drains: tells the server, takes nothing new, ends when the last stream does', async () => {
  const fixture = await online();
  const channel = fixture.latest();
  channel.inFlight = 2;
  fixture.agent.drain();
  assert.equal(channel.sent.at(-1)?.type, 'drain');
  assert.equal(channel.refusing, true);
  channel.inFlight = 1;
  assert.equal(await ended(fixture), 'runs');
  channel.inFlight = 0;
  channel.sink.onIdle();
  assert.deepEqual(await ended(fixture), { code: 0, message: 'stopped' });
  assert.equal(channel.ended, 'closed');
});

test('streams in flight get 30 s at SIGTERM, and no more; a second signal cuts at once', async () => {
  const slow = await online();
  slow.latest().inFlight = 1;
  slow.agent.drain();
  await slow.time.advance(29_999);
  assert.equal(await ended(slow), 'runs');
  await slow.time.advance(1);
  assert.equal(((await ended(slow)) as ExitReason).code, 0);

  const forced = await online();
  forced.latest().inFlight = 1;
  forced.agent.drain();
  forced.agent.destroy();
  assert.equal(((await ended(forced)) as ExitReason).code, 0);
  assert.equal(forced.latest().ended, 'destroyed');
});

test('an agent that is waiting stops at once', async () => {
  const fixture = await fakeFixture({ fault: new Error('down') });
  fixture.agent.drain();
  assert.deepEqual(await ended(fixture), { code: 0, message: 'stopped' });
  assert.equal(fixture.time.next, undefined);
});

test('a server that answers what was not asked is left, and tried again', async () => {
  for (const message of [
    {
      type: 'bound',
      ref: 9,
      slot: 1,
      tunnelId: '00000000-0000-4000-8000-000000000001',
      subdomain: 'x',
      url: 'http://x',
      protocol: 'http',
      expiresAt: null,
    },
    { type: 'refused', ref: 9, code: 'duplicate_name', message: 'x' },
  ] as const) {
    const fixture = await online();
    fixture.latest().say(message);
    assert.equal(fixture.latest().ended, 'destroyed');
    assert.equal(fixture.agent.view().state, 'waiting');
  }
  const early = await fakeFixture();
  early.latest().say({ type: 'drain', retryAfterMs: 0, message: 'x' });
  assert.match(early.agent.view().cause ?? '', /before welcome/);
});

test('claims stand in line: no more than 64 are open at a time, and all are made', async () => {
  const tunnels = Array.from({ length: 200 }, (_, i) => tunnelSpec(`t${i}`));
  const fixture = await fakeFixture({ tunnels });
  const channel = fixture.latest();
  channel.welcome();
  assert.equal(channel.claims.length, 64);
  for (let ref = 1; ref <= 200; ref++) {
    channel.bind(ref);
    assert.ok(channel.claims.length <= 64 + ref);
  }
  assert.equal(fixture.agent.view().tunnels.filter((tunnel) => tunnel.state === 'online').length, 200);
});

test('refuses to start without a tunnel', async () => {
  await assert.rejects(fakeFixture({ tunnels: [] }), RangeError);
});
