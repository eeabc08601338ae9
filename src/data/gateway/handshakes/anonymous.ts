/**
 * Sockets of the agent listener that have not shown a good token yet: in the handshake, silent, or waiting for an answer. Bounded in all and per
 * address, each with one deadline for the whole way to `welcome`. At the bound in all the oldest goes, not the newest: an honest agent is through
 * in milliseconds, the longest waiting peer is the likeliest to sit for nothing. So a flood of silent sockets shortens its own stay and does not
 * lock agents out.
 */
import type { Socket } from 'node:net';
import { type HandshakeLimits, HandshakeRate } from '../../../base/net/handshake-rate.ts';
import { Admission } from '../../entrance/admission.ts';
import { addressKey } from '../../../base/net/address-key.ts';
import { AddressQueue } from './address-queue.ts';

export interface AnonymousLimits {
  readonly total: number;
  readonly perAddress: number;
  /** Of one address, that are never known. */
  readonly handshakes: HandshakeLimits;
  /** From the first byte of TCP to `welcome`. */
  readonly deadlineMs: number;
}

export class AnonymousSocket {
  readonly socket: Socket;
  readonly ip: string;
  /** Says goodbye where something can be said already; without it the socket is destroyed. */
  onDeadline: (() => void) | undefined;
  readonly timer: NodeJS.Timeout;

  constructor(socket: Socket, ip: string, timer: NodeJS.Timeout) {
    this.socket = socket;
    this.ip = ip;
    this.timer = timer;
  }
}

export class AnonymousSockets {
  readonly #limits: AnonymousLimits;
  readonly #admission: Admission;
  readonly #rate: HandshakeRate;
  readonly #queue = new AddressQueue();
  /** In the order of their coming. */
  readonly #waiting = new Set<AnonymousSocket>();
  #evicted = 0;

  constructor(limits: AnonymousLimits) {
    this.#limits = limits;
    this.#rate = new HandshakeRate(limits.handshakes, addressKey);
    this.#admission = new Admission({ total: limits.total + 1, perAddress: limits.perAddress });
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** Sockets that wait for others of their address. */
  get queued(): number {
    return this.#queue.size;
  }

  /** Sockets turned away: refused for their address (too many, or too often), or evicted for a newer one. */
  get refused(): number {
    return this.#admission.refused + this.#rate.refused + this.#evicted;
  }

  /**
   * Takes a fresh socket of a peer at `ip` in, and calls `begin` with it: at once, or when one of its address has left, where there are too many already. Such
   * sockets wait untouched; one that has no place to wait, or has waited for too long, is destroyed.
   */
  admit(socket: Socket, ip: string, begin: (waiting: AnonymousSocket) => void): void {
    const { perAddress } = this.#limits;
    const isFull = perAddress > 0 && this.#admission.loadOf(ip).connections >= perAddress;
    if (isFull && this.#queue.add(ip, socket, () => this.admit(socket, ip, begin))) return;
    const waiting = this.#take(socket, ip);
    if (waiting === undefined) socket.destroy();
    else begin(waiting);
  }

  /** Undefined when its address has too many already. */
  #take(socket: Socket, ip: string): AnonymousSocket | undefined {
    if (!this.#admission.admit(ip)) return undefined;
    if (!this.#rate.take(ip, performance.now())) {
      this.#admission.release(ip);
      return undefined;
    }
    const timer = setTimeout(() => this.#expire(waiting), this.#limits.deadlineMs).unref();
    const waiting = new AnonymousSocket(socket, ip, timer);
    this.#waiting.add(waiting);
    if (this.#waiting.size > this.#limits.total) {
      for (const oldest of this.#waiting) {
        this.#evicted++;
        this.release(oldest);
        oldest.socket.destroy();
        break;
      }
    }
    return waiting;
  }

  /** It has shown a good token. */
  known(waiting: AnonymousSocket): void {
    if (!this.#waiting.has(waiting)) return;
    this.#rate.giveBack(waiting.ip);
    this.release(waiting);
  }

  /** It is gone. May be called twice, and after `known`. */
  release(waiting: AnonymousSocket): void {
    if (!this.#waiting.delete(waiting)) return;
    clearTimeout(waiting.timer);
    this.#admission.release(waiting.ip);
    this.#queue.next(waiting.ip);
  }

  close(): void {
    this.#queue.close();
    for (const waiting of [...this.#waiting]) {
      this.release(waiting);
      waiting.socket.destroy();
    }
  }

  #expire(waiting: AnonymousSocket): void {
    this.release(waiting);
    if (waiting.onDeadline === undefined) waiting.socket.destroy();
    else waiting.onDeadline();
  }
}
