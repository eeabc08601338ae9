/**
 * Many datagrams per system call, for datagrams.ts. libuv tells that there is something to read by the first datagram of it; the rest is
 * drained here, a bounded number per turn of the event loop, so that a flood on one socket leaves the others theirs. What is sent is
 * gathered until the code that sends is done: it leaves before Node goes on to anything else. Neighbours of one length to one peer go
 * through the kernel as one and are cut apart at its end, which costs a fourth of its time.
 */
import { Addresses } from './datagram-addresses.ts';
import { type DatagramCalls, systemError, type UdpHandle } from './datagram-calls.ts';
import { type Envelopes, NAME_WORDS } from './datagram-envelopes.ts';

/** Datagrams per call: beyond this a call's own price is lost in what a datagram costs. */
const BATCH = 64;
/** Calls per socket and turn: 256 datagrams, about half a millisecond. */
const CALLS_PER_TURN = 4;
/** Longer ones, which only fragments bring, go by themselves. */
const SLOT_BYTES = 2_048;
const LONGEST = 65_536;
/** Together: what one datagram of IPv4 or IPv6 may have, and some. */
const JOINED_BYTES = 65_000;
/** What the network below refuses of joined ones: no checksums in hardware; larger than its packets. */
const EIO = 5;
const EINVAL = 22;
const EMSGSIZE = 90;

/** A socket as the batches see it. */
export interface BatchedSocket {
  readonly isOpen: boolean;
  /** Never throws. */
  take(bytes: Buffer, start: number, end: number, address: string, port: number): void;
  /** `count` datagrams were not sent; the first of them because of `error`, or null: for want of room. */
  lost(count: number, error: Error | null): void;
}

/** What all sockets of a thread share: one memory to receive into, one line of what is to be sent. */
export class DatagramBatches {
  readonly #calls: DatagramCalls;
  readonly #addresses: Addresses;
  readonly #in: Envelopes;
  readonly #out: Envelopes;
  readonly #long: Envelopes;
  readonly #owners: Array<Drain | undefined> = new Array<Drain | undefined>(BATCH).fill(undefined);
  /** Of the present flush: they are told when it is over, for they may send. */
  readonly #losers: Drain[] = [];
  /** 1: the slot goes where the one before it goes. */
  readonly #follows = new Uint8Array(BATCH);
  #address: string | undefined;
  #port = 0;
  #waiting = 0;
  readonly #flush = (): void => this.flush();

  constructor(calls: DatagramCalls) {
    this.#calls = calls;
    this.#addresses = new Addresses(calls);
    this.#in = calls.envelopes(BATCH, LONGEST);
    this.#out = calls.envelopes(BATCH, SLOT_BYTES);
    this.#long = calls.envelopes(1, LONGEST);
  }

