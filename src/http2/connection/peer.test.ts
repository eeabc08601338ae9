/** The connection against node:http2's client over TLS: what any peer of this side would see. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { createServer, type Server } from 'node:tls';
import { SlabPool } from '../../base/bytes/slab.ts';
import { TurnEnd } from '../../base/process/turn.ts';
import { testCertificate } from '../../data/fixtures/certificate.ts';
import { Head, parseResponseHead } from '../../http1/head.ts';
import { WindowBudget } from '../../mux/window.ts';
import { HeadScratch } from '../request-head.ts';
import { CODE, type Http2Stream, type Http2StreamSink, type Http2User, type RequestHead } from '../types.ts';
import { Http2ServerConnection, type Http2Parts } from './connection.ts';
import { BufferPool } from './sending/out-buffer.ts';
import { LIMITS } from './testing.ts';

const NONE = Buffer.alloc(0);
const slabs = new SlabPool();
const budget = new WindowBudget(256 << 20);
const parts: Http2Parts = {
  limits: LIMITS,
  turn: new TurnEnd(),
  budget,
  pool: new BufferPool(),
  head: new HeadScratch(LIMITS),
  readBuffer: Buffer.allocUnsafeSlow(65_536),
};

/** Sends back what comes, or answers with as many bytes as the path says; both with no more in flight than credit allows. */
class Answerer implements Http2StreamSink {
  readonly #path: string;
  #received = 0;
  #left = 0;
  #trailers = '';
  static readonly PIECE = 65_536;

  constructor(path: string) {
    this.#path = path;
  }

