/** What one stream of a connection does to the others: nothing. And what a drain and a visitor that gives up do to those under way. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { rounds } from '../../../base/testing.ts';
import { FLAG, FRAME, type Frame, FrameVisitor, request } from '../../../../test/harness/h2-frames.ts';
import { until } from '../../fixtures/gateway.ts';
import { Http2Visitor, readAnswer } from '../testing/http2-visitor.ts';
import { httpOrigin, Rig } from '../testing/rig.ts';
import { OwnClock } from '../../../../test/harness/own-clock.ts';

const WITHIN = { timeout: 60_000 };
const MB = 1 << 20;

test('uploads that stand still hold up neither an upload nor a download beside them', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await httpOrigin(t, (incoming, response) => {
    // Those that are not read.
    if (incoming.url === '/stuck') return;
    let size = 0;
    incoming.on('data', (piece: Buffer) => (size += piece.length));
    incoming.on('end', () => response.end(incoming.method === 'POST' ? `${size}` : Buffer.alloc(8 * MB)));
  });
  await rig.serve('shop', origin.port);
  const visitor = await Http2Visitor.open(t, rig);
  const stuck = Array.from({ length: 8 }, () => {
    const stream = visitor.stream({ ':method': 'POST', ':path': '/stuck' }, false);
    stream.write(Buffer.alloc(16 * MB));
    return stream;
  });
  await setTimeout(500);
  for (let i = 0; i < rounds(1, 3); i++) {
    const [up, down] = await Promise.all([
      visitor.ask({ ':method': 'POST' }, Buffer.alloc(8 * MB)),
      visitor.ask({ ':path': '/down' }),
    ]);
    assert.deepEqual([up.body, down.body.length], [`${8 * MB}`, 8 * MB]);
  }
  for (const stream of stuck) stream.close(8);
});

test('an upload that waits is kept within its window, and gets on when its service reads', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const sockets: Socket[] = [];
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    socket.on('error', () => undefined);
    sockets.push(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  await rig.serve('shop', (server.address() as AddressInfo).port);
  const visitor = await Http2Visitor.open(t, rig);
  const stream = visitor.stream({ ':method': 'POST', 'content-length': 40 * MB }, false);
  const total = 40 * MB;
  const sent = Buffer.alloc(total);
  for (let i = 0; i < total; i += 997) sent[i] = i % 251;
  stream.end(sent);
  await until(() => sockets.length === 1);
  let before = -1;
  // Until nothing moves.
  for (let now = 0; now !== before; await setTimeout(700)) {
    before = now;
    now = (stream as unknown as { state: { localWindowSize?: number } }).state.localWindowSize ?? 0;
  }
  const read: Buffer[] = [];
  let size = 0;
  const socket = sockets[0] as Socket;
  socket.on('data', (piece: Buffer) => {
    read.push(piece);
    size += piece.length;
  });
  socket.resume();
  await until(() => size > total);
  const all = Buffer.concat(read);
  const body = all.subarray(all.indexOf('\r\n\r\n') + 4);
  assert.ok(body.equals(sent), 'in order and whole');
  const answer = readAnswer(stream);
  socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
  assert.equal((await answer).body, 'ok');
});

test(
  'a visitor that gives up is known to the service within a moment, also in the middle of an upload',
  WITHIN,
  async (t) => {
    const rig = await Rig.start(t);
    const origin = await httpOrigin(t, (incoming, response) => {
      incoming.on('error', () => undefined).resume();
      response.on('close', () => origin.emit('left'));
      origin.emit('asked');
      if (incoming.url === '/answering') response.write(Buffer.alloc(4 * MB));
    });
    await rig.serve('shop', origin.port);
    const visitor = await Http2Visitor.open(t, rig);
    for (const [path, body] of [
      ['/waiting', null],
      ['/answering', null],
      ['/sending', 200 * MB],
    ] as const) {
      const stream = visitor.stream({ ':method': body === null ? 'GET' : 'POST', ':path': path }, body === null);
      const asked = once(origin, 'asked');
      if (body !== null) stream.write(Buffer.alloc(body));
      await asked;
      await setTimeout(100);
      const gone = once(origin, 'left');
      const own = new OwnClock();
      stream.close(8);
      await gone;
      assert.ok(own.ms < 1_000, `${path}: ${own.ms} ms`);
    }
  },
);

test('an answer that comes before the request is whole reaches a visitor that sends megabytes', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await httpOrigin(t, (_incoming, response) => {
    response.statusCode = 413;
    response.end('too much');
  });
  await rig.serve('shop', origin.port);
  const visitor = await Http2Visitor.open(t, rig);
  for (let i = 0; i < 10; i++) {
    const stream = visitor.stream({ ':method': 'POST' }, false);
    const answer = readAnswer(stream);
    stream.write(Buffer.alloc(4 * MB));
    const { status, body } = await answer;
    assert.deepEqual([status, body], [413, 'too much']);
  }
  assert.equal(visitor.session.destroyed, false);
  assert.equal(rig.node.stats().dropped['h2_overhead'], 0);
});

test('a drain under load loses no request', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await httpOrigin(t, (incoming, response) => {
    setTimeout(5).then(
      () => response.end(incoming.url),
      () => undefined,
    );
  });
  await rig.serve('shop', origin.port);
  let answered = 0;
  const failures: string[] = [];
  // By frames: a library refuses by itself what it has not sent when it hears of the drain, with the code of a server that refuses.
  const load = async (): Promise<void> => {
    const visitor = await FrameVisitor.open(rig.httpsPort);
    t.after(() => visitor.socket.destroy());
    const underWay = new Set<number>();
    let last = -1;
    let isDraining = false;
    const ask = (): void => {
      if (isDraining) return;
      last += 2;
      underWay.add(last);
      visitor.ask(last, request('GET', `/${last}`));
    };
    const take = ({ type, flags, stream, payload }: Frame): void => {
      if (type === FRAME.ping && (flags & FLAG.ack) === 0) visitor.send(FRAME.ping, FLAG.ack, 0, payload);
      else if (type === FRAME.goaway) isDraining = true;
      else if (type === FRAME.rst) failures.push(`${stream} was reset with ${payload.readUInt32BE(0)}`);
      else if ((type === FRAME.data || type === FRAME.headers) && (flags & FLAG.endStream) !== 0) {
        if (visitor.bodies.get(stream) === `/${stream}`) answered++;
        else failures.push(`${stream} was answered with ${visitor.bodies.get(stream)}`);
        underWay.delete(stream);
        ask();
      }
    };
    visitor.news.on('moved', () => visitor.frames.splice(0).forEach(take));
    for (let i = 0; i < 10; i++) ask();
    await visitor.over();
    assert.deepEqual([isDraining, [...underWay]], [true, []]);
  };
  const loads = Array.from({ length: 4 }, load);
  await until(() => answered > 500);
  await Promise.all([rig.node.drain(10_000), ...loads]);
  assert.deepEqual(failures, []);
  assert.equal(rig.node.stats().connections.http, 0);
});

test('a drain refuses what comes later, and says that it was not begun', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const waiting: Array<() => void> = [];
  const origin = await httpOrigin(t, (_incoming, response) => {
    waiting.push(() => response.end('late'));
    origin.emit('asked');
  });
  await rig.serve('shop', origin.port);
  const visitor = await FrameVisitor.open(rig.httpsPort);
  t.after(() => visitor.socket.destroy());
  visitor.ask(1);
  await once(origin, 'asked');
  const drained = rig.node.drain(10_000);
  await visitor.until((frame) => frame.type === FRAME.goaway);
  // The PING that asks for a round trip is answered.
  const ping = await visitor.until((frame) => frame.type === FRAME.ping);
  visitor.ask(3, request('GET', '/under-way'));
  await once(origin, 'asked');
  visitor.send(FRAME.ping, 1, 0, ping.payload);
  await visitor.until((frame) => frame.type === FRAME.goaway && frame.payload.readUInt32BE(0) === 3);
  visitor.ask(5, request('GET', '/later'));
  assert.equal(await visitor.endOf(5), 7, 'REFUSED_STREAM');
  for (const answer of waiting) answer();
  assert.equal(await visitor.endOf(1), null);
  assert.equal(await visitor.endOf(3), null);
  await drained;
  await visitor.over();
});
