/**
 * recvmmsg and sendmmsg: many datagrams per system call, which libuv does not offer. Called by in.ts and out.ts through node:ffi, on 64-bit
 * Linux alone, where the kernel's structures are the same on every architecture and in every C library. On a Node that has no ffi, or where a
 * datagram does not come back from a try, `findCalls` finds nothing, and node:dgram does it one at a time.
 */
import { createSocket, type Socket } from 'node:dgram';
import type * as Ffi from 'node:ffi';
import { isIP } from 'node:net';
import { endianness } from 'node:os';
import { getSystemErrorName } from 'node:util';
import { Envelopes, NAME_WORDS } from './envelopes.ts';

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
/** Datagrams of the try, and their room. */
const TRIED = 3;
const TRIED_BYTES = 64;
/** MSG_DONTWAIT; with MSG_NOSIGNAL. */
const RECEIVE_FLAGS = 0x40;
const SEND_FLAGS = 0x40 | 0x4000;

export interface DatagramCalls {
  /** Memory for `count` datagrams of at most `slotBytes`. */
  envelopes(count: number, slotBytes: number): Envelopes;
  /** Fills slots from 0; returns how many: 0 when there is none, or minus the error's number. */
  receive(fd: number, into: Envelopes): number;
  /** Sends slots [from, to); returns how many went: 0 when the system has no room now, or minus the error's number, of the first. */
  send(fd: number, envelopes: Envelopes, from: number, to: number): number;
  /** This system can send datagrams as one and cut them apart late (UDP_SEGMENT). */
  readonly joins: boolean;
  /** Sends slots [from, to) as one that is cut at each `bytes`; returns 1, or as `send` does. All have that length, and the last may be shorter. */
  sendJoined(fd: number, envelopes: Envelopes, from: number, to: number, bytes: number): number;
  /** Text of the 4 or 16 bytes of an address, as `inet_ntop` writes it. */
  text(address: Uint8Array): string;
  /** The bytes of an address of IPv4 or IPv6, without a zone; undefined: it is none. */
  parse(text: string): Uint8Array | undefined;
}

/** A socket as in.ts and out.ts see it. Neither throws. */
export interface BatchedSocket {
  readonly isOpen: boolean;
  take(bytes: Buffer, start: number, end: number, address: string, port: number): void;
  /** `count` datagrams were not sent; the first of them because of `error`, or null: for want of room. */
  lost(count: number, error: Error | null): void;
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
    if (calls === undefined) return undefined;
    const socket = createSocket({ type: 'udp4', lookup: (host, _options, done) => done(null, host, 4) });
    try {
      return tried(calls, socket);
    } finally {
      socket.close();
    }
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
    joins: true,
    sendJoined: (fd, envelopes, from, to, bytes) => {
      envelopes.join(from, to - from, bytes);
      const count = functions.sendmmsg(fd, envelopes.pointers[from] as bigint, 1, SEND_FLAGS);
      const result = count >= 0 ? count : failed();
      envelopes.part(from);
      return result;
    },
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

/** Datagrams go to a socket of our own and are read back at once, as loopback allows: one after the other, then joined. */
function tried(calls: DatagramCalls, socket: Socket): DatagramCalls | undefined {
  socket.bind({ port: 0, address: '127.0.0.1', exclusive: true });
  const fd = handleOf(socket)?.fd;
  if (fd === undefined || calls.text(Uint8Array.of(127, 0, 0, 1)) !== '127.0.0.1') return undefined;
  const { port } = socket.address();
  const name = [AF_INET | ((port & 0xff) << 24) | ((port & 0xff00) << 8), LOOPBACK];
  const out = calls.envelopes(TRIED, TRIED_BYTES);
  const back = calls.envelopes(TRIED + 1, TRIED_BYTES);
  for (let i = 0; i < TRIED; i++) {
    out.bytes.fill(`${i} there and back`, i * TRIED_BYTES, (i + 1) * TRIED_BYTES);
    out.names.set(name, i * NAME_WORDS);
    out.address(i, i === TRIED - 1 ? 20 : 30, 16);
  }
  const comesBack = (): boolean => {
    const count = calls.receive(fd, back);
    for (let i = 0; i < TRIED; i++) {
      const length = back.received(i);
      const at = i * TRIED_BYTES;
      const from = back.names.subarray(i * NAME_WORDS, i * NAME_WORDS + 2);
      if (length !== out.lengthOf(i) || from[0] !== name[0] || from[1] !== name[1]) return false;
      if (!back.bytes.subarray(at, at + length).equals(out.bytes.subarray(at, at + length))) return false;
      back.bytes.fill(0, at, at + length);
    }
    return count === TRIED;
  };
  if (calls.send(fd, out, 0, TRIED) !== TRIED || !comesBack() || calls.receive(fd, back) !== 0) return undefined;
  // Before Linux 4.18 it is not understood, and one long datagram would come.
  const joins = calls.sendJoined(fd, out, 0, TRIED, 30) === 1 && comesBack();
  return { ...calls, joins };
}

/** Node says on stderr that ffi is an experiment when it is loaded: a user who starts a tunnel can do nothing about it. */
function quietly<T>(load: () => T): T {
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = () => undefined;
  try {
    return load();
  } finally {
    process.emitWarning = emitWarning;
  }
}
