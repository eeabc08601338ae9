/** What a record holds of heads and bodies, in all the ways in which HTTP/1 frames them. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { WebSocket, WebSocketServer } from 'ws';
import { httpOrigin, perHead, rawOrigin, Rig } from '../edge/testing/rig.ts';
import type { InspectedRequest } from '../../plane/inspection.ts';
import { recordOf, recordsOf, textOf } from './testing.ts';

const WITHIN = { timeout: 120_000 };
const HOST = 'Host: shop.example.test\r\n';
const CHUNKED = 'Transfer-Encoding: chunked\r\n';

interface Case {
  readonly name: string;
  readonly request: string;
  readonly response: string;
  /** The service closes behind its response. */
  readonly closes?: true;
  readonly sent?: string;
  readonly got?: string;
  readonly status?: number;
  readonly version?: string;
}

// biome-ignore format: a table
const CASES: readonly Case[] = [
  { name: 'lengths', request: `POST / HTTP/1.1\r\n${HOST}Content-Length: 5\r\n\r\napple`, response: 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npear', sent: 'apple', got: 'pear' },
  { name: 'chunks', request: `POST / HTTP/1.1\r\n${HOST}${CHUNKED}\r\n2\r\nap\r\n3;x=y\r\nple\r\n0\r\nX-T: 1\r\n\r\n`, response: `HTTP/1.1 200 OK\r\n${CHUNKED}\r\n1\r\np\r\n3;ext\r\near\r\n0\r\nX-T: 1\r\n\r\n`, sent: 'apple', got: 'pear' },
  { name: 'a body that ends with the connection', request: `GET / HTTP/1.1\r\n${HOST}\r\n`, response: 'HTTP/1.1 200 OK\r\n\r\npear', closes: true, got: 'pear' },
  { name: 'HTTP/1.0 of the visitor, chunks of the service', request: `POST / HTTP/1.0\r\n${HOST}Content-Length: 5\r\n\r\napple`, response: `HTTP/1.1 200 OK\r\n${CHUNKED}\r\n1\r\np\r\n3\r\near\r\n0\r\n\r\n`, sent: 'apple', got: 'pear', version: '1.0' },
  { name: 'HTTP/1.0 of the service', request: `GET / HTTP/1.1\r\n${HOST}\r\n`, response: 'HTTP/1.0 200 Fine\r\nContent-Length: 4\r\n\r\npear', closes: true, got: 'pear' },
  { name: 'a HEAD', request: `HEAD / HTTP/1.1\r\n${HOST}\r\n`, response: 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n' },
  { name: 'no content', request: `GET / HTTP/1.1\r\n${HOST}\r\n`, response: 'HTTP/1.1 204 No Content\r\n\r\n', status: 204 },
  { name: 'not modified', request: `GET / HTTP/1.1\r\n${HOST}\r\n`, response: 'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\n\r\n', status: 304 },
  { name: 'an answer behind interim ones', request: `PUT / HTTP/1.1\r\n${HOST}Expect: 100-continue\r\nContent-Length: 5\r\n\r\napple`, response: 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 202 OK\r\nContent-Length: 4\r\n\r\npear', sent: 'apple', got: 'pear', status: 202 },
];

for (const { name, request, response, closes, sent = '', got = '', status = 200, version = '1.1' } of CASES)
  for (const pieces of ['at once', 'byte by byte'] as const)
    test(`${name}, ${pieces}`, WITHIN, async (t) => {
      const rig = await Rig.start(t);
      const origin = await rawOrigin(
        t,
        perHead((socket) => {
          if (pieces === 'at once') socket.write(response, 'latin1');
          else for (const byte of response) socket.write(byte, 'latin1');
          if (closes === true) socket.end();
        }),
      );
      await rig.serve('shop', origin.port);
      const wire = await rig.visit();
      const end = request.indexOf('\r\n\r\n') + 4;
      wire.send(request.slice(0, end));
      await origin.arrived(/\r\n\r\n/);
      if (pieces === 'at once') wire.send(request.slice(end));
      else for (const byte of request.slice(end)) wire.send(byte);
      const endsWithConnection = version === '1.0' || (got !== '' && !/length|chunked/i.test(response));
      if (endsWithConnection) await wire.closed;
      else await wire.until(got === '' ? '\r\n\r\n' : /pear|ear\r\n0\r\n[^]*\r\n\r\n$/);
      // An early answer ends the record before the request is whole.
      const record = await recordOf(rig);
      const final = response.slice(response.lastIndexOf('HTTP/1.'));
      assert.equal(textOf(record.responseHead), final.slice(0, final.indexOf('\r\n\r\n') + 4));
      assert.deepEqual([textOf(record.responseBody), record.responseSize], [got, got.length]);
      assert.deepEqual([record.status, record.trace.outcome, record.trace.httpVersion], [status, 'forwarded', version]);
      assert.ok(sent.startsWith(textOf(record.requestBody)));
      assert.equal(record.requestSize, record.requestBody.length);
      assert.deepEqual([record.requestBodyTruncated, record.responseBodyTruncated], [false, false]);
    });

test('a body that the service waits for is recorded whole, however it comes', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await httpOrigin(t, (request, response) => {
    request.resume().on('end', () => response.end('ok'));
  });
  await rig.serve('shop', origin.port);
  const wire = await rig.visit();
  wire.ask('POST /', 'Transfer-Encoding: chunked');
  for (const byte of '2\r\nap\r\n3;x=y\r\nple\r\n0\r\nX-T: 1\r\n\r\n') {
    wire.send(byte);
    await new Promise(setImmediate);
  }
  assert.equal((await wire.response()).body, 'ok');
  const record = await recordOf(rig);
  assert.deepEqual([textOf(record.requestBody), record.requestSize], ['apple', 5]);
  assert.deepEqual([textOf(record.responseBody), record.responseSize], ['ok', 2]);
});

test('bodies are kept up to the limit, with their true size beside', WITHIN, async (t) => {
  const rig = await Rig.start(t, {
    inspector: {
      maxBodyBytes: 1_000,
      maxPerSecond: 0,
      maxPerSecondPerTunnel: 0,
      maxMemoryMb: 4,
      websocketFrames: false,
    },
  });
  const answer = Buffer.alloc(3_000_000, 'answer ');
  const origin = await httpOrigin(t, (request, response) => {
    request
      .resume()
      .on('end', () =>
        response
          .setHeader('Content-Length', request.url === '/equal' ? 1_000 : answer.length)
          .end(request.url === '/equal' ? answer.subarray(0, 1_000) : answer),
      );
  });
  await rig.serve('shop', origin.port);
  const wire = await rig.visit();
  const upload = 'question '.repeat(200_000);
  wire.ask('POST /', `Content-Length: ${upload.length}`);
  wire.send(upload);
  assert.equal((await wire.response()).body.length, answer.length);
  wire.ask('POST /equal', 'Content-Length: 1000');
  wire.send(upload.slice(0, 1_000));
  await wire.response();

  const [first, equal] = await recordsOf(rig);
  assert.equal(textOf(first?.requestBody ?? null), upload.slice(0, 1_000));
  assert.deepEqual([first?.requestSize, first?.requestBodyTruncated], [upload.length, true]);
  assert.equal(textOf(first?.responseBody ?? null), answer.toString('latin1', 0, 1_000));
  assert.deepEqual([first?.responseSize, first?.responseBodyTruncated], [answer.length, true]);
  assert.deepEqual([equal?.requestSize, equal?.requestBodyTruncated], [1_000, false]);
  assert.deepEqual([equal?.responseSize, equal?.responseBodyTruncated], [1_000, false]);
  assert.equal(rig.node.stats().inspector.heldBytes, 0);
});

test('pipelined requests are recorded each with its own bytes', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await httpOrigin(t, (request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = `${request.url} ${Buffer.concat(parts).toString()}`;
      response.setHeader('Content-Length', body.length).end(body);
    });
  });
  await rig.serve('shop', origin.port);
  const wire = await rig.visit();
  const bodies = Array.from({ length: 40 }, (_, at) => String(at).repeat(1 + at));
  wire.send(
    bodies.map((body, at) => `POST /${at} HTTP/1.1\r\n${HOST}Content-Length: ${body.length}\r\n\r\n${body}`).join(''),
  );
  for (const [at, body] of bodies.entries()) assert.equal((await wire.response()).body, `/${at} ${body}`);
  const records = await recordsOf(rig);
  assert.equal(records.length, 40);
  for (const [at, record] of records.entries()) {
    assert.equal(record.target, `/${at}`);
    assert.match(textOf(record.requestHead), new RegExp(`^POST /${at} HTTP/1\\.1\\r\\n[^]*\\r\\n\\r\\n$`));
    assert.equal(textOf(record.requestBody), bodies[at]);
    assert.equal(textOf(record.responseBody), `/${at} ${bodies[at]}`);
  }
  assert.equal(new Set(records.map(({ id }) => id)).size, 40);
});

