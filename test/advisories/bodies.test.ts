/** Bodies of requests to the API that cost more than they may: too large for who sends them, too deep, too many that are slow. */
import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { Plane } from '../../src/control/core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../../src/control/core/testing/plane-api.ts';
import { type Person, Team } from '../../src/control/core/testing/team.ts';

let plane: Plane;
let api: PlaneApi;
let ann: Person;
before(async () => {
  plane = new Plane();
  api = await servePlane(plane);
  ann = await new Team(plane, api).person('ann@example.test');
});
after(async () => {
  await api.close();
  plane.close();
});

const send = (path: string, body: string, type = 'application/json'): Promise<Response> =>
  fetch(`http://127.0.0.1:${api.port}${path}`, {
    method: 'POST',
    headers: { 'content-type': type },
    body,
  });

test('bodies: without a login no body is read beyond 64 KiB', async () => {
  for (const path of ['/auth/login', '/auth/signup', '/auth/forgot', '/auth/refresh']) {
    const answer = await send(path, JSON.stringify({ email: 'x'.repeat(65_536) }));
    assert.equal(answer.status, 413, path);
    assert.match(await answer.text(), /64 KiB/);
  }
});

test('JSON that is nested without end is refused before it is parsed, wherever it comes in', async () => {
  const deep = (levels: number): string => `{"email":${'['.repeat(levels)}${']'.repeat(levels)}}`;
  for (const body of [deep(32), deep(30_000), '['.repeat(60_000)]) {
    const answer = await send('/auth/login', body);
    assert.equal(answer.status, 400);
    assert.match(await answer.text(), /nested deeper than 32 levels/);
  }
  // The validator takes the type in any case.
  for (const type of ['application/JSON', 'Application/Json; charset=utf-8', 'application/problem+JSON'])
    assert.match(await (await send('/auth/login', deep(40), type)).text(), /nested deeper than 32 levels/, type);
  const made = await ann.call('POST', '/tunnels', { localPort: 3000, x: JSON.parse(deep(40)) as object });
  assert.deepEqual([made.status, made.body['error']], [400, 'invalid_request']);
  assert.equal(
    (await ann.call('POST', '/tunnels', { localPort: 3000, x: JSON.parse(deep(20)) as object })).status,
    201,
  );
});

/** Sends this text, and what is answered until the end of the connection or the first word of an answer. */
async function sayTo(head: string, ...more: Buffer[]): Promise<string> {
  const socket = connect(api.port, '127.0.0.1').on('error', () => undefined);
  socket.write(`${head}\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n`);
  for (const bytes of more) socket.write(bytes);
  const answer = await new Promise<string>((done) => socket.once('data', (bytes) => done(bytes.toString())));
  socket.destroy();
  return answer;
}

// As pieces of a stream they took 370 bytes and 11 µs each: 6 MB on the wire held 370 MB, and the thread for 11 s.
test('bodies in chunks of one byte are refused before they take memory and time', async () => {
  const crumbs = Buffer.from('1\r\n{\r\n'.repeat(10_000));
  const { user } = process.cpuUsage();
  for (const path of ['/webhooks/x', '/auth/login']) {
    const answer = await sayTo(`POST ${path} HTTP/1.1`, ...Array.from({ length: 100 }, () => crumbs));
    assert.match(answer, /^HTTP\/1\.1 413 /, path);
  }
  const ms = process.cpuUsage({ user, system: 0 }).user / 1_000;
  assert.ok(ms < 2_000, `${ms} ms of the processor`);
  const some = Buffer.from('1\r\n \r\n'.repeat(1_000));
  assert.match(await sayTo('POST /auth/login HTTP/1.1', some, Buffer.from('0\r\n\r\n')), /^HTTP\/1\.1 400 /);
});

test('a body where none belongs is no fault of the server', async () => {
  const answer = await sayTo('GET /health HTTP/1.1', Buffer.from('1\r\n{\r\n0\r\n\r\n'));
  assert.match(answer, /^HTTP\/1\.1 200 /);
});

test('slow bodies to the address of a webhook hold no more than their share, and others get through', async (t) => {
  const made = await ann.call('POST', '/webhook-receivers', {
    validator: 'github',
    secret: 'of the test',
    name: 'slow',
  });
  assert.equal(made.status, 201, made.text);
  const slow: Socket[] = [];
  t.after(() => {
    for (const socket of slow) socket.destroy();
  });
  const cut: number[] = [];
  for (let i = 0; i < 60; i++) {
    const socket = connect(api.port, '127.0.0.1');
    slow.push(socket);
    socket.on('error', () => undefined);
    socket.once('data', () => cut.push(i));
    socket.write(`POST /webhooks/${String(made.body['id'])} HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n`);
    socket.write(Buffer.alloc(900_000));
  }
  // 54 MB, of which 24 may wait.
  while (cut.length < 60 - 27) await pause(20);
  const answer = await send(`/webhooks/${String(made.body['id'])}`, JSON.stringify({ text: 'x'.repeat(500_000) }));
  assert.equal(answer.status, 401, 'it is heard, and lacks its signature');
});
