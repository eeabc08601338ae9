/**
 * recvmmsg and sendmmsg: many datagrams per system call, which libuv does not offer. Called by datagram-batches.ts through node:ffi, on 64-bit
 * Linux alone, where the kernel's structures are the same on every architecture and in every C library. What the calls read and write was
 * allocated once, and its addresses were written once: a caller chooses slots and lengths, never an address. On a Node that has no ffi, or where a
 * datagram does not come back from a try, `findCalls` finds nothing, and node:dgram does it one at a time.
 */
import { createSocket, type Socket } from 'node:dgram';
import type * as Ffi from 'node:ffi';
import { isIP } from 'node:net';
import { endianness } from 'node:os';
import { getSystemErrorName } from 'node:util';

/** What a program would find in errno; of Linux on x64 and arm64. */
const EINTR = 4;
const EAGAIN = 11;
const ENOBUFS = 105;
export const AF_INET = 2;
export const AF_INET6 = 10;
/** 127.0.0.1 as it stands in memory. */
const LOOPBACK = 0x01_00_00_7f;
/** INET6_ADDRSTRLEN, and more. */
const TEXT_BYTES = 64;
/** MSG_DONTWAIT; with MSG_NOSIGNAL. */
const RECEIVE_FLAGS = 0x40;
const SEND_FLAGS = 0x40 | 0x4000;

/** struct mmsghdr: name 8, name's length 4 + 4, vector 8, its length 8, control 8, its length 8, flags 4 + 4, bytes 4 + 4. In words of 4: */
const HEADER_WORDS = 16;
const NAME_LENGTH = 2;
const BYTES = 14;
/** struct iovec: base 8, length 8. */
const VECTOR_WORDS = 4;
const VECTOR_LENGTH = 2;
/** struct sockaddr_in6 is 28. */
const NAME_BYTES = 32;
export const NAME_WORDS = NAME_BYTES / 4;

/** So many datagrams with their addresses, as the kernel reads and writes them. */
export class Envelopes {
  readonly count: number;
  readonly slotBytes: number;
  /** Slot i begins at i × slotBytes. */
  readonly bytes: Buffer;
  /** Socket addresses: slot i begins at i × NAME_WORDS. */
  readonly names: Int32Array;
  /** Where the header of slot i is, for the kernel. */
  readonly pointers: readonly bigint[];
  readonly #headers: Int32Array;
  readonly #vectors: Int32Array;

  /** `addressOf`: where a buffer is. An ArrayBuffer does not move, and these live as long as the envelopes. */
  constructor(addressOf: (memory: ArrayBuffer) => bigint, count: number, slotBytes: number) {
    const bytes = new ArrayBuffer(count * slotBytes);
    const names = new ArrayBuffer(count * NAME_BYTES);
    const vectors = new ArrayBuffer(count * VECTOR_WORDS * 4);
    const headers = new ArrayBuffer(count * HEADER_WORDS * 4);
    const vectorLongs = new BigUint64Array(vectors);
    const headerLongs = new BigUint64Array(headers);
    const pointers: bigint[] = [];
    for (let i = 0; i < count; i++) {
      vectorLongs[i * 2] = addressOf(bytes) + BigInt(i * slotBytes);
      vectorLongs[i * 2 + 1] = BigInt(slotBytes);
      headerLongs[i * 8] = addressOf(names) + BigInt(i * NAME_BYTES);
      headerLongs[i * 8 + 1] = BigInt(NAME_BYTES);
      headerLongs[i * 8 + 2] = addressOf(vectors) + BigInt(i * VECTOR_WORDS * 4);
      headerLongs[i * 8 + 3] = 1n;
      pointers.push(addressOf(headers) + BigInt(i * HEADER_WORDS * 4));
    }
    this.count = count;
    this.slotBytes = slotBytes;
    this.bytes = Buffer.from(bytes);
    this.names = new Int32Array(names);
    this.pointers = pointers;
    this.#headers = new Int32Array(headers);
    this.#vectors = new Int32Array(vectors);
  }

  /** How long the datagram is that was received into slot i. The slot is ready for the next one. */
  received(i: number): number {
    this.#headers[i * HEADER_WORDS + NAME_LENGTH] = NAME_BYTES;
    return this.#headers[i * HEADER_WORDS + BYTES] as number;
  }

  /** What is to be sent of slot i; `nameBytes` 0: to the peer of a connected socket. */
  address(i: number, length: number, nameBytes: number): void {
    this.#headers[i * HEADER_WORDS + NAME_LENGTH] = nameBytes;
    this.#vectors[i * VECTOR_WORDS + VECTOR_LENGTH] = length;
  }
}

export interface DatagramCalls {
  /** Memory for `count` datagrams of at most `slotBytes`. */
  envelopes(count: number, slotBytes: number): Envelopes;
  /** Fills slots from 0; returns how many: 0 when there is none, or minus the error's number. */
  receive(fd: number, into: Envelopes): number;
  /** Sends slots [from, to); returns how many went: 0 when the system has no room now, or minus the error's number, of the first. */
  send(fd: number, envelopes: Envelopes, from: number, to: number): number;
  /** Text of the 4 or 16 bytes of an address, as `inet_ntop` writes it. */
  text(address: Uint8Array): string;
  /** The bytes of an address of IPv4 or IPv6, without a zone; undefined: it is none. */
  parse(text: string): Uint8Array | undefined;
}

/** What is used of the handle below a socket of node:dgram. */
export interface UdpHandle {
  readonly fd: number;
  recvStart(): number;
  recvStop(): number;
}

