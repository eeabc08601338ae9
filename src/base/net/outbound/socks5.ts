/** A way through a SOCKS5 proxy: CONNECT of RFC 1928, with the user and password of RFC 1929. */
import { lookup } from 'node:dns/promises';
import { connect, isIP, isIPv4, type Socket } from 'node:net';
import { ipv6Words, formatHostPort, type HostPort } from '../addr.ts';
import { codeOf, messageOf } from '../../errors.ts';
import { type Proxy, ProxyError, unreachableProxy } from './proxy.ts';

const VERSION = 5;
const NO_LOGIN = 0;
const PASSWORD = 2;
const NONE_ACCEPTED = 0xff;
const NAME = 3;
const MAX_TEXT = 255;

/** By the number of a reply; `isPassing`: it may work later. */
const REFUSALS: Readonly<Record<number, { readonly text: string; readonly isPassing: boolean }>> = {
  1: { text: 'has failed', isPassing: true },
  2: { text: 'does not allow this connection', isPassing: false },
  3: { text: 'has no route to that network', isPassing: true },
  4: { text: "can't reach that host", isPassing: true },
  5: { text: 'was refused by that host', isPassing: true },
  6: { text: 'gave up waiting for that host', isPassing: true },
};

/** Resolves with the open way to `place`. @throws ProxyError, or the reason of `signal`. */
export async function socksThrough(proxy: Proxy, place: HostPort, signal: AbortSignal): Promise<Socket> {
  const named = proxy.kind === 'socks5' ? await resolved(proxy, place) : place;
  const socket = connect({ host: proxy.host, port: proxy.port, noDelay: true });
  const onAbort = (): void => void socket.destroy(new Error('canceled'));
  signal.addEventListener('abort', onAbort);
  const reader = new Reader(socket);
  try {
    if (signal.aborted) onAbort();
    await login(proxy, socket, reader);
    await ask(proxy, { socket, reader, place: named });
    return reader.release();
  } catch (error) {
    socket.on('error', () => undefined); // a destroyed socket may still report; the reason is already known
    socket.destroy();
    throw error instanceof ProxyError || signal.aborted ? error : unreachableProxy(proxy, error);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

async function resolved(proxy: Proxy, place: HostPort): Promise<HostPort> {
  try {
    return { ...place, host: (await lookup(place.host)).address };
  } catch (cause) {
    const why = `this machine finds no address of ${place.host} (${codeOf(cause) ?? messageOf(cause)}). With socks5h:// the proxy looks it up`;
    throw new ProxyError(proxy, why, { cause, isPassing: true });
  }
}

async function login(proxy: Proxy, socket: Socket, reader: Reader): Promise<void> {
  const { user, password, namedBy } = proxy;
  socket.write(Buffer.from(user === undefined ? [VERSION, 1, NO_LOGIN] : [VERSION, 2, NO_LOGIN, PASSWORD]));
  const [version, method] = await reader.take(2);
  if (version !== VERSION) {
    throw new ProxyError(proxy, `is no SOCKS5 proxy. Check ${namedBy}`, { isPassing: false });
  }
  if (method === NONE_ACCEPTED || (method === PASSWORD && user === undefined)) {
    const fix = `Put user and password into ${namedBy}: socks5h://USER:PASSWORD@HOST:PORT`;
    throw new ProxyError(proxy, `requires a login. ${fix}`, { isPassing: false });
  }
  if (method !== PASSWORD) return;
  const [name, word] = [Buffer.from(user ?? ''), Buffer.from(password.reveal())];
  if (name.length > MAX_TEXT || word.length > MAX_TEXT) {
    throw new ProxyError(proxy, `user and password have at most ${MAX_TEXT} bytes`, { isPassing: false });
  }
  socket.write(Buffer.concat([Buffer.from([1, name.length]), name, Buffer.from([word.length]), word]));
  const [, status] = await reader.take(2);
  if (status !== 0) {
    throw new ProxyError(proxy, `rejects the user or the password in ${namedBy}`, { isPassing: false });
  }
}

async function ask(
  proxy: Proxy,
  { socket, reader, place }: { socket: Socket; reader: Reader; place: HostPort },
): Promise<void> {
  const port = Buffer.from([place.port >> 8, place.port & 0xff]);
  socket.write(Buffer.concat([Buffer.from([VERSION, 1, 0]), addressBytes(place.host), port]));
  const [, reply = 1, , kind] = await reader.take(4);
  if (reply !== 0) {
    const { text, isPassing } = REFUSALS[reply] ?? { text: `replied with error ${reply}`, isPassing: false };
    throw new ProxyError(proxy, `${text}: ${formatHostPort(place)}`, { isPassing });
  }
  // The address that the proxy is bound to, which the agent does not need: its length depends on its kind.
  const size = kind === NAME ? ((await reader.take(1))[0] ?? 0) : kind === 4 ? 16 : 4;
  await reader.take(size + 2);
}

function addressBytes(host: string): Buffer {
  if (isIPv4(host)) return Buffer.from([1, ...host.split('.').map(Number)]);
  if (isIP(host) === 6) return Buffer.from([4, ...ipv6Words(host).flatMap(twoBytes)]);
  const name = Buffer.from(host);
  return Buffer.concat([Buffer.from([NAME, name.length]), name]);
}

function twoBytes(word: string): [number, number] {
  const number = Number.parseInt(word, 16);
  return [number >> 8, number & 0xff];
}

/** Takes exact numbers of bytes; what follows them stays in the socket. */
class Reader {
  readonly #socket: Socket;
  #failed: Error | undefined;
  #wake: (() => void) | undefined;
  readonly #onReadable = (): void => this.#wake?.();
  readonly #onEnd = (): void => this.#fail(new Error('the connection closed'));
  readonly #onError = (error: Error): void => this.#fail(error);

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('readable', this.#onReadable);
    socket.on('end', this.#onEnd);
    socket.on('close', this.#onEnd);
    socket.on('error', this.#onError);
  }

  async take(bytes: number): Promise<Buffer> {
    for (;;) {
      const found = this.#socket.read(bytes) as Buffer | null;
      if (found !== null) return found;
      if (this.#failed !== undefined) throw this.#failed;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** The socket, for another reader. */
  release(): Socket {
    const socket = this.#socket;
    socket.off('readable', this.#onReadable);
    socket.off('end', this.#onEnd);
    socket.off('close', this.#onEnd);
    socket.off('error', this.#onError);
    return socket;
  }

  #fail(error: Error): void {
    this.#failed ??= error;
    this.#wake?.();
  }
}
