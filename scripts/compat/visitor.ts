/**
 * Visitors of the tunnels of a stage. Public names are not resolved: the connection goes to the server's HTTPS listener on loopback. Other programs
 * come by a proxy that does the same.
 */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { WebSocket } from 'ws';
import type { Ends } from '../../test/harness/ends.ts';

const DEADLINE_MS = 60_000;

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly text: string;
}

export interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export class Visitor {
  readonly #port: number;
  readonly #cert: string;

  /** `cert`: the server's certificate, which the visitor trusts. */
  constructor(port: number, cert: string) {
    this.#port = port;
    this.#cert = cert;
  }

  /** Any status is a reply; redirects are not followed. */
  async ask(url: URL, { method = 'GET', headers = {}, body }: Asked = {}): Promise<Reply> {
    const outgoing = request({
      ...this.#route(url),
      path: url.pathname + url.search,
      method,
      headers: { host: url.host, ...headers },
      agent: false,
      signal: AbortSignal.timeout(DEADLINE_MS),
    });
    outgoing.end(body);
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    const bytes = await buffer(response);
    return { status: response.statusCode ?? 0, headers: response.headers, bytes, text: bytes.toString() };
  }

  /** A WebSocket as a page of the same site opens it. */
  socket(url: URL, protocols: readonly string[] = []): WebSocket {
    const options = {
      ...this.#route(url),
      headers: { host: url.host, origin: url.origin },
      handshakeTimeout: DEADLINE_MS,
    };
    return new WebSocket(`wss://127.0.0.1:${this.#port}${url.pathname}${url.search}`, [...protocols], options);
  }

  #route(url: URL) {
    return { host: '127.0.0.1', port: this.#port, servername: url.hostname, ca: this.#cert };
  }
}

/** An HTTP proxy with CONNECT, for clients that resolve names themselves. Resolves with its URL. */
export async function startProxy(t: Ends, httpsPort: number): Promise<string> {
  const open = new Set<Socket>();
  const proxy = createServer((_, response) => response.writeHead(501).end());
  proxy.on('connect', (_, visitor: Socket) => {
    const edge = connect(httpsPort, '127.0.0.1', () => visitor.write('HTTP/1.1 200 OK\r\n\r\n'));
    for (const [from, to] of [
      [visitor, edge],
      [edge, visitor],
    ] as const) {
      open.add(from);
      from.on('error', () => to.destroy()).on('close', () => open.delete(from));
      from.pipe(to);
    }
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  t.after(() => {
    for (const socket of open) socket.destroy();
    proxy.close();
  });
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}

/** The messages of a WebSocket, one at a time, as JSON. */
export class Messages {
  readonly #socket: WebSocket;
  readonly #waiting: unknown[] = [];
  #wake = Promise.withResolvers<void>();
  #failure: Error | undefined;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (data: Buffer) => {
      this.#waiting.push(JSON.parse(data.toString()));
      this.#wake.resolve();
    });
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', (code) => this.#fail(new Error(`the WebSocket was closed with ${code}`)));
  }

  /** Rejects when the handshake is refused. */
  async opened(): Promise<void> {
    if (this.#socket.readyState === WebSocket.CONNECTING) await once(this.#socket, 'open');
  }

  send(message: object): void {
    this.#socket.send(JSON.stringify(message));
  }

  /** The next message that fits; others before it are dropped. */
  async until<T>(fits: (message: T) => boolean): Promise<T> {
    const timer = setTimeout(() => this.#fail(new Error('no such message in 60 s')), DEADLINE_MS);
    try {
      for (;;) {
        const message = this.#waiting.shift() as T | undefined;
        if (message !== undefined && fits(message)) return message;
        if (message !== undefined) continue;
        if (this.#failure !== undefined) throw this.#failure;
        await this.#wake.promise;
        this.#wake = Promise.withResolvers();
      }
    } finally {
      clearTimeout(timer);
    }
  }

  close(): void {
    this.#socket.terminate();
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#wake.resolve();
  }
}
