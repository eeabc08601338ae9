/**
 * The pulse of a session: pings, the round-trip time that they measure, and the silence by which a dead peer is known.
 * One ping is under way at a time. Called by session.ts only, which ends the session when `sweep` says so.
 */
import type { Clock } from '../base/clock.ts';
import { FIRST_MARK, type Flight } from './flight.ts';

/** A round-trip time older than this is measured again when a window wants to grow. */
const RTT_FRESH_MS = 1_000;
/** Data that went out and was followed by silence: pings go out this often, at once at first. */
const PROBE_MS = 2_000;
/** Dead by then: with a sweep a second for noticing the silence and one for its end, a peer that waits is known dead after 8 s. */
const UNANSWERED_MS = 6_000;
/** A sweep that comes this late had no turn to read what may have come. */
const LATE_MS = 3_000;
/** Between two sweeps, about. */
const SWEEP_MS = 1_000;

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
  /** Set on every data frame, of either direction. */
  spoke = false;
  heardData = false;
  /**
   * Both sides have agreed: one that sends data and hears nothing asks at once and waits no longer than `UNANSWERED_MS`; one that only receives
   * says now and then that it is there.
   */
  prompt = false;
  /** Since when data is out with nothing heard behind it; -1: none is. */
  #unansweredAtMs = -1;
  /** Reading is paused, to keep within a limit: silence is then not the peer's fault. */
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
    const unansweredMs = this.prompt ? this.#unanswered(nowMs, this.heard || this.excused || elapsedMs > LATE_MS) : 0;
    this.heard = this.heardData = this.spoke = false;
    if (unansweredMs > 0) return unansweredMs;
    // It may have been heard up to a sweep before it was noticed: dead at the limit, and not a sweep behind it.
    if (nowMs - this.#heardAtMs >= deadAfterMs - Math.min(elapsedMs, SWEEP_MS)) return nowMs - this.#heardAtMs;
    if (heartbeatMs > 0 && nowMs - this.#beatMs >= heartbeatMs) this.#beat(nowMs);
    return 0;
  }

  /** Milliseconds for which data has gone unanswered when the peer is dead by that, else 0. */
  #unanswered(nowMs: number, heard: boolean): number {
    if (heard) {
      // What was sent in this second may have gone out behind what was heard.
      this.#unansweredAtMs = this.spoke ? nowMs : -1;
      if (this.heardData && !this.spoke) this.#probe(nowMs);
      return 0;
    }
    if (this.spoke && this.#unansweredAtMs < 0) this.#unansweredAtMs = nowMs;
    if (this.#unansweredAtMs < 0) return 0;
    if (nowMs - this.#unansweredAtMs >= UNANSWERED_MS) return nowMs - this.#unansweredAtMs;
    this.#probe(nowMs);
    return 0;
  }

  #probe(nowMs: number): void {
    if (nowMs - this.#beatMs >= PROBE_MS) this.#beat(nowMs);
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
