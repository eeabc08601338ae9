/** The live feed of the inspector over real sockets: who may listen, what is sent, and which clients it ends. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, afterEach, before, test } from 'node:test';
import { WebSocket } from 'ws';
import type { Logger } from '../../base/log.ts';
import { LiveFeed, MAX_SUBSCRIBERS, MAX_SUBSCRIBERS_PER_USER } from './live-feed.ts';
import { recorded } from './testing.ts';
import type { InspectedRequest } from '../../plane/inspection.ts';
import { Plane, VISIT } from '../core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../core/testing/plane-api.ts';
import { type Person, Team } from '../core/testing/team.ts';

/** Often enough for a test, and rarely enough for a machine that is busy. */
const PING_MS = 800;
const ALLOWED = 'https://app.example.test';

let plane: Plane;
let api: PlaneApi;
let team: Team;
let ann: Person;
let eve: Person;
const opened: WebSocket[] = [];
/** All that was said to the log, as text. */
let logged = '';

before(async () => {
  const say = (...words: unknown[]) => void (logged += JSON.stringify(words));
  const log = { debug: say, info: say, warn: say, error: say, child: () => log } as unknown as Logger;
  plane = new Plane();
  api = await servePlane(plane, { corsOrigins: [ALLOWED], feedPingMs: PING_MS, log });
  team = new Team(plane, api);
  ann = await team.person('ann@example.test');
  eve = await team.person('eve@example.test');
});
after(async () => {
  await api.close();
  plane.close();
});
afterEach(async () => {
  for (const socket of opened.splice(0)) socket.terminate();
  await until(() => plane.control.liveFeed.stats().subscribers === 0);
});

