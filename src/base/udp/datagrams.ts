/**
 * UDP sockets of private networks: the public port and the way to the agent on a data node; the way to the server and the local sockets of
 * an agent. A datagram is sent now or not at all, for one that waits is worth less than the next one; what the kernel has no room for is
 * the caller's to count. An address is looked up once, when the socket is opened. On 64-bit Linux datagrams are read and sent many at a time (in.ts, out.ts),
 * elsewhere as node:dgram does it; `datagrams.test.ts` fails when the fast way is gone.
 */
import { createSocket, type Socket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { type BatchedSocket, findCalls, handleOf, type UdpHandle } from './calls.ts';
import { DatagramDrain, Inlet } from './in.ts';
import { DatagramLine, Outlet } from './out.ts';

/** Takes `bytes[start, end)`: valid until it returns. `address` and `port` are the sender's. */
export type OnDatagram = (bytes: Buffer, start: number, end: number, address: string, port: number) => void;

export interface DatagramSocket {
  /** The local one. */
  readonly port: number;
  /** Many datagrams are read and sent at a time. */
  readonly isBatched: boolean;
  /**
   * Sends now or not at all; false: it can't be sent (closed, too long, no address, port 0; without batches: no room). A connected socket leaves port and
   * address out. The bytes may be reused once it returns. `address` is one of IPv4 or IPv6 as `OnDatagram` gives it, not a name. It leaves when
   * the code that sends returns to Node; `onLost` reports what the system did not take then.
   */
  send(bytes: Buffer, start: number, end: number, port?: number, address?: string): boolean;
  /** May be called twice. Nothing is heard afterwards. */
  close(): void;
}

export interface DatagramOptions {
  /** An address or a name. On `::` IPv4 is heard too, from `::ffff:` addresses. */
  readonly host: string;
  readonly port: number;
  readonly onDatagram: OnDatagram;
  /** What the system says later, and what `onDatagram` throws; the socket goes on. */
  readonly onError: (error: Error) => void;
  /** So many datagrams that `send` took did not leave: the system had no room, or an error said why not. */
  readonly onLost?: (count: number) => void;
  /** False: as node:dgram does it, one at a time. */
  readonly batched?: boolean;
}

/**
 * What is asked of the system for bytes that were received and not read; Linux gives at most `net.core.rmem_max`. The default of 208 KB holds
 * under 300 small datagrams: less than what comes in while garbage is collected.
 */
const RECEIVE_BYTES = 4 << 20;
const SEND_BYTES = 1 << 20;
/** Sends that may wait in Node where it does not say at once what became of them. */
const MAX_WAITING = 64;

/** Binds a port; 0: one of the system's choice. Rejects when the address can't be bound (EADDRINUSE …). */
export async function bindDatagrams(of: DatagramOptions): Promise<DatagramSocket> {
  const { address, socket } = await make(of.host);
  await opened(socket, 'listening', () => socket.bind({ port: of.port, address, exclusive: true }));
  return wrap(socket, of);
}

/** Connected: hears that peer alone. `onError` reports a refusal by the peer (ICMP), which ends nothing. Rejects when there is no way to the peer. */
export async function connectDatagrams(of: DatagramOptions): Promise<DatagramSocket> {
  const { address, socket } = await make(of.host);
  await opened(socket, 'connect', () => socket.connect(of.port, address));
  return wrap(socket, of);
}

interface Shared {
  readonly drain: DatagramDrain;
  readonly line: DatagramLine;
}

function wrap(socket: Socket, of: DatagramOptions): DatagramSocket {
  widen(socket);
  return (of.batched === false ? undefined : BatchedDatagrams.over(socket, of)) ?? new PlainDatagrams(socket, of);
}

/** IPv4 first: UDP has no handshake that tells which of several addresses answers, and services that hear one family hear that. */
async function make(host: string): Promise<{ address: string; socket: Socket }> {
  const family = isIP(host);
  const found = family === 0 ? await lookup(host, { order: 'ipv4first' }) : { address: host, family };
  const type = found.family === 6 ? 'udp6' : 'udp4';
  // Node looks up each address that one sends to; these are none that need it.
  const socket = createSocket({ type, lookup: (literal, _options, done) => done(null, literal, found.family) });
  return { address: found.address, socket };
}

function opened(socket: Socket, event: 'listening' | 'connect', begin: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (error: Error): void => {
      socket.close();
      reject(error);
    };
    socket.once('error', failed);
    socket.once(event, () => {
      socket.off('error', failed);
      resolve();
    });
    begin();
  });
}

