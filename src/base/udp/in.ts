/**
 * Reads many datagrams per system call, for datagrams.ts. libuv tells that there is something by the first datagram of it; what stands behind that one is
 * drained here. A turn of the event loop gives a bounded number to each socket and to all, so that a flood leaves visitors, sessions and the
 * other sockets theirs: a socket that has more *queues*, libuv rests, and the next turn goes on with it.
 */
import { Addresses } from './addresses.ts';
import { type BatchedSocket, type DatagramCalls, systemError, type UdpHandle } from './calls.ts';
import { type Envelopes, NAME_WORDS } from './envelopes.ts';

/** Datagrams per call. */
const BATCH = 64;
/** Calls per socket and turn: 128 datagrams, some 0.3 ms with what the relay does. */
const CALLS_PER_TURN = 2;
/** Datagrams of all sockets per turn. */
const PER_TURN = 512;
const LONGEST = 65_536;
/** After a drain that found nothing the next ones are left out, at most so many: who gets single datagrams pays for no other call. */
const MAX_SKIPS = 7;

/** One per thread. */
export class DatagramDrain {
  readonly #calls: DatagramCalls;
  readonly #addresses: Addresses;
  readonly #in: Envelopes;
  /** Sockets that have more than they were given. */
  #queue: Inlet[] = [];
  /** Datagrams since the last turn that was counted. */
  #taken = 0;
  #isTurnAwaited = false;
  readonly #turn = (): void => this.#nextTurn();

  constructor(calls: DatagramCalls) {
    this.#calls = calls;
    this.#addresses = new Addresses(calls);
    this.#in = calls.envelopes(BATCH, LONGEST);
  }

  /** A datagram came by libuv. */
  readable(inlet: Inlet): void {
    if (this.#taken < PER_TURN && this.#drained(inlet)) return;
    if (!inlet.user.isOpen) return;
    inlet.handle.recvStop();
    this.#queue.push(inlet);
    this.#awaitTurn();
  }

  #nextTurn(): void {
    this.#isTurnAwaited = false;
    this.#taken = 0;
    // Each once, in the order in which they began to wait.
    const queue = this.#queue;
    this.#queue = [];
    for (const [i, inlet] of queue.entries()) {
      if (this.#taken >= PER_TURN) {
        this.#queue.unshift(...queue.slice(i));
        break;
      }
      if (!inlet.user.isOpen) continue;
      if (!this.#drained(inlet)) this.#queue.push(inlet);
      else if (inlet.user.isOpen) inlet.handle.recvStart();
    }
    if (this.#queue.length > 0) this.#awaitTurn();
  }

  #awaitTurn(): void {
    if (this.#isTurnAwaited) return;
    this.#isTurnAwaited = true;
    setImmediate(this.#turn);
  }

  /** As much of one socket as a turn gives; true: there is no more now. */
  #drained(inlet: Inlet): boolean {
    for (let i = 0; i < CALLS_PER_TURN; i++) {
      const count = this.#receive(inlet);
      inlet.found(count);
      this.#taken += count;
      if (count < BATCH) return true;
    }
    // Counting from turn to turn is for those that have much to do: an idle loop is not kept awake by it.
    this.#awaitTurn();
    return false;
  }

  #receive({ handle, user }: Inlet): number {
    if (!user.isOpen) return 0;
    const count = this.#calls.receive(handle.fd, this.#in);
    if (count < 0) {
      user.lost(0, systemError(count, 'recvmmsg'));
      return 0;
    }
    const { names, bytes } = this.#in;
    for (let i = 0; i < count; i++) {
      const start = i * LONGEST;
      const word = names[i * NAME_WORDS] as number;
      const port = (word >>> 24) | ((word >>> 8) & 0xff00);
      const length = this.#in.received(i);
      if (user.isOpen) user.take(bytes, start, start + length, this.#addresses.textAt(names, i * NAME_WORDS), port);
    }
    return count;
  }
}

/** A socket as it is drained. */
export class Inlet {
  readonly handle: UdpHandle;
  readonly user: BatchedSocket;
  readonly #drain: DatagramDrain;
  #skips = 0;
  #nextSkips = 1;

  constructor(drain: DatagramDrain, handle: UdpHandle, user: BatchedSocket) {
    this.#drain = drain;
    this.handle = handle;
    this.user = user;
  }

  /** A datagram came by libuv: what stands behind it is read too. */
  readable(): void {
    if (this.#skips > 0) this.#skips--;
    else this.#drain.readable(this);
  }

  /** What a call brought. */
  found(count: number): void {
    if (count > 0) {
      this.#nextSkips = 1;
      return;
    }
    this.#skips = this.#nextSkips;
    this.#nextSkips = Math.min(MAX_SKIPS, this.#nextSkips * 2 + 1);
  }
}