/** Waits for a condition, not for a time. */
async function until(isSo: () => boolean): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!isSo()) {
    assert.ok(Date.now() < deadline, `still not so: ${isSo.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

interface Asking {
  readonly path?: string;
  readonly protocols?: readonly string[];
  readonly origin?: string;
  readonly host?: string;
  /** Of another listener on the same plane. */
  readonly port?: number;
}

function protocolsOf(token: string): string[] {
  return ['culvert.inspector', `bearer.${token}`];
}

function dial(token: string, asking: Asking = {}): WebSocket {
  const { path = '/inspector/ws', protocols = protocolsOf(token), origin, host, port = api.port } = asking;
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, [...protocols], {
    headers: { ...(host === undefined ? {} : { host }) },
    ...(origin === undefined ? {} : { origin }),
  });
  opened.push(socket);
  return socket;
}

interface Listener {
  readonly socket: WebSocket;
  /** Its close code, whenever it comes: the close may be there before the response to the request that caused it. */
  readonly closed: Promise<number>;
  readonly messages: Array<Record<string, unknown>>;
}

/** A subscriber that is listening. */
async function listen(token: string, asking: Asking = {}): Promise<Listener> {
  const socket = dial(token, asking);
  const messages: Listener['messages'] = [];
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));
  socket.on('message', (data: Buffer) => messages.push(JSON.parse(data.toString())));
  await once(socket, 'open');
  return { socket, closed, messages };
}

/** Status and code of a handshake that must be refused. */
async function refused(token: string, asking: Asking = {}): Promise<[number | undefined, string]> {
  const socket = dial(token, asking);
  socket.on('error', () => {});
  const { promise, resolve } = Promise.withResolvers<IncomingMessage>();
  socket.once('unexpected-response', (_request, response: IncomingMessage) => resolve(response));
  socket.once('open', () => assert.fail('was accepted'));
  const response = await promise;
  const body = JSON.parse(await text(response)) as { error: string; message: string };
  assert.ok(body.message.length > 0);
  return [response.statusCode, body.error];
}

function report(...records: InspectedRequest[]): Promise<void> {
  return plane.control.link.inspect({ records, unrecorded: [] });
}

async function tunnelOf(person: Person): Promise<string> {
  return String((await person.call('POST', '/tunnels', { localPort: 3000 })).body['id']);
}

test('each request is one message, exactly as the list has it, and can be asked for by then', async () => {
  const tunnelId = await tunnelOf(ann);
  const { messages } = await listen(ann.token);
  const made = recorded({ orgId: ann.home, tunnelId, target: '/ö?x=1', status: 404 });
  await report(made);
  await until(() => messages.length === 1);
  const [item] = (await ann.call('GET', `/inspector?tunnel_id=${tunnelId}`)).body as readonly unknown[];
  assert.deepEqual(messages, [item]);
  assert.equal((await ann.call('GET', `/inspector/${made.id}`)).status, 200);
});

test('a subscriber hears of its own organization alone, and of one tunnel where it named one', async () => {
  const [one, two, theirs] = [await tunnelOf(ann), await tunnelOf(ann), await tunnelOf(eve)];
  const all = await listen(ann.token);
  const some = await listen(ann.token, { path: `/api/inspector/ws?tunnel_id=${two}` });
  const other = await listen(eve.token);
  await report(
    recorded({ orgId: ann.home, tunnelId: one, target: '/1' }),
    recorded({ orgId: ann.home, tunnelId: two, target: '/2' }),
    recorded({ orgId: eve.home, tunnelId: theirs, target: '/3' }),
  );
  await until(() => all.messages.length === 2 && some.messages.length === 1 && other.messages.length === 1);
  const paths = ({ messages }: Listener) => messages.map(({ path }) => path);
  assert.deepEqual([paths(all), paths(some), paths(other)], [['/1', '/2'], ['/2'], ['/3']]);
  assert.deepEqual(await refused(eve.token, { path: `/inspector/ws?tunnel_id=${one}` }), [404, 'not_found']);
  assert.deepEqual(await refused(ann.token, { path: '/inspector/ws?tunnel_id=x' }), [404, 'not_found']);
});

test('the protocol that is selected does not have the token in it, unless nothing else was offered', async () => {
  const both = await listen(ann.token);
  assert.equal(both.socket.protocol, 'culvert.inspector');
  const reverse = await listen(ann.token, { protocols: protocolsOf(ann.token).reverse() });
  assert.equal(reverse.socket.protocol, 'culvert.inspector');
  const alone = await listen(ann.token, { protocols: [`bearer.${ann.token}`] });
  assert.equal(alone.socket.protocol, `bearer.${ann.token}`);
});

test('live feed: refuses a client without a valid token, and no log has one', async () => {
  const forged = `${ann.token.slice(0, -4)}AAAA`;
  for (const protocols of [['culvert.inspector'], [`bearer.${forged}`], ['bearer.x'], ['bearer.x.y.z']])
    assert.deepEqual(await refused('', { protocols }), [401, 'unauthorized'], protocols.join());
  assert.deepEqual(await refused('', { protocols: [`bearer.${forged}`], path: '/api/inspector/ws?tunnel_id=x' }), [
    401,
    'unauthorized',
  ]);
  await listen(ann.token);
  const [, payload = ''] = ann.token.split('.');
  assert.ok(payload.length > 50 && !logged.includes(payload));
});

test('pages of other origins may not listen; the own one, and those of the settings, may', async () => {
  for (const origin of ['https://evil.test', 'http://api.test.evil.test', 'null', 'http://api.test:81'])
    assert.deepEqual(await refused(ann.token, { origin }), [403, 'forbidden'], origin);
  for (const asking of [
    { origin: 'http://api.test' },
    { origin: ALLOWED },
    { origin: `http://127.0.0.1:${api.port}` },
    { origin: 'http://localhost:9', host: 'localhost:9' },
  ])
    await listen(ann.token, asking);
});

test('what is no WebSocket handshake is refused in words, once it is known who asks', async () => {
  const ask = (...fields: string[]): Promise<string> => {
    const socket = connect(api.port, '127.0.0.1');
    socket.write(
      ['GET /inspector/ws HTTP/1.1', 'Host: x', 'Connection: Upgrade', 'Upgrade: websocket', ...fields, '', ''].join(
        '\r\n',
      ),
    );
    return text(socket);
  };
  assert.match(await ask(), /^HTTP\/1\.1 401 Unauthorized\r\n[^]*WWW-Authenticate: Bearer\r\n[^]*"unauthorized"/);
  const bearer = `Sec-WebSocket-Protocol: bearer.${ann.token}`;
  assert.match(await ask(bearer), /^HTTP\/1\.1 400 Bad Request\r\n[^]*"invalid_request"/);
  assert.match(await ask(bearer, 'Sec-WebSocket-Key: x', 'Sec-WebSocket-Version: 13'), /^HTTP\/1\.1 400 /);
});

