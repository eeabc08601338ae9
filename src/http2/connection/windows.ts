/**
 * How much a visitor may send: of each stream, and of all streams of a connection. A window grows when its reader is fast enough to be waiting for
 * the visitor, and growth is taken from the process's budget (mux/window.ts), as with the streams of agents.
 */
import { nextWindow, type WindowBudget } from '../../mux/window.ts';

/** Every stream begins with this, by SETTINGS. */
export const STREAM_WINDOW = 262_144;
export const CONNECTION_WINDOW = 1 << 20;

/** What a decision about a window takes into account. */
export interface Pace {
  readonly budget: WindowBudget;
  readonly rttMs: number;
  nowMs(): number;
}

export class ReceiveWindow {
  readonly #initial: number;
  #size: number;
  #left: number;
  #unreported = 0;
  /** When it was last given back; -1: nothing has come yet. */
  #reportedAtMs = -1;

  constructor(initial: number) {
    this.#initial = this.#size = this.#left = initial;
  }

  get size(): number {
    return this.#size;
  }

  /** What the peer may still send. */
  get left(): number {
    return this.#left;
  }

  /** The peer sent `bytes`: false when that is more than it was allowed to. */
  admit(bytes: number, pace: Pace): boolean {
    if (bytes > this.#left) return false;
    if (this.#reportedAtMs < 0) this.#reportedAtMs = pace.nowMs();
    this.#left -= bytes;
    return true;
  }

  /** `bytes` of what came are out of the way. Answers what to give back now, with growth; 0: not yet. */
  give(bytes: number, pace: Pace): number {
    this.#unreported += bytes;
    return this.#unreported < this.#size >>> 1 ? 0 : this.#report(pace);
  }

  /** Gives back to the budget what was grown by, and is as new. */
  reset(budget: WindowBudget): void {
    if (this.#size > this.#initial) budget.give(this.#size - this.#initial);
    this.#size = this.#left = this.#initial;
    this.#unreported = 0;
    this.#reportedAtMs = -1;
  }

  #report(pace: Pace): number {
    const { budget } = pace;
    const nowMs = pace.nowMs();
    const next = nextWindow(this.#size, nowMs - this.#reportedAtMs, pace.rttMs);
    let delta = this.#unreported;
    this.#reportedAtMs = nowMs;
    this.#unreported = 0;
    const largest = Math.max(this.#initial, budget.largestWindow);
    if (this.#size > largest) {
      const size = Math.max(largest, this.#size - delta);
      budget.give(this.#size - size);
      delta -= this.#size - size;
      this.#size = size;
    } else if (next > this.#size && next <= largest && budget.take(next - this.#size)) {
      delta += next - this.#size;
      this.#size = next;
    }
    this.#left += delta;
    return delta;
  }
}

/**
 * The window of a connection. What comes is given back at once while the users of its streams hold less than a share: a body that no service takes stops
 * its own stream, and no other.
 */
export class ConnectionWindow {
  readonly #window = new ReceiveWindow(CONNECTION_WINDOW);
  readonly #share: number;
  /** Bytes that came and were not given back; and those that users hold. */
  #owed = 0;
  #holding = 0;

  constructor(share: number) {
    this.#share = share;
  }

  get size(): number {
    return this.#window.size;
  }

  get holding(): number {
    return this.#holding;
  }

  admit(bytes: number, pace: Pace): boolean {
    return this.#window.admit(bytes, pace);
  }

  /** `bytes` came; a user holds `held` of them. */
  came(bytes: number, held: number): void {
    this.#owed += bytes;
    this.#holding += held;
  }

  released(bytes: number): void {
    this.#holding -= bytes;
  }

  /** What to give back now; 0: nothing yet. */
  due(pace: Pace): number {
    const free = this.#owed - Math.max(0, this.#holding - this.#share);
    if (free < this.#window.size >>> 1) return 0;
    this.#owed -= free;
    return this.#window.give(free, pace);
  }

  reset(budget: WindowBudget): void {
    this.#window.reset(budget);
  }
}

/** The round trip of a connection, measured while a visitor sends bodies: with the first byte, and then with each quarter of a window. */
export class RoundTrip {
  ms = 0;
  #askedAtMs = -1;
  #untilNext = 0;

  /** `bytes` of a body came; `window`: of the connection. True: a PING is due. */
  isDue(bytes: number, window: number, pace: Pace): boolean {
    this.#untilNext -= bytes;
    if (this.#untilNext > 0 || this.#askedAtMs >= 0) return false;
    this.#untilNext = window >>> 2;
    this.#askedAtMs = pace.nowMs();
    return true;
  }

  /** The answer came. False: to nothing that was asked. */
  answered(nowMs: number): boolean {
    if (this.#askedAtMs < 0) return false;
    this.ms = nowMs - this.#askedAtMs;
    this.#askedAtMs = -1;
    return true;
  }
}