test('an upgraded connection is recorded when it switches; what flows through it is not', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await httpOrigin(t, (_request, response) => response.end());
  const server = new WebSocketServer({ server: origin });
  server.on('connection', (socket) => socket.on('message', (data) => socket.send(String(data))));
  await rig.serve('shop', origin.port);
  const socket = new WebSocket(`ws://127.0.0.1:${rig.port}/chat`, { headers: { host: 'shop.example.test' } });
  await once(socket, 'open');
  const record = await recordOf(rig);
  assert.deepEqual([record.status, record.target, record.trace.outcome], [101, '/chat', 'forwarded']);
  assert.match(textOf(record.requestHead), /\r\nUpgrade: websocket\r\n/);
  assert.match(textOf(record.responseHead), /^HTTP\/1\.1 101 [^]*\r\nSec-WebSocket-Accept: /);
  socket.send('secret');
  await once(socket, 'message');
  socket.close();
  await once(socket, 'close');
  const all = await recordsOf(rig);
  assert.equal(all.length, 1);
  assert.deepEqual([all[0]?.requestSize, all[0]?.responseSize], [0, 0]);
  server.close();
});

test('the record of a request that was sent once more tells so', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const counts = new Map<unknown, number>();
  const origin = await rawOrigin(
    t,
    perHead((socket) => {
      const count = (counts.get(socket) ?? 0) + 1;
      counts.set(socket, count);
      if (count <= 2) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello');
      else socket.end();
    }),
  );
  await rig.serve('shop', origin.port);
  const wire = await rig.visit();
  for (const path of ['/fresh', '/kept', '/again']) {
    wire.ask(`GET ${path}`);
    assert.equal((await wire.response()).status, 200);
  }
  const records = await recordsOf(rig);
  assert.deepEqual(
    records.map(({ target, status, trace }) => [target, status, trace.connection, trace.retried]),
    [
      ['/fresh', 200, 'fresh', false],
      ['/kept', 200, 'kept', false],
      ['/again', 200, 'fresh', true],
    ],
  );
  assert.equal(textOf(records[2]?.responseBody ?? null), 'hello');
});