  begin(stream: Http2Stream, isWhole: boolean): void {
    const [, kind, size] = this.#path.split('/');
    switch (kind) {
      case 'bytes':
        this.#left = Number(size);
        stream.answer(200, ['Content-Type: text/plain'], NONE, this.#left === 0);
        this.#more(stream, 4 * Answerer.PIECE);
        break;
      case 'echo':
        stream.answer(200, [], NONE, false);
        break;
      case 'cut':
        stream.answer(200, [], Buffer.from('half'), false);
        setImmediate(() => stream.reset(CODE.internal));
        break;
      case 'parsed':
        return this.#parsed(stream);
      case 'early':
        stream.answer(413, [], Buffer.from('enough'), true);
        break;
      default:
        if (isWhole) this.onEnd(stream);
    }
  }

  onData(stream: Http2Stream, bytes: Buffer, start: number, end: number): void {
    this.#received += end - start;
    if (this.#path === '/echo') {
      const copy = Buffer.from(bytes.subarray(start, end));
      stream.push(copy, 0, copy.length, copy.length, slabs.foreign);
    } else stream.consumed(end - start);
  }
  onTrailers(_stream: Http2Stream, bytes: Buffer, start: number, end: number): void {
    this.#trailers = bytes.toString('latin1', start, end);
  }
  onEnd(stream: Http2Stream): void {
    if (this.#path === '/echo') {
      if (this.#trailers === '') stream.end();
      else stream.trailers(Buffer.from(this.#trailers, 'latin1'));
    } else if (this.#left === 0) stream.answer(200, [], Buffer.from(`${this.#received} bytes of ${this.#path}`), true);
  }
  onCredit(stream: Http2Stream, credit: number): void {
    if (this.#path === '/echo') stream.consumed(credit);
    else this.#more(stream, credit);
  }
  onReset(): void {
    resets++;
  }
  onDone(): void {
    dones++;
  }

  #more(stream: Http2Stream, bytes: number): void {
    for (let allowed = bytes; this.#left > 0 && allowed > 0; ) {
      const length = Math.min(this.#left, Answerer.PIECE, allowed);
      const slab = slabs.take();
      slab.bytes.fill('x', 0, length);
      this.#left -= length;
      allowed -= length;
      stream.push(slab.bytes, 0, length, length, slab);
      slab.retire();
      if (this.#left === 0) stream.end();
    }
  }

  #parsed(stream: Http2Stream): void {
    const head = new Head();
    const interim = Buffer.from('HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n');
    parseResponseHead(interim, 0, interim.length, head);
    stream.respond(interim, head, NONE, false);
    const bytes = Buffer.from('HTTP/1.1 201 Created\r\nContent-Length: 4\r\nConnection: close\r\nX-A: b\r\n\r\n');
    parseResponseHead(bytes, 0, bytes.length, head);
    const counted = stream.respond(bytes, head, Buffer.from('Via: 1.1 edge\r\n'), false);
    assert.ok(counted > 20);
    stream.push(Buffer.from('body'), 0, 4, 4, slabs.foreign);
    stream.end();
  }
}

let resets = 0;
let dones = 0;
const offences: string[] = [];
const faults: unknown[] = [];
const user: Http2User = {
  onRequest(stream: Http2Stream, head: RequestHead, isWhole: boolean) {
    const path = /^\S+ (\S+)/.exec(head.bytes.toString('latin1', head.start, head.end))?.[1] ?? '';
    const sink = new Answerer(path);
    stream.sink = sink;
    sink.begin(stream, isWhole);
  },
  onOffence: (reason) => void offences.push(reason),
  onVisitorEnd: () => undefined,
  onClose: () => undefined,
  onFault: (error) => void faults.push(error),
};

let server: Server;
let port = 0;
const connections: Http2ServerConnection[] = [];

before(async () => {
  server = createServer({ ...(await testCertificate()), ALPNProtocols: ['h2'], allowHalfOpen: true }, (socket) => {
    const connection = new Http2ServerConnection(socket, user, parts);
    connections.push(connection);
    connection.start();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
});

after(() => {
  for (const connection of connections) connection.destroy();
  server.close();
});

async function client(): Promise<ClientHttp2Session> {
  const session = connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
  session.on('error', () => undefined);
  // The settings: so that this side has its connection too.
  await Promise.all([once(session, 'connect'), once(session, 'remoteSettings')]);
  return session;
}

interface Reply {
  readonly headers: Record<string, unknown>;
  readonly body: Buffer;
  readonly trailers: Record<string, unknown>;
}

async function reply(stream: ClientHttp2Stream): Promise<Reply> {
  const chunks: Buffer[] = [];
  let headers = {};
  let trailers = {};
  stream.on('response', (fields) => (headers = fields));
  stream.on('trailers', (fields) => (trailers = fields));
  stream.on('data', (chunk: Buffer) => void chunks.push(chunk));
  await once(stream, 'end');
  return { headers, body: Buffer.concat(chunks), trailers };
}

test('node client: small answers, a hundred at a time', async () => {
  const session = await client();
  for (let round = 0; round < 5; round++) {
    const replies = await Promise.all(
      Array.from({ length: 100 }, (_, i) => reply(session.request({ ':path': `/get/${i}` }))),
    );
    replies.forEach(({ headers, body }, i) => {
      assert.equal(headers[':status'], 200);
      assert.equal(body.toString(), `0 bytes of /get/${i}`);
    });
  }
  session.close();
  await once(session, 'close');
  assert.deepEqual([offences, faults], [[], []]);
});

test('node client: a long download, and many side by side', async () => {
  const session = await client();
  const { body } = await reply(session.request({ ':path': '/bytes/20000000' }));
  assert.equal(body.length, 20_000_000);
  const replies = await Promise.all(
    Array.from({ length: 20 }, () => reply(session.request({ ':path': '/bytes/700001' }))),
  );
  assert.ok(replies.every((each) => each.body.length === 700_001));
  session.destroy();
});

test('node client: a long upload', async () => {
  const session = await client();
  const stream = session.request({ ':method': 'POST', ':path': '/upload' });
  const replied = reply(stream);
  const piece = Buffer.alloc(1 << 20);
  for (let i = 0; i < 30; i++) if (!stream.write(piece)) await once(stream, 'drain');
  stream.end();
  assert.equal((await replied).body.toString(), `${30 << 20} bytes of /upload`);
  session.destroy();
});

test('node client: an echo both ways at once, with trailers', async () => {
  const session = await client();
  const stream = session.request({ ':method': 'POST', ':path': '/echo' }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'x-sum': '42' }));
  const replied = reply(stream);
  const pieces = Array.from({ length: 100 }, (_, i) => Buffer.alloc(1 + i * 501, i));
  for (const piece of pieces) if (!stream.write(piece)) await once(stream, 'drain');
  stream.end();
  const { body, trailers } = await replied;
  assert.ok(body.equals(Buffer.concat(pieces)));
  assert.equal(trailers['x-sum'], '42');
  session.destroy();
});

test('node client: a head of a service, with an interim one before it', async () => {
  const session = await client();
  const stream = session.request({ ':path': '/parsed' });
  const [[hints], { headers, body }] = await Promise.all([
    once(stream, 'headers') as Promise<[Record<string, unknown>]>,
    reply(stream),
  ]);
  assert.equal(hints[':status'], 103);
  assert.equal(hints['link'], '</a.css>');
  const expected = { ':status': 201, 'content-length': '4', 'x-a': 'b', via: '1.1 edge' };
  assert.deepEqual(Object.fromEntries(Object.entries(headers)), expected);
  assert.equal(body.toString(), 'body');
  session.destroy();
});

test('node client: a reset of either side ends the stream and no other', async () => {
  const session = await client();
  const before = resets;
  const mine = session.request({ ':path': '/bytes/100000000' });
  await once(mine, 'data');
  mine.close(constants.NGHTTP2_CANCEL);
  const cut = session.request({ ':path': '/cut' });
  const [error] = (await once(cut.resume(), 'error').catch((reason: unknown) => [reason])) as [Error];
  assert.match(error.message, /INTERNAL_ERROR/);
  assert.equal((await reply(session.request({ ':path': '/still' }))).body.toString(), '0 bytes of /still');
  assert.equal(resets, before + 1);
  session.destroy();
});

test('node client: an early answer comes whole', async () => {
  const session = await client();
  const stream = session.request({ ':method': 'POST', ':path': '/early' });
  stream.on('error', () => undefined);
  const replied = reply(stream);
  const piece = Buffer.alloc(100_000);
  const writer = setInterval(() => stream.writable && stream.write(piece), 1);
  const { headers, body } = await replied;
  clearInterval(writer);
  assert.equal(headers[':status'], 413);
  assert.equal(body.toString(), 'enough');
  assert.equal((await reply(session.request({ ':path': '/still' }))).body.toString(), '0 bytes of /still');
  session.destroy();
});

test('node client: ping and settings', async () => {
  const session = await client();
  await new Promise<void>((resolve, reject) => session.ping((error) => (error ? reject(error) : resolve())));
  assert.equal(session.remoteSettings.initialWindowSize, 262_144);
  assert.equal(session.remoteSettings.maxConcurrentStreams, 100);
  assert.equal(session.remoteSettings.enableConnectProtocol, true);
  await new Promise<void>((resolve) => session.settings({ initialWindowSize: 1_000 }, () => resolve()));
  assert.equal((await reply(session.request({ ':path': '/bytes/50000' }))).body.length, 50_000);
  await new Promise<void>((resolve) => session.settings({ headerTableSize: 0 }, () => resolve()));
  assert.equal((await reply(session.request({ ':path': '/one' }))).headers[':status'], 200);
  session.destroy();
});

test('node client: a drain under load loses no request', async () => {
  for (let round = 0; round < 5; round++) {
    const session = await client();
    const connection = connections.at(-1) as Http2ServerConnection;
    const before = dones;
    const leaving = { hasGoAway: false };
    session.on('goaway', () => {
      leaving.hasGoAway = true;
    });
    const replies: Array<Promise<Reply>> = [];
    const draining = setTimeout(() => connection.drain(), 20);
    while (!leaving.hasGoAway) {
      const some = Array.from({ length: 20 }, () => reply(session.request({ ':path': '/bytes/30000' })));
      replies.push(...some);
      await Promise.race(some.map((each) => each.catch(() => undefined)));
    }
    clearTimeout(draining);
    const results = await Promise.allSettled(replies);
    // A client that has the GOAWAY sends none of what it has not sent, and may send it elsewhere.
    const lost = results.filter((each) => each.status === 'rejected' && !/REFUSED_STREAM/.test(String(each.reason)));
    assert.deepEqual(lost, []);
    const whole = results.filter((each) => each.status === 'fulfilled' && each.value.body.length === 30_000);
    if (!session.closed) session.close();
    if (!session.destroyed) await once(session, 'close');
    assert.equal(dones - before, whole.length);
  }
  assert.deepEqual([offences, faults], [[], []]);
});
