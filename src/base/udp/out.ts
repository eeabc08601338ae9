/**
 * Sends many datagrams per system call, for datagrams.ts. What the sockets of a thread send is gathered in one line until the code that sends is
 * done: it leaves, in its order, before Node goes on to anything else. Neighbours of one length to one peer go through the kernel as one and are cut
 * apart at its end, which costs a fourth of its time.
 */
import { Addresses } from './addresses.ts';
import { type BatchedSocket, type DatagramCalls, systemError } from './calls.ts';
import { type Envelopes, NAME_WORDS } from './envelopes.ts';

/** Places in the line: beyond this a call's own price is lost in what a datagram costs. When it is full it leaves at once. */
const PLACES = 64;
/** Longer ones, which only fragments bring, go by themselves. */
const PLACE_BYTES = 2_048;
const LONGEST = 65_536;
/** Together: what one datagram of IPv4 or IPv6 may have, and some. */
const JOINED_BYTES = 65_000;
/** What the network below refuses of joined ones: no checksums in hardware; larger than its packets. */
const EIO = 5;
const EINVAL = 22;
const EMSGSIZE = 90;

/** One per thread. */
export class DatagramLine {
  readonly #calls: DatagramCalls;
  readonly #addresses: Addresses;
  readonly #out: Envelopes;
  readonly #long: Envelopes;
  readonly #owners: Array<Outlet | undefined> = new Array<Outlet | undefined>(PLACES).fill(undefined);
  /** 1: the place goes where the one before it goes. */
  readonly #follows = new Uint8Array(PLACES);
  /** Of the present flush: notified when it is over, for they may send. */
  readonly #losers: Outlet[] = [];
  /** Where the last one goes. */
  #address: string | undefined;
  #port = 0;
  #waiting = 0;
  readonly #flush = (): void => this.flush();

  constructor(calls: DatagramCalls) {
    this.#calls = calls;
    this.#addresses = new Addresses(calls);
    this.#out = calls.envelopes(PLACES, PLACE_BYTES);
    this.#long = calls.envelopes(1, LONGEST);
  }

  /** False: the address is none, or the datagram too long. */
  send(outlet: Outlet, bytes: Buffer, start: number, end: number, port: number, address: string | undefined): boolean {
    const length = end - start;
    if (length > PLACE_BYTES) return this.#sendLong(outlet, bytes.subarray(start, end), port, address);
    const i = this.#waiting;
    let nameBytes = 0;
    if (address !== undefined) {
      nameBytes = this.#addresses.write(this.#out.names, i * NAME_WORDS, address, port);
      if (nameBytes === 0) return false;
    }
    bytes.copy(this.#out.bytes, i * PLACE_BYTES, start, end);
    this.#out.address(i, length, nameBytes);
    const follows = i > 0 && this.#owners[i - 1] === outlet && port === this.#port && address === this.#address;
    this.#follows[i] = follows ? 1 : 0;
    this.#address = address;
    this.#port = port;
    this.#owners[i] = outlet;
    this.#waiting = i + 1;
    if (i === 0) process.nextTick(this.#flush);
    else if (i === PLACES - 1) this.flush();
    return true;
  }

  /** Sends what waits, in its order: neighbours of one socket together. */
  flush(): void {
    const count = this.#waiting;
    this.#waiting = 0;
    const owners = this.#owners;
    for (let from = 0; from < count; ) {
      const owner = owners[from] as Outlet;
      let to = from;
      while (to < count && owners[to] === owner) owners[to++] = undefined;
      this.#sendRun(owner, from, to);
      from = to;
    }
    for (let one = this.#losers.pop(); one !== undefined; one = this.#losers.pop()) one.tellLost();
  }

  #sendRun(owner: Outlet, from: number, to: number): void {
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
  #joinEnd(owner: Outlet, at: number, to: number): number {
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

  #sendJoined(owner: Outlet, from: number, to: number): void {
    if (!owner.user.isOpen) return;
    const bytes = this.#out.lengthOf(from);
    const sent = this.#calls.sendJoined(owner.fd, this.#out, from, to, bytes);
    if (sent === 1) return;
    if (sent === 0) return this.#lose(owner, to - from, 0);
    if (sent === -EIO) owner.joinsUpTo = 0;
    else if (sent === -EINVAL || sent === -EMSGSIZE) owner.joinsUpTo = bytes - 1;
    else this.#lose(owner, 0, sent);
    this.#sendEach(owner, from, to);
  }

  #sendEach(owner: Outlet, from: number, to: number): void {
    for (let at = from; at < to && owner.user.isOpen; ) {
      const sent = this.#calls.send(owner.fd, this.#out, at, to);
      if (sent > 0) {
        at += sent;
        continue;
      }
      // The error of an earlier datagram (ICMP) comes with a later call, which then sends nothing: that one is lost, and those behind it are not.
      const lost = sent === 0 ? to - at : 1;
      this.#lose(owner, lost, sent);
      at += lost;
    }
  }

  #lose(owner: Outlet, count: number, error: number): void {
    if (owner.lose(count, error)) this.#losers.push(owner);
  }

  #sendLong({ fd, user }: Outlet, datagram: Buffer, port: number, address: string | undefined): boolean {
    this.flush();
    let nameBytes = 0;
    if (address !== undefined) {
      nameBytes = this.#addresses.write(this.#long.names, 0, address, port);
      if (nameBytes === 0) return false;
    }
    if (datagram.length > LONGEST) return false;
    datagram.copy(this.#long.bytes);
    this.#long.address(0, datagram.length, nameBytes);
    const sent = this.#calls.send(fd, this.#long, 0, 1);
    if (sent < 0) user.lost(0, systemError(sent, 'sendmmsg'));
    return sent === 1;
  }
}

/** A socket's end of the line. */
export class Outlet {
  readonly fd: number;
  readonly user: BatchedSocket;
  /** Longer ones can't be sent joined on this socket: its network refused it. */
  joinsUpTo = PLACE_BYTES;
  readonly #line: DatagramLine;
  #isLoser = false;
  #lost = 0;
  #lostBy = 0;

  constructor(line: DatagramLine, fd: number, user: BatchedSocket) {
    this.#line = line;
    this.fd = fd;
    this.user = user;
  }

  /** Connected sockets have no address. False: the address is none, or the datagram too long. */
  send(bytes: Buffer, start: number, end: number, port: number, address: string | undefined): boolean {
    return this.#line.send(this, bytes, start, end, port, address);
  }

  /** Before the socket is closed: what was taken leaves. */
  closing(): void {
    this.#line.flush();
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
}