/** The calls, when this machine has them and they do what they should; it tries, in under a millisecond. */
export function findCalls(): DatagramCalls | undefined {
  if (process.platform !== 'linux' || endianness() !== 'LE' || !['x64', 'arm64'].includes(process.arch))
    return undefined;
  try {
    const calls = openCalls();
    return calls !== undefined && comesBack(calls) ? calls : undefined;
  } catch {
    // Refused by a permission, not in this build: that there is another way is all that counts.
    return undefined;
  }
}

/** Found by name and checked, as in socket.ts. */
export function handleOf(socket: Socket): UdpHandle | undefined {
  const symbol = Object.getOwnPropertySymbols(socket).find(({ description }) => description === 'state symbol');
  if (symbol === undefined) return undefined;
  const { handle } = (socket as unknown as Record<symbol, { handle?: Partial<UdpHandle> | null }>)[symbol] ?? {};
  if (typeof handle?.fd !== 'number' || handle.fd < 0) return undefined;
  if (typeof handle.recvStart !== 'function' || typeof handle.recvStop !== 'function') return undefined;
  return handle as UdpHandle;
}

/** An error as node:dgram would tell it. */
export function systemError(number: number, syscall: string): NodeJS.ErrnoException {
  const code = getSystemErrorName(number);
  return Object.assign(new Error(`${syscall} ${code}`), { code, errno: number, syscall });
}

function openCalls(): DatagramCalls | undefined {
  const ffi = quietly(() => process.getBuiltinModule('node:ffi') as typeof Ffi | undefined);
  if (ffi === undefined) return undefined;
  const { functions } = ffi.dlopen(null, {
    recvmmsg: { return: 'int32', arguments: ['int32', 'pointer', 'uint32', 'int32', 'pointer'] },
    sendmmsg: { return: 'int32', arguments: ['int32', 'pointer', 'uint32', 'int32'] },
    __errno_location: { return: 'pointer', arguments: [] },
    inet_ntop: { return: 'pointer', arguments: ['int32', 'pointer', 'pointer', 'uint32'] },
    inet_pton: { return: 'int32', arguments: ['int32', 'pointer', 'pointer'] },
  });
  const errnoAt = functions.__errno_location(); // of this thread
  const failed = (): number => {
    const number = ffi.getInt32(errnoAt);
    return number === EAGAIN || number === ENOBUFS || number === EINTR || number <= 0 ? 0 : -number;
  };
  return {
    envelopes: (count, slotBytes) => new Envelopes((memory) => ffi.getRawPointer(memory), count, slotBytes),
    receive: (fd, into) => {
      const count = functions.recvmmsg(fd, into.pointers[0] as bigint, into.count, RECEIVE_FLAGS, 0n);
      return count >= 0 ? count : failed();
    },
    send: (fd, envelopes, from, to) => {
      const count = functions.sendmmsg(fd, envelopes.pointers[from] as bigint, to - from, SEND_FLAGS);
      return count >= 0 ? count : failed();
    },
    text: (address) => {
      const text = Buffer.alloc(TEXT_BYTES);
      functions.inet_ntop(address.length === 4 ? AF_INET : AF_INET6, address, text, TEXT_BYTES);
      return text.toString('latin1', 0, text.indexOf(0));
    },
    parse: (text) => {
      const family = isIP(text);
      const address = Buffer.alloc(16);
      if (family === 0) return undefined;
      if (functions.inet_pton(family === 4 ? AF_INET : AF_INET6, text, address) !== 1) return undefined;
      return address.subarray(0, family === 4 ? 4 : 16);
    },
  };
}

/** Two datagrams go to a socket of our own and are read back at once, as loopback allows. */
function comesBack(calls: DatagramCalls): boolean {
  const socket = createSocket({ type: 'udp4', lookup: (host, _options, done) => done(null, host, 4) });
  try {
    socket.bind({ port: 0, address: '127.0.0.1', exclusive: true });
    const handle = handleOf(socket);
    if (handle === undefined) return false;
    const { port } = socket.address();
    const out = calls.envelopes(2, 64);
    const back = calls.envelopes(3, 64);
    const name = AF_INET | (((port & 0xff) << 24) | ((port >> 8) << 16));
    for (const i of [0, 1]) {
      out.bytes.fill(`${i} there and back`, i * 64, i * 64 + 64);
      out.names.set([name, LOOPBACK], i * NAME_WORDS);
      out.address(i, 20 + i, 16);
    }
    if (calls.send(handle.fd, out, 0, 2) !== 2 || calls.receive(handle.fd, back) !== 2) return false;
    const same = [0, 1].every((i) => {
      const length = back.received(i);
      const bytes = back.bytes.subarray(i * 64, i * 64 + length);
      const from = back.names.subarray(i * NAME_WORDS, i * NAME_WORDS + 2);
      return (
        length === 20 + i &&
        bytes.equals(out.bytes.subarray(i * 64, i * 64 + length)) &&
        from[0] === name &&
        from[1] === LOOPBACK
      );
    });
    return same && calls.text(Uint8Array.of(127, 0, 0, 1)) === '127.0.0.1' && calls.receive(handle.fd, back) === 0;
  } finally {
    socket.close();
  }
}

/** Node says on stderr that ffi is an experiment when it is loaded: not what somebody who starts a tunnel can do anything about. */
function quietly<T>(load: () => T): T {
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = () => undefined;
  try {
    return load();
  } finally {
    process.emitWarning = emitWarning;
  }
}
