/** The service behind both engines: it remembers each request by its key, and answers in one of many ways that the key decides. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Scope } from '../../../src/data/edge/testing/rig.ts';

export interface Seen {
  /** Request line and fields, as they came; without those that name the connection. */
  readonly head: string;
  /** Changes until `end` is known. */
  bodyBytes: number;
  trailers: string;
  end: 'open' | 'whole' | 'cut';
  /** The service could not read it, and has answered at once: what the visitor sends besides comes before or behind that. */
  readonly isRefused?: boolean;
}

/** Fields that the edge adds, which differ from connection to connection. */
const VARYING = /^(?:x-request-id|x-forwarded-port|traceparent)$/i;
const KINDS = 14;
const LONG = Buffer.alloc(100_000, 'long ');
const DATE = ['Date', 'Thu, 01 Jan 1970 00:00:00 GMT'] as const;

export class Service {
  readonly #seen = new Map<string, Seen>();
  readonly #server: Server;
  /** Called whenever something is seen. */
  onMoved: (key: string) => void = () => {};

  constructor(t: Scope) {
    this.#server = createServer({ keepAliveTimeout: 60_000 }, (incoming, response) => this.#take(incoming, response));
    this.#server.on('checkContinue', (incoming: IncomingMessage, response: ServerResponse) => {
      response.writeContinue();
      this.#take(incoming, response);
    });
    this.#server.on('checkExpectation', (incoming: IncomingMessage, response: ServerResponse) =>
      this.#take(incoming, response),
    );
    this.#server.on('clientError', (error: Error & { rawPacket?: Buffer }, socket: Socket) => {
      const text = error.rawPacket?.toString('latin1') ?? '';
      const key = /x-case: ?([\d.]+)/i.exec(text)?.[1];
      if (key !== undefined)
        this.#see(key, { head: refusedHead(text), bodyBytes: 0, trailers: '', end: 'cut', isRefused: true });
      socket.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
    });
    t.after(() => {
      this.#server.closeAllConnections();
      this.#server.close();
    });
  }

  async listen(): Promise<number> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  seen(key: string): Seen | undefined {
    return this.#seen.get(key);
  }

  forget(key: string): void {
    this.#seen.delete(key);
  }

  #see(key: string, seen: Seen): void {
    this.#seen.set(key, seen);
    this.onMoved(key);
  }

  #take(incoming: IncomingMessage, response: ServerResponse): void {
    const key = String(incoming.headers['x-case']);
    const lines = pairs(incoming.rawHeaders).filter(([name]) => !VARYING.test(name));
    const head = [`${incoming.method} ${incoming.url}`, ...lines.map(([name, value]) => `${name}: ${value}`)].join(
      '\n',
    );
    const seen: Seen = { head, bodyBytes: 0, trailers: '', end: 'open' };
    this.#see(key, seen);
    incoming.on('data', (bytes: Buffer) => (seen.bodyBytes += bytes.length));
    incoming.on('error', () => undefined); // 'close' follows
    incoming.on('end', () => {
      seen.end = 'whole';
      seen.trailers = pairs(incoming.rawTrailers)
        .map(([name, value]) => `${name}: ${value}`)
        .join('\n');
    });
    incoming.on('close', () => {
      if (seen.end === 'open') seen.end = 'cut';
      this.onMoved(key);
    });
    incoming.on('end', () => {
      this.onMoved(key);
      answer(kindOf(key), incoming, response);
    });
  }
}

/** Of the bytes that a parser gave up, the head: what follows it is chance. */
function refusedHead(text: string): string {
  const [head = ''] = text.split('\r\n\r\n');
  return head
    .split('\r\n')
    .filter((line) => !VARYING.test(line.slice(0, Math.max(0, line.indexOf(':')))))
    .join('\n');
}

/** Which of the answers a key gets. */
function kindOf(key: string): number {
  return (createHash('md5').update(key).digest()[0] as number) % KINDS;
}

function answer(kind: number, incoming: IncomingMessage, response: ServerResponse): void {
  const fields = [...DATE, 'X-Kind', String(kind)];
  const send = (status: number, more: readonly string[], ...body: (string | Buffer)[]): void => {
    response.writeHead(status, [...fields, ...more]);
    for (const piece of body) response.write(piece);
    response.end();
  };
  switch (kind) {
    case 0:
      return send(200, ['Content-Length', '2'], 'ok');
    case 1:
      return send(200, ['Transfer-Encoding', 'chunked'], 'in ', 'pieces');
    case 2:
      return send(204, []);
    case 3:
      return send(304, ['ETag', '"a"']);
    case 4:
      return send(200, ['Content-Length', '0', 'Set-Cookie', 'a=1', 'Set-Cookie', 'b=2', 'X-UPPER', 'Value']);
    case 5:
      return send(200, ['Content-Length', String(LONG.length)], LONG);
    case 6:
      response.writeHead(200, [...fields, 'Transfer-Encoding', 'chunked', 'Trailer', 'X-Sum']);
      response.write('body');
      response.addTrailers([
        ['X-Sum', 'abc'],
        ['grpc-status', '0'],
      ]);
      return void response.end();
    case 7:
      response.writeEarlyHints({ link: '</a.css>; rel=preload' });
      return send(200, ['Content-Length', '2'], 'ok');
    case 8:
      response.writeProcessing();
      return send(404, ['Content-Length', '4'], 'none');
    case 9:
      // Until the connection ends.
      response.shouldKeepAlive = false;
      response.useChunkedEncodingByDefault = false;
      return send(200, ['Connection', 'close'], 'to the end');
    case 10:
      return send(500, ['Content-Length', '0', 'Keep-Alive', 'timeout=5', 'X-Long', 'v'.repeat(5_000)]);
    case 11:
      return send(302, ['Location', '/b?c', 'Content-Length', '0', 'Cache-Control', 'no-store']);
    case 12:
      // Less than announced.
      response.writeHead(200, [...fields, 'Content-Length', '100']);
      response.write('cut');
      return void setImmediate(() => incoming.socket.destroy());
    default:
      return void incoming.socket.destroy();
  }
}

function pairs(raw: readonly string[]): Array<readonly [string, string]> {
  return Array.from({ length: raw.length / 2 }, (_, i) => [raw[2 * i] as string, raw[2 * i + 1] as string] as const);
}