  /** One call's worth; true: there is no more now. */
  receive(drain: Drain): boolean {
    const { fd } = drain.handle;
    const { user } = drain;
    const count = this.#calls.receive(fd, this.#in);
    if (count < 0) user.lost(0, systemError(count, 'recvmmsg'));
    const { names, bytes } = this.#in;
    for (let i = 0; i < count; i++) {
      const start = i * LONGEST;
      const word = names[i * NAME_WORDS] as number;
      const port = ((word >>> 24) & 0xff) | ((word >>> 8) & 0xff00);
      const length = this.#in.received(i);
      if (user.isOpen) user.take(bytes, start, start + length, this.#addresses.textAt(names, i * NAME_WORDS), port);
    }
    return count < BATCH || !user.isOpen;
  }

  /** False: the address is none, or the datagram too long. */
  send(drain: Drain, bytes: Buffer, start: number, end: number, port: number, address: string | undefined): boolean {
    const length = end - start;
    if (length > SLOT_BYTES) return this.#sendLong(drain, bytes.subarray(start, end), port, address);
    const i = this.#waiting;
    let nameBytes = 0;
    if (address !== undefined) {
      nameBytes = this.#addresses.write(this.#out.names, i * NAME_WORDS, address, port);
      if (nameBytes === 0) return false;
    }
    bytes.copy(this.#out.bytes, i * SLOT_BYTES, start, end);
    this.#out.address(i, length, nameBytes);
    const follows = i > 0 && this.#owners[i - 1] === drain && port === this.#port && address === this.#address;
    this.#follows[i] = follows ? 1 : 0;
    this.#address = address;
    this.#port = port;
    this.#owners[i] = drain;
    this.#waiting = i + 1;
    if (i === 0) process.nextTick(this.#flush);
    else if (i === BATCH - 1) this.flush();
    return true;
  }

  /** Sends what waits, in its order: neighbours of one socket together. */
  flush(): void {
    const count = this.#waiting;
    this.#waiting = 0;
    const owners = this.#owners;
    for (let from = 0; from < count; ) {
      const owner = owners[from] as Drain;
      let to = from;
      while (to < count && owners[to] === owner) owners[to++] = undefined;
      this.#sendRun(owner, from, to);
      from = to;
    }
    for (let one = this.#losers.pop(); one !== undefined; one = this.#losers.pop()) one.tellLost();
  }

  #sendRun(owner: Drain, from: number, to: number): void {
    for (let at = from; at < to; ) {
      const joinEnd = this.#joinEnd(owner, at, to);
      if (joinEnd > at + 1) {
        this.#sendJoined(owner, at, joinEnd);
        at = joinEnd;
        continue;
      }
      let end = joinEnd;
      while (end < to && this.#joinEnd(owner, end, to) === end + 1) end++;
      this.#sendEach(owner, at, end);
      at = end;
    }
  }

  /** Where those end that can be sent with `at` as one: to the same peer, all as long as it, and a last one that may be shorter. */
  #joinEnd(owner: Drain, at: number, to: number): number {
    const out = this.#out;
    const bytes = out.lengthOf(at);
    let end = at + 1;
    if (!this.#calls.joins || bytes > owner.joinsUpTo) return end;
    let room = JOINED_BYTES - bytes;
    for (; end < to && this.#follows[end] === 1; end++) {
      const length = out.lengthOf(end);
      room -= length;
      if (length > bytes || length === 0 || room < 0) break;
      if (length < bytes) return end + 1;
    }
    return end;
  }

  #sendJoined(owner: Drain, from: number, to: number): void {
    if (!owner.user.isOpen) return;
    const bytes = this.#out.lengthOf(from);
    const sent = this.#calls.sendJoined(owner.handle.fd, this.#out, from, to, bytes);
    if (sent === 1) return;
    if (sent === 0) return this.#lose(owner, to - from, 0);
    if (sent === -EIO) owner.joinsUpTo = 0;
    else if (sent === -EINVAL || sent === -EMSGSIZE) owner.joinsUpTo = bytes - 1;
    else this.#lose(owner, 0, sent);
    this.#sendEach(owner, from, to);
  }

  #sendEach(owner: Drain, from: number, to: number): void {
    for (let at = from; at < to && owner.user.isOpen; ) {
      const sent = this.#calls.send(owner.handle.fd, this.#out, at, to);
      if (sent > 0) {
        at += sent;
        continue;
      }
      // What an earlier datagram met (ICMP) is told at a later call, which then sends nothing: that one is lost, and those behind it are not.
      const lost = sent === 0 ? to - at : 1;
      this.#lose(owner, lost, sent);
      at += lost;
    }
  }

  #lose(owner: Drain, count: number, error: number): void {
    if (owner.lose(count, error)) this.#losers.push(owner);
  }

  #sendLong({ handle, user }: Drain, datagram: Buffer, port: number, address: string | undefined): boolean {
    this.flush();
    let nameBytes = 0;
    if (address !== undefined) {
      nameBytes = this.#addresses.write(this.#long.names, 0, address, port);
      if (nameBytes === 0) return false;
    }
    if (datagram.length > LONGEST) return false;
    datagram.copy(this.#long.bytes);
    this.#long.address(0, datagram.length, nameBytes);
    const sent = this.#calls.send(handle.fd, this.#long, 0, 1);
    if (sent < 0) user.lost(0, systemError(sent, 'sendmmsg'));
    return sent === 1;
  }
}

/** One socket's way through the batches. */
export class Drain {
  readonly handle: UdpHandle;
  readonly user: BatchedSocket;
  readonly #batches: DatagramBatches;
  /** Longer ones can't be sent joined on this socket: its network refused it. */
  joinsUpTo = SLOT_BYTES;
  #isLoser = false;
  #lost = 0;
  #lostBy = 0;
  /** libuv does not read: each turn of the loop begins with a drain. */
  #polls = false;
  readonly #poll = (): void => {
    if (!this.user.isOpen) return;
    if (!this.#drained()) {
      setImmediate(this.#poll);
      return;
    }
    this.#polls = false;
    this.handle.recvStart();
  };

  constructor(batches: DatagramBatches, handle: UdpHandle, user: BatchedSocket) {
    this.#batches = batches;
    this.handle = handle;
    this.user = user;
  }

  /** A datagram came by libuv: what stands behind it is read too. */
  readable(): void {
    if (this.#polls || this.#drained() || !this.user.isOpen) return;
    // More than a turn's worth: libuv, which would go on with up to 31 more, rests until it is drained.
    this.#polls = true;
    this.handle.recvStop();
    setImmediate(this.#poll);
  }

  send(bytes: Buffer, start: number, end: number, port: number, address: string | undefined): boolean {
    return this.#batches.send(this, bytes, start, end, port, address);
  }

  /** `count` datagrams did not go, for want of room (0) or because of the error with that number. True: the first of a flush. */
  lose(count: number, error: number): boolean {
    const isFirst = !this.#isLoser;
    this.#isLoser = true;
    this.#lost += count;
    if (this.#lostBy === 0) this.#lostBy = error;
    return isFirst;
  }

  tellLost(): void {
    const error = this.#lostBy === 0 ? null : systemError(this.#lostBy, 'sendmmsg');
    const lost = this.#lost;
    this.#isLoser = false;
    this.#lost = 0;
    this.#lostBy = 0;
    this.user.lost(lost, error);
  }

  /** Before the socket is closed: what was taken leaves. */
  closing(): void {
    this.#batches.flush();
  }

  #drained(): boolean {
    for (let i = 0; i < CALLS_PER_TURN; i++) {
      if (this.#batches.receive(this)) return true;
    }
    return false;
  }
}