/** By what node:dgram documents. It says later, if at all, what became of a datagram, and keeps its bytes until then: they are copied. */
class PlainDatagrams implements DatagramSocket {
  readonly port: number;
  readonly isBatched: boolean = false;
  readonly #socket: Socket;
  readonly #of: DatagramOptions;
  #open = true;
  readonly #sent = (error: Error | null): void => {
    if (error) this.lost(1, error);
  };

  constructor(socket: Socket, of: DatagramOptions) {
    this.#socket = socket;
    this.#of = of;
    this.port = socket.address().port;
    socket.on('error', (error) => this.lost(0, error));
    socket.on('message', (bytes, from) => {
      this.take(bytes, 0, bytes.length, from.address, from.port);
      this.taken();
    });
  }

  get isOpen(): boolean {
    return this.#open;
  }

  send(bytes: Buffer, start: number, end: number, port?: number, address?: string): boolean {
    if (!this.#open || isNowhere(address, port) || this.#socket.getSendQueueCount() >= MAX_WAITING) return false;
    const copy = Buffer.from(bytes.subarray(start, end));
    if (address === undefined) this.#socket.send(copy, this.#sent);
    else this.#socket.send(copy, port, address, this.#sent);
    return true;
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#socket.close();
  }

  take(bytes: Buffer, start: number, end: number, address: string, port: number): void {
    if (!this.#open) return;
    try {
      this.#of.onDatagram(bytes, start, end, address, port);
    } catch (error) {
      this.#of.onError(error instanceof Error ? error : new Error('a datagram was not handled', { cause: error }));
    }
  }

  /** `count` did not leave; the first of them because of `error`, or null: for want of room. */
  lost(count: number, error: Error | null): void {
    if (!this.#open) return;
    if (count > 0) this.#of.onLost?.(count);
    if (error !== null) this.#of.onError(error);
  }

  /** A datagram that Node read was taken. */
  protected taken(): void {}
}

/** With the rest of what there is to read, and with what is sent, in batches. */
class BatchedDatagrams extends PlainDatagrams implements BatchedSocket {
  /**
   * What the sockets of a thread have together: memory, the line of what is sent, and whose turn it is. Made with the first of them, and not
   * handed down, for it belongs to the thread as its event loop does. Null: on this machine it goes one at a time.
   */
  static #shared: Shared | null | undefined;
  override readonly isBatched: boolean = true;
  readonly #inlet: Inlet;
  readonly #outlet: Outlet;

  /** Undefined: this Node or this machine has not what it takes. */
  static over(socket: Socket, of: DatagramOptions): BatchedDatagrams | undefined {
    const handle = handleOf(socket);
    if (handle === undefined) return undefined;
    if (BatchedDatagrams.#shared === undefined) {
      const calls = findCalls();
      const shared = calls === undefined ? null : { drain: new DatagramDrain(calls), line: new DatagramLine(calls) };
      BatchedDatagrams.#shared = shared;
    }
    const shared = BatchedDatagrams.#shared;
    return shared === null ? undefined : new BatchedDatagrams(socket, of, { ...shared, handle });
  }

  constructor(socket: Socket, of: DatagramOptions, { drain, line, handle }: Shared & { readonly handle: UdpHandle }) {
    super(socket, of);
    this.#inlet = new Inlet(drain, handle, this);
    this.#outlet = new Outlet(line, handle.fd, this);
  }

  override send(bytes: Buffer, start: number, end: number, port = 0, address?: string): boolean {
    return this.isOpen && !isNowhere(address, port) && this.#outlet.send(bytes, start, end, port, address);
  }

  override close(): void {
    if (this.isOpen) this.#outlet.closing();
    super.close();
  }

  protected override taken(): void {
    if (this.isOpen) this.#inlet.readable();
  }
}

/** No peer is at port 0. Datagrams come from there, for any sender can forge it. */
function isNowhere(address: string | undefined, port: number | undefined): boolean {
  return address !== undefined && !port;
}

/** A wish: some systems refuse sizes over their limit where Linux gives what it has, and then the socket works with its own. */
function widen(socket: Socket): void {
  try {
    socket.setRecvBufferSize(RECEIVE_BYTES);
    socket.setSendBufferSize(SEND_BYTES);
  } catch {
    return;
  }
}
