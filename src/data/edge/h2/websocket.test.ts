/** WebSockets over HTTP/2 (RFC 8441): bytes of a stream in place of a connection's. Client: node:http2; service: ws. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2';
import { type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { WebSocketServer } from 'ws';
import { recordOf } from '../../inspect/testing.ts';
import { Http2Visitor } from '../testing/http2-visitor.ts';
import { httpOrigin, perHead, Rig, type RigOptions, rawOrigin } from '../testing/rig.ts';

const WITHIN = { timeout: 60_000 };
const CONNECT = { ':method': 'CONNECT', ':protocol': 'websocket', ':path': '/feed?a=1', 'sec-websocket-version': '13' };

/** A frame of a client, masked by zeros (RFC 6455 §5.2). */
function masked(opcode: number, payload: Buffer): Buffer {
  const { length } = payload;
  const head = Buffer.alloc(length < 126 ? 6 : length < 65_536 ? 8 : 14);
  head[0] = 0x80 | opcode;
  head[1] = 0x80 | (length < 126 ? length : length < 65_536 ? 126 : 127);
  if (length >= 65_536) head.writeUInt32BE(length, 6);
  else if (length >= 126) head.writeUInt16BE(length, 2);
  return Buffer.concat([head, payload]);
}

/** The client's end of a WebSocket: frames in, frames out. */
class Socket {
  readonly stream: ClientHttp2Stream;
  readonly response: Promise<IncomingHttpHeaders>;
  #bytes = Buffer.alloc(0);

  constructor(stream: ClientHttp2Stream) {
    this.stream = stream;
    this.response = once(stream, 'response').then(([fields]) => fields as IncomingHttpHeaders);
    stream.on('data', (bytes: Buffer) => {
      this.#bytes = Buffer.concat([this.#bytes, bytes]);
      stream.emit('moved');
    });
  }

  say(payload: Buffer | string, opcode = 2): void {
    this.stream.write(masked(opcode, Buffer.from(payload)));
  }

  /** The next frame of the server. */
  async hear(): Promise<{ opcode: number; payload: Buffer }> {
    for (;;) {
      const all = this.#bytes;
      const short = (all[1] ?? 0) & 127;
      const start = short < 126 ? 2 : short === 126 ? 4 : 10;
      if (all.length >= start) {
        const length = short < 126 ? short : short === 126 ? all.readUInt16BE(2) : all.readUInt32BE(6);
        if (all.length >= start + length) {
          this.#bytes = all.subarray(start + length);
          return { opcode: (all[0] as number) & 15, payload: all.subarray(start, start + length) };
        }
      }
      await once(this.stream, 'moved');
    }
  }
}

async function visit(t: TestContext, rig: Rig): Promise<Http2Visitor> {
  const visitor = await Http2Visitor.open(t, rig);
  if (visitor.session.remoteSettings?.enableConnectProtocol !== true) await once(visitor.session, 'remoteSettings');
  assert.equal(visitor.session.remoteSettings.enableConnectProtocol, true);
  return visitor;
}

/** A service that sends back what it gets; `close` closes, `who` says what it was asked with. */
async function echoing(
  t: TestContext,
  options: RigOptions = {},
): Promise<{ rig: Rig; visitor: Http2Visitor; closes: number[] }> {
  const rig = await Rig.start(t, options);
  const origin = await httpOrigin(t, (_request, response) => response.end('no socket'));
  const server = new WebSocketServer({ server: origin, handleProtocols: (offered) => [...offered][0] ?? false });
  t.after(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });
  const closes: number[] = [];
  server.on('connection', (socket, request) => {
    socket.on('message', (data, isBinary) => {
      if (String(data) === 'close') socket.close(4001, 'asked');
      else if (String(data) === 'who')
        socket.send(`${request.method} ${request.url} ${request.httpVersion} ${request.headers['x-forwarded-proto']}`);
      else socket.send(data, { binary: isBinary });
    });
    socket.on('error', () => undefined);
    socket.on('close', (code) => {
      closes.push(code);
      origin.emit('closed');
    });
  });
  await rig.serve('shop', origin.port);
  return { rig, visitor: await visit(t, rig), closes };
}