test('an upgrade elsewhere, or to something else, is a request like any other', async () => {
  const ask = (path: string, upgrade: string): Promise<string> => {
    const socket = connect(api.port, '127.0.0.1');
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: ${upgrade}\r\n\r\n`);
    return text(socket);
  };
  assert.match(await ask('/health', 'websocket'), /^HTTP\/1\.1 200 OK/);
  assert.match(await ask('/health', 'h2c'), /^HTTP\/1\.1 200 OK/);
  assert.match(await ask('/inspector/ws', 'h2c'), /^HTTP\/1\.1 401 /);
});

test('live feed: ends on a logout, with the reason', async () => {
  const leaver = await team.again(eve);
  const stays = await listen(eve.token);
  const { closed } = await listen(leaver.token);
  assert.equal((await leaver.call('POST', '/auth/logout')).status, 200);
  assert.equal(await closed, 4401);
  assert.equal(stays.socket.readyState, WebSocket.OPEN);
});

test('who is removed from the organization hears no more; an access token that runs out changes nothing', async () => {
  const max = await team.member('max@example.test', ann, 'member');
  const as = await team.acting(max, ann.home);
  const { socket, closed } = await listen(as);
  const stays = await listen(ann.token);
  const { now } = plane;
  plane.now += 20 * 60_000;
  try {
    let looks = 0;
    socket.on('ping', () => (looks += 1));
    await until(() => looks >= 4);
    assert.equal(socket.readyState, WebSocket.OPEN, 'the token has run out, the session lives');
    const actor = await plane.control.sessions.authenticate((await team.again(ann)).token, VISIT.ipAddress);
    assert.ok(actor !== undefined);
    plane.control.members.remove(actor, { orgId: ann.home, userId: max.id });
    assert.equal(await closed, 4401);
    assert.equal(stays.socket.readyState, WebSocket.OPEN);
  } finally {
    plane.now = now;
  }
});

test('live feed: ends a client that answers no ping', async () => {
  const { socket } = await listen(ann.token);
  const raw = (socket as unknown as { _socket: Socket })._socket;
  raw.pause();
  await until(() => plane.control.liveFeed.stats().subscribers === 0);
});

test('live feed: a reader that takes nothing is cut off, and delays no other', async (t) => {
  // With pings 30 s apart: none of them finds the reader first.
  const { port, close } = await servePlane(plane);
  t.after(close);
  const tunnelId = await tunnelOf(ann);
  const quick = await listen(ann.token, { port });
  const slow = await listen(ann.token, { port });
  const raw = (slow.socket as unknown as { _socket: Socket })._socket;
  raw.pause();
  const target = `/${'x'.repeat(16_000)}`;
  const before = plane.control.liveFeed.stats().tooSlow;
  let sent = 0;
  while (plane.control.liveFeed.stats().tooSlow === before) {
    assert.ok(sent < 2_000, 'kernel buffers are some megabytes');
    await report(...Array.from({ length: 20 }, () => recorded({ orgId: ann.home, tunnelId, target })));
    sent += 20;
    plane.now += 100;
    await until(() => quick.messages.length === sent);
  }
  raw.resume();
  assert.equal(await slow.closed, 4408);
  assert.equal(quick.socket.readyState, WebSocket.OPEN);
  assert.equal(plane.control.liveFeed.stats().tooSlow, before + 1);
});

test('so much waits for all readers together and no more: the one that leaves most is cut', async (t) => {
  const most = 600_000;
  const feed = new LiveFeed({ store: plane.control.store, maxWaitingBytes: most });
  const { port, close } = await servePlane(plane, { feed });
  t.after(close);
  const tunnelId = await tunnelOf(ann);
  const quick = await listen(ann.token, { port });
  const [slowest, slow] = [await listen(ann.token, { port }), await listen(ann.token, { port })];
  const pause = ({ socket }: Listener) => (socket as unknown as { _socket: Socket })._socket.pause();
  const target = `/${'x'.repeat(16_000)}`;
  let sent = 0;
  const sendUntil = async (isSo: () => boolean): Promise<void> => {
    while (!isSo()) {
      assert.ok(sent < 2_000, 'kernel buffers are some megabytes');
      feed.publish(Array.from({ length: 5 }, () => recorded({ orgId: ann.home, tunnelId, target })));
      sent += 5;
      plane.now += 100;
      await until(() => quick.messages.length === sent);
      assert.ok(feed.stats().waitingBytes <= most);
    }
  };
  pause(slowest);
  await sendUntil(() => feed.stats().waitingBytes > 0);
  pause(slow);
  await sendUntil(() => feed.stats().tooSlow === 1);
  await until(() => feed.stats().subscribers === 2);
  assert.equal(quick.socket.readyState, WebSocket.OPEN);
  slow.socket.terminate();
  await until(() => feed.stats().waitingBytes === 0);
  (slowest.socket as unknown as { _socket: Socket })._socket.resume();
  assert.equal(await slowest.closed, 1006, 'no word of farewell would get through');
  assert.equal(feed.stats().tooSlow, 1);
});

test('only so many messages are sent in a second, of an organization and in all; what is left out is counted', async () => {
  const tunnelId = await tunnelOf(ann);
  plane.now += 60_000;
  const { messages } = await listen(ann.token);
  const before = plane.control.liveFeed.stats();
  const many = (count: number) =>
    plane.control.liveFeed.publish(Array.from({ length: count }, () => recorded({ orgId: ann.home, tunnelId })));
  // In two, or what waits for the socket would be too much for one subscriber.
  many(2_500);
  await until(() => messages.length === 2_500);
  many(2_500);
  await until(() => messages.length === 4_000);
  assert.equal(plane.control.liveFeed.stats().notSent - before.notSent, 1_000);
  plane.now += 1_000;
  many(3_000);
  await until(() => messages.length === 6_000);
  assert.equal(plane.control.liveFeed.stats().notSent - before.notSent, 2_000);
  // Of all organizations together: as many as ten at once.
  plane.now += 60_000;
  const actors = Array.from({ length: 11 }, (_, i) => ({ orgId: `org-${i}`, userId: `user-${i}` }));
  const heard: string[] = [];
  const actor = await plane.control.sessions.authenticate(ann.token, VISIT.ipAddress);
  assert.ok(actor !== undefined);
  const leave = actors.map((own) =>
    plane.control.liveFeed.join({ ...actor, ...own }, undefined, {
      take: () => void heard.push(own.orgId),
      look: () => {},
    }),
  );
  for (const { orgId } of actors)
    plane.control.liveFeed.publish(Array.from({ length: 2_000 }, () => recorded({ orgId, tunnelId })));
  assert.equal(heard.length, 20_000);
  for (const end of leave) end();
});

test('a person has only so many live feeds, and the server has', async () => {
  const all = await Promise.all(Array.from({ length: MAX_SUBSCRIBERS_PER_USER }, () => listen(ann.token)));
  assert.deepEqual(await refused(ann.token), [429, 'rate_limited']);
  await listen(eve.token);
  all[0]?.socket.close();
  await until(() => plane.control.liveFeed.stats().subscribers === MAX_SUBSCRIBERS_PER_USER);
  await listen(ann.token);
  const actor = await plane.control.sessions.authenticate(ann.token, VISIT.ipAddress);
  assert.ok(actor !== undefined);
  const { liveFeed } = plane.control;
  const leave = Array.from({ length: MAX_SUBSCRIBERS - liveFeed.stats().subscribers }, (_, i) =>
    liveFeed.join({ ...actor, userId: `user-${i}` }, undefined, { take: () => {}, look: () => {} }),
  );
  assert.deepEqual(await refused(eve.token), [503, 'unavailable']);
  for (const end of leave) end();
  await listen(eve.token);
});

test('a server that stops says so, accepts no client any more, and waits for none', async (t) => {
  const { port, close, liveFeed } = await servePlane(plane);
  t.after(close);
  const { closed } = await listen(ann.token, { port });
  await liveFeed.end();
  assert.equal(await closed, 1001);
  assert.deepEqual(await refused(ann.token, { port }), [503, 'unavailable']);
});

test('who is gone while its token is looked at takes no place', async () => {
  const head = [
    'GET /inspector/ws HTTP/1.1',
    'Host: api.test',
    'Upgrade: websocket',
    'Connection: Upgrade',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    `Sec-WebSocket-Protocol: ${protocolsOf(ann.token).join(', ')}`,
  ];
  // A reset meets the server at another step each time.
  for (let i = 0; i < 3 * MAX_SUBSCRIBERS_PER_USER; i++) {
    const socket = connect(api.port, '127.0.0.1');
    socket.on('error', () => {}); // a reset is what is asked for
    await once(socket, 'connect');
    socket.write([...head, '', ''].join('\r\n'));
    await new Promise((resolve) => setTimeout(resolve, i % 3));
    socket.resetAndDestroy();
  }
  await until(() => plane.control.liveFeed.stats().subscribers === 0);
  const listener = dial(ann.token);
  await once(listener, 'open');
});
