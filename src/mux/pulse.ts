/**
 * The pulse of a session: pings, the round-trip time that they measure, and the silence by which a dead peer is known.
 * One ping is under way at a time. Called by session.ts only, which ends the session when `sweep` says so.
 */
import type { Clock } from '../base/clock.ts';
import { FIRST_MARK, type Flight } from './flight.ts';

/** A round-trip time older than this is measured again when a window wants to grow. */
const RTT_FRESH_MS = 1_000;

export interface PulseOptions {
  readonly clock: Clock;
  /** 0: pings are sent only when a round-trip time is needed. */
  readonly heartbeatMs: number;
  readonly deadAfterMs: number;
  /** Sends a ping with this opaque value. */
  readonly send: (value: number) => void;
}

export class Pulse {
  readonly #options: PulseOptions;
  /** Set on every read; a flag, because asking for the time on every read costs more. */
  heard = true;
  /** Nobody reads for now, to keep within a limit: that nothing is heard is not the peer's fault. */
  excused = false;
  /** Whose marks are answered here too. */
  flight: Flight | null = null;
  #heardAtMs: number;
  #id = 0;
  #sentMs = 0;
  #beatMs = 0;
  #outstanding = false;
  #closed = false;
  #waiters: Array<{ resolve: (ms: number) => void; reject: (error: Error) => void }> = [];
  #rttMs = 0;
  #rttAtMs = 0;

  constructor(options: PulseOptions) {
    this.#options = options;
    this.#heardAtMs = options.clock.monotonic();
  }

  /** Last measured round trip in milliseconds; 0 before the first. */
  get rttMs(): number {
    return this.#rttMs;
  }

  /** The same, for a decision about windows; asks for a new measurement when it is old. */
  freshRttMs(): number {
    if (this.#options.clock.monotonic() - this.#rttAtMs > RTT_FRESH_MS) this.#ping();
    return this.#rttMs;
  }

  /** Measures now, or joins the measurement that is under way. Rejects when the session ends first. */
  measure(): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    this.#waiters.push({ resolve, reject });
    this.#ping();
    return promise;
  }

  /** A ping came back. One that was not asked for is nothing. */
  answered(value: number): void {
    if (value >= FIRST_MARK) this.flight?.answered(value);
    if (!this.#outstanding || value !== this.#id) return;
    this.#outstanding = false;
    const now = this.#options.clock.monotonic();
    this.#rttMs = now - this.#sentMs;
    this.#rttAtMs = now;
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const waiter of waiters) waiter.resolve(this.#rttMs);
  }

  /** Sends the heartbeat when it is due. Returns for how many milliseconds the peer has been silent if it is dead by that, else 0. */
  sweep(nowMs: number, elapsedMs: number): number {
    const { heartbeatMs, deadAfterMs } = this.#options;
    // A sweep that comes this late: this machine slept. The peer gets a chance to answer.
    if (this.heard || this.excused || elapsedMs > deadAfterMs) this.#heardAtMs = nowMs;
    this.heard = false;
    if (nowMs - this.#heardAtMs > deadAfterMs) return nowMs - this.#heardAtMs;
    if (heartbeatMs > 0 && nowMs - this.#beatMs >= heartbeatMs) this.#beat(nowMs);
    return 0;
  }

  close(error: Error): void {
    this.#closed = true;
    for (const waiter of this.#waiters) waiter.reject(error);
    this.#waiters = [];
  }

  #ping(): void {
    if (this.#outstanding || this.#closed) return;
    this.#outstanding = true;
    this.#id = (this.#id + 1) % FIRST_MARK;
    this.#sentMs = this.#beatMs = this.#options.clock.monotonic();
    this.#options.send(this.#id);
  }

  /** Also while an answer is out: it may be held up by a queue that is longer than the peer's patience, and the peer must hear of us. */
  #beat(nowMs: number): void {
    if (!this.#outstanding || this.#closed) return this.#ping();
    this.#beatMs = nowMs;
    this.#options.send(this.#id);
  }
}