test(
  'WebSocket frames of all sizes pass both ways over HTTP/2, several at a time, and either side may close',
  WITHIN,
  async (t) => {
    const { rig, visitor, closes } = await echoing(t);
    const sockets = Array.from(
      { length: 5 },
      () => new Socket(visitor.stream({ ...CONNECT, 'sec-websocket-protocol': 'chat' }, false)),
    );
    for (const socket of sockets) {
      const fields = await socket.response;
      assert.equal(fields[':status'], 200);
      assert.equal(fields['sec-websocket-protocol'], 'chat');
      for (const name of ['connection', 'upgrade', 'sec-websocket-accept']) assert.equal(fields[name], undefined, name);
    }
    const [first] = sockets as [Socket];
    first.say('who', 1);
    assert.equal((await first.hear()).payload.toString(), 'GET /feed?a=1 1.1 https');
    await Promise.all(
      sockets.map(async (socket, i) => {
        for (const size of [0, 1, 125, 126, 65_535, 65_536, 1_000_000]) {
          const sent = Buffer.alloc(size, size + i);
          socket.say(sent);
          assert.ok((await socket.hear()).payload.equals(sent), `${size} bytes`);
        }
      }),
    );
    // The service closes, and ends its side.
    first.say('close', 1);
    const { opcode, payload } = await first.hear();
    assert.deepEqual([opcode, payload.readUInt16BE(0)], [8, 4001]);
    first.say(payload, 8);
    await once(first.stream, 'end');
    first.stream.end();
    // The visitor closes.
    const second = sockets[1] as Socket;
    second.say(Buffer.from([0x0f, 0xa2]), 8);
    assert.equal((await second.hear()).opcode, 8);
    second.stream.end();
    while (closes.length < 2) await setTimeout(10);
    assert.deepEqual(closes.toSorted(), [4001, 4002]);
    assert.equal(rig.node.stats().dropped['h2_protocol'], 0);
  },
);

test(
  'a WebSocket over HTTP/2 that the visitor resets, or the service cuts, is cut on the other side',
  WITHIN,
  async (t) => {
    const { visitor, closes } = await echoing(t);
    const socket = new Socket(visitor.stream(CONNECT, false));
    await socket.response;
    socket.stream.close(8);
    while (closes.length === 0) await setTimeout(10);
    assert.deepEqual(closes, [1006]);

    const rig = await Rig.start(t);
    const origin = await rawOrigin(
      t,
      perHead((connection, head) => {
        connection.write(switching(head));
        connection.once('data', () => connection.resetAndDestroy());
      }),
    );
    await rig.serve('shop', origin.port);
    const other = new Socket((await visit(t, rig)).stream(CONNECT, false));
    assert.equal((await other.response)[':status'], 200);
    other.say('x');
    await closed(other.stream);
    assert.equal(other.stream.rstCode, 8, 'CANCEL');
  },
);

/** Resolves once the stream is over, however it ends. */
function closed(stream: ClientHttp2Stream): Promise<void> {
  return new Promise((resolve) => void stream.once('close', resolve));
}

/** The service's answer to an upgrade; `accept`: in place of the right proof. */
function switching(head: string, accept?: string): string {
  const key = /\r\nsec-websocket-key: (.*)\r\n/i.exec(head)?.[1] ?? '';
  const proof = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
  return `HTTP/1.1 101 Go\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${accept ?? proof}\r\n\r\n`;
}

test('the service gets a key of the edge, and its proof is checked', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  let answer: (head: string) => string = switching;
  const origin = await rawOrigin(
    t,
    perHead((connection, head) => connection.write(answer(head))),
  );
  await rig.serve('shop', origin.port);
  const visitor = await visit(t, rig);
  const status = async (): Promise<unknown> => {
    const stream = visitor.stream({ ...CONNECT, 'sec-websocket-key': 'bm90IHRoaXMga2V5IDEyMw==' }, false);
    const [fields] = (await once(stream, 'response')) as [IncomingHttpHeaders];
    stream.on('data', () => undefined);
    stream.close(8);
    return fields['culvert-error'] ?? fields[':status'];
  };
  assert.equal(await status(), 200);
  assert.match(
    origin.texts[0] ?? '',
    /^GET \/feed\?a=1 HTTP\/1\.1\r\n[^]*\r\nsec-websocket-key: [\w+/]{22}==\r\n[^]*\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n$/i,
  );
  assert.equal((origin.texts[0] ?? '').match(/sec-websocket-key/gi)?.length, 1);
  assert.doesNotMatch(origin.texts[0] ?? '', /bm90IHRoaXM/);
  for (const wrong of [
    (head: string) => switching(head, 'AAAAAAAAAAAAAAAAAAAAAAAAAAA='),
    () => 'HTTP/1.1 101 Go\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    () => 'HTTP/1.1 101 Go\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n',
  ]) {
    answer = wrong;
    assert.equal(await status(), 'local_bad_response');
  }
});

