/** After an outage: an agent that has waited long comes back when the path does, and leaves a server alone that answers but fails. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { discover } from './discovery.ts';
import { fakeFixture } from '../fixtures/fake-channel.ts';
import { canReach, UnreachableError } from './reachability.ts';

const PLACE = { host: 'fake', port: 9090 };

test('an outage of an hour ends within three seconds of the path being back', async () => {
  let path = false;
  const fixture = await fakeFixture({
    fault: new UnreachableError('connect ECONNREFUSED', PLACE),
    reach: (place) => {
      assert.equal(place, PLACE);
      return Promise.resolve(path);
    },
  });
  await fixture.time.advance(3_600_000);
  const before = fixture.tries;
  await fixture.time.advance(3_000);
  assert.ok(fixture.tries - before <= 1, 'while it lasts, back-off alone tries');
  path = true;
  fixture.fault = undefined;
  await fixture.time.advance(3_000);
  assert.equal(fixture.channels.length, 1);
  fixture.latest().welcome();
  fixture.latest().bindAll();
  const tries = fixture.tries;
  await fixture.time.advance(60_000);
  assert.equal(fixture.tries, tries, 'a session ends the probes');
});

test('a server that can be reached and fails is tried as back-off says', async () => {
  let probes = 0;
  const fixture = await fakeFixture({
    fault: new Error('this is not a Culvert agent listener'),
    reach: () => Promise.resolve(++probes > 0),
  });
  await fixture.time.advance(61_400); // 0.5 + 1 + 2 + 4 + 8 + 16 + 30, less a moment
  assert.equal(fixture.tries, 7);
  assert.equal(probes, 0);
});

test('a proxy before a server that restarts: the whole way is tried every three seconds at most, and no more often than every second', async () => {
  const fixture = await fakeFixture({
    fault: new UnreachableError('proxy responds with 502', PLACE),
    reach: () => Promise.resolve(true),
  });
  await fixture.time.advance(600_000);
  const before = fixture.tries;
  await fixture.time.advance(60_000);
  const tries = fixture.tries - before;
  assert.ok(tries >= 20 && tries <= 60, `${tries} in a minute`);
  assert.equal(fixture.events.length, 1, 'told once');
  fixture.fault = undefined;
  await fixture.time.advance(3_000);
  assert.equal(fixture.channels.length, 1);
});

test('reachability: a probe that resolves after the agent has ended changes nothing', async () => {
  const late = Promise.withResolvers<boolean>();
  const fixture = await fakeFixture({ fault: new UnreachableError('down', PLACE), reach: () => late.promise });
  await fixture.time.advance(20_000);
  const tries = fixture.tries;
  fixture.agent.destroy();
  late.resolve(true);
  await setImmediate();
  assert.equal(fixture.tries, tries);
  assert.equal(fixture.time.next, undefined, 'no timer is left');
});

test('reachability: 502, 503 and 504 to discovery count as unreachable, other failures do not', async (t) => {
  let status = 0;
  const server = createHttpServer((_request, response) => response.writeHead(status).end('<html>')).listen(
    0,
    '127.0.0.1',
  );
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  for (const [code, unreachable] of [
    [502, true],
    [503, true],
    [504, true],
    [500, false],
    [404, false],
  ] as const) {
    status = code;
    await assert.rejects(discover(new URL(`http://127.0.0.1:${port}`)), (error) => {
      assert.ok(error instanceof Error);
      assert.match(error.message, new RegExp(`responded with ${code}`));
      assert.equal(error instanceof UnreachableError, unreachable, String(code));
      if (error instanceof UnreachableError) assert.deepEqual(error.place, { host: '127.0.0.1', port });
      return true;
    });
  }
});

test('reachability: a port is reached while a program listens on it, an unknown name is not', async () => {
  const server = createServer((socket) => socket.destroy());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  assert.equal(await canReach({ host: '127.0.0.1', port }), true);
  const cut = new URL(`http://127.0.0.1:${port}`);
  await assert.rejects(discover(cut), (error) => error instanceof Error && !(error instanceof UnreachableError));
  server.close();
  await once(server, 'close');
  assert.equal(await canReach({ host: '127.0.0.1', port }), false);
  assert.equal(await canReach({ host: 'no-such-name.invalid', port }), false);
  await assert.rejects(discover(cut), (error) => {
    assert.ok(error instanceof UnreachableError);
    assert.deepEqual(error.place, { host: '127.0.0.1', port });
    return true;
  });
});

test('reachability: an IPv6 address that nothing answers at hides no IPv4 address of the same name', async (t) => {
  const server = createServer((socket) => socket.destroy());
  server.listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const both = [
    { address: '::1', family: 6 },
    { address: '127.0.0.1', family: 4 },
  ];
  assert.equal(await canReach({ host: 'dual.test', port }, async () => both), true);
  assert.equal(await canReach({ host: 'dual.test', port }, async () => both.slice(0, 1)), false);
});
