/** Proxies that a test plays: HTTP CONNECT and SOCKS5. Every name leads to this machine, so that a test has names that no DNS knows. */
import { once } from 'node:events';
import { createServer as createHttp, type IncomingMessage } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

export interface PlayedProxy {
  readonly port: number;
  /** `host:port` of each connection that was asked for, also of those that were refused. */
  readonly asked: string[];
  /** `user:password` of each login. */
  readonly logins: string[];
  /** Cuts all connections and listens no more. */
  close(): void;
}

export interface PlayedOptions {
  /** `user:password` that it requires. */
  readonly login?: string;
  /** Ports that it connects to; all when not given. */
  readonly ports?: readonly number[];
  /** Status of every CONNECT, instead of a connection. */
  readonly status?: number;
  /** It speaks TLS with this certificate. */
  readonly certificate?: { readonly cert: string; readonly key: string };
  /** Where connections to a port are sent instead: `443` on a machine where the test may not listen there. */
  readonly sends?: Readonly<Record<number, number>>;
}

export async function playHttpProxy(t: TestContext, options: PlayedOptions = {}): Promise<PlayedProxy> {
  const played = { asked: [] as string[], logins: [] as string[] };
  const { certificate } = options;
  const server = certificate === undefined ? createHttp() : createHttps(certificate);
  server.on('request', (_request, response) => response.writeHead(405).end());
  server.on('connect', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    socket.on('error', () => socket.destroy());
    const answer = (status: number): void => void socket.end(`HTTP/1.1 ${status} Played\r\nContent-Length: 0\r\n\r\n`);
    const target = request.url ?? '';
    const port = Number(target.slice(target.lastIndexOf(':') + 1));
    played.asked.push(target);
    const login = /^Basic (.+)$/.exec(request.headers['proxy-authorization'] ?? '')?.[1];
    if (login !== undefined) played.logins.push(Buffer.from(login, 'base64').toString());
    if (options.status !== undefined) return answer(options.status);
    if (options.login !== undefined && played.logins.at(-1) !== options.login) return answer(407);
    if (options.ports !== undefined && !options.ports.includes(port)) return answer(403);
    const far = connect(options.sends?.[port] ?? port, '127.0.0.1');
    far.once('error', () => answer(502));
    far.once('connect', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      far.write(head);
      join(socket, far);
    });
  });
  return listening(t, server, played);
}

export async function playSocksProxy(t: TestContext, options: PlayedOptions = {}): Promise<PlayedProxy> {
  const played = { asked: [] as string[], logins: [] as string[] };
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    void serveSocks(socket, options, played).catch(() => socket.destroy());
  });
  return listening(t, server, played);
}

async function serveSocks(
  socket: Socket,
  { login, ports, sends }: PlayedOptions,
  played: Pick<PlayedProxy, 'asked' | 'logins'>,
): Promise<void> {
  const methods = await pieceOf(socket);
  if (login === undefined) socket.write(Buffer.from([5, 0]));
  else {
    if (!methods.subarray(2).includes(2)) return void socket.end(Buffer.from([5, 0xff]));
    socket.write(Buffer.from([5, 2]));
    const sent = await pieceOf(socket);
    const user = sent.subarray(2, 2 + (sent[1] ?? 0)).toString();
    played.logins.push(`${user}:${sent.subarray(3 + user.length).toString()}`);
    const isRight = played.logins.at(-1) === login;
    socket.write(Buffer.from([1, isRight ? 0 : 1]));
    if (!isRight) return void socket.end();
  }
  const asked = await pieceOf(socket);
  const isName = asked[3] === 3;
  const host = isName ? asked.subarray(5, -2).toString() : asked.subarray(4, -2).join('.');
  const port = asked.readUInt16BE(asked.length - 2);
  played.asked.push(`${host}:${port}`);
  const reply = (code: number): boolean => socket.write(Buffer.from([5, code, 0, 1, 127, 0, 0, 1, 0, 0]));
  if (ports !== undefined && !ports.includes(port)) return void reply(2);
  const far = connect(sends?.[port] ?? port, '127.0.0.1');
  far.once('error', () => reply(5));
  far.once('connect', () => {
    reply(0);
    join(socket, far);
  });
}

/** One message of a client: none of them waits in two pieces on this machine. */
async function pieceOf(socket: Socket): Promise<Buffer> {
  const [piece] = (await once(socket, 'data')) as [Buffer];
  return piece;
}

function join(one: Socket, other: Socket): void {
  one.pipe(other).pipe(one);
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.on('error', () => to.destroy());
    from.once('close', () => to.destroy());
  }
}

async function listening(
  t: TestContext,
  server: Server,
  played: Pick<PlayedProxy, 'asked' | 'logins'>,
): Promise<PlayedProxy> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const close = (): void => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(close);
  return { ...played, port: (server.address() as AddressInfo).port, close };
}