test('what is no WebSocket is refused, and a service that has none says so', WITHIN, async (t) => {
  const { rig, visitor } = await echoing(t);
  const statusOf = async (fields: Record<string, string>): Promise<unknown> => {
    const stream = visitor.stream(fields, false);
    const [got] = (await once(stream, 'response')) as [IncomingHttpHeaders];
    stream.close(8);
    return got[':status'];
  };
  assert.equal(await statusOf({ ...CONNECT, ':protocol': 'connect-udp' }), 400);
  // The service asks for version 13.
  assert.equal(await statusOf({ ...CONNECT, 'sec-websocket-version': '7' }), 400);
  rig.route('shop', { policy: { setAt: 1, actions: [{ kind: 'deny', pathPrefix: '/feed', enforce: true }] } });
  assert.equal(await statusOf(CONNECT), 403, 'the policy is asked');
  rig.route('shop', {});
  const plain = await httpOrigin(t, (_request, response) => response.end('no socket'));
  await rig.serve('shop', plain.port);
  assert.equal(await statusOf(CONNECT), 200);
});

test('frames and bytes of a WebSocket over HTTP/2 are in its record', WITHIN, async (t) => {
  const { rig, visitor } = await echoing(t);
  const socket = new Socket(visitor.stream(CONNECT, false));
  await socket.response;
  for (const said of ['hello', Buffer.alloc(70_000)]) {
    socket.say(said);
    await socket.hear();
  }
  socket.stream.close();
  await closed(socket.stream);
  for (;;) {
    await rig.node.flushInspections();
    const end = rig.link.inspections.flatMap(({ websockets }) => websockets ?? []).at(-1);
    if (end === undefined || end.isOpen) {
      await setTimeout(1);
      continue;
    }
    const { bytesIn, bytesOut, framesIn, framesOut, isFramed, id } = end;
    assert.deepEqual([framesIn, framesOut, isFramed], [2, 2, true]);
    assert.deepEqual([bytesIn, bytesOut], [11 + 70_014, 7 + 70_010]);
    assert.equal(id, (await recordOf(rig)).id);
    break;
  }
});

test(
  'a WebSocket over HTTP/2 that is idle, or whose tunnel ends, is cut, and is recorded with 101',
  WITHIN,
  async (t) => {
    const { rig, visitor } = await echoing(t, { limits: { websocketIdleSeconds: 1 }, sweepMs: 100 });
    const idle = new Socket(visitor.stream(CONNECT, false));
    await idle.response;
    const record = await recordOf(rig);
    assert.deepEqual([record.status, record.trace.httpVersion, record.method], [101, '2', 'GET']);
    await closed(idle.stream);
    assert.notEqual(idle.stream.rstCode, 0);
    assert.equal(rig.node.stats().dropped['websocket_idle'], 1);
    const busy = new Socket(visitor.stream(CONNECT, false));
    await busy.response;
    rig.remove('shop');
    await closed(busy.stream);
    assert.equal(busy.stream.rstCode, 2, 'INTERNAL_ERROR');
  },
);

test(
  'what a visitor sends before its WebSocket is there waits, and an end of one side reaches the other',
  WITHIN,
  async (t) => {
    const rig = await Rig.start(t);
    const origin = await rawOrigin(t, () => undefined);
    await rig.serve('shop', origin.port);
    const visitor = await visit(t, rig);
    const stream = visitor.stream(CONNECT, false);
    stream.write('early ');
    stream.setEncoding('latin1');
    let heard = '';
    stream.on('data', (text: string) => (heard += text));
    const head = await origin.arrived(/\r\n\r\n$/);
    await setTimeout(100);
    assert.match(origin.texts[0] ?? '', /\r\n\r\n$/, 'nothing of it came before the answer');
    origin.sockets[0]?.write(`${switching(head)}first`);
    await origin.arrived(/early $/);
    stream.end('late');
    await origin.arrived(/early late$/);
    await once(origin.sockets[0] as NonNullable<(typeof origin.sockets)[0]>, 'end');
    await once(stream, 'end');
    assert.equal(heard, 'first');
  },
);