test('an answer that comes before the request is whole ends the record', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await rawOrigin(
    t,
    perHead((socket) => socket.write('HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno')),
  );
  await rig.serve('shop', origin.port);
  const wire = await rig.visit();
  wire.ask('POST /', 'Content-Length: 1000000');
  wire.send('x'.repeat(1_000));
  assert.equal((await wire.response()).status, 413);
  const record = await recordOf(rig);
  assert.deepEqual([record.status, record.trace.outcome, textOf(record.responseBody)], [413, 'forwarded', 'no']);
  assert.ok(record.requestSize <= 1_000);
  assert.equal(record.requestBodyTruncated, true);
  // What the visitor goes on sending is part of no record.
  wire.send('y'.repeat(10_000));
  wire.socket.destroy();
  const [after] = await recordsOf(rig);
  assert.doesNotMatch(textOf(after?.requestBody ?? null), /y/);
});

test('a body in chunks whose end had not come when the request was over is not told as whole', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await rawOrigin(
    t,
    perHead((socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')),
  );
  await rig.serve('shop', origin.port);
  const rows = [
    ['5\r\nfirst\r\n', true],
    ['5\r\nfirst\r\n0\r\n\r\n', false],
  ] as const;
  for (const [chunks, isTruncated] of rows) {
    const wire = await rig.visit();
    wire.ask('POST /', 'Transfer-Encoding: chunked');
    wire.send(chunks);
    assert.equal((await wire.response()).status, 200);
    const record = (await recordsOf(rig)).at(-1) as InspectedRequest;
    assert.deepEqual([textOf(record.requestBody), record.requestBodyTruncated], ['first', isTruncated]);
  }
});
