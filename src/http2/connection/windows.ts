/**
 * How much a visitor may send: of each stream, and of all streams of a connection. A window grows when its reader is fast enough to be waiting for
 * the visitor, and growth is taken from the process's budget (mux/window.ts), as with the streams of agents.
 */
import { nextWindow, type WindowBudget } from '../../mux/window.ts';

/** Every stream begins with this, by SETTINGS. */
export const STREAM_WINDOW = 262_144;
export const CONNECTION_WINDOW = 1 << 20;

/** The visitor gets no less than a usual frame of the connection's window back at a time. */
const LEAST_BYTES = 16_384;

/** What windows grow from. */
export type GrowthBudget = Pick<WindowBudget, 'largestWindow' | 'take' | 'give'>;

/** What a decision about a window takes into account. */
export interface Pace {
  readonly rttMs: number;
  nowMs(): number;
}

export class ReceiveWindow {
  readonly #budget: GrowthBudget;
  readonly #initial: number;
  #size: number;
  #left: number;
  #unreported = 0;
  /** When it was last given back; -1: nothing has come yet. */
  #reportedAtMs = -1;

  constructor(initial: number, budget: GrowthBudget) {
    this.#budget = budget;
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

  /** `bytes` more may come: not for the reader's pace, so nothing grows by it. */
  regain(bytes: number, pace: Pace): number {
    this.#left += bytes;
    this.#reportedAtMs = pace.nowMs();
    return bytes;
  }

  /** Gives back to the budget what was grown by, and is as new. */
  reset(): void {
    if (this.#size > this.#initial) this.#budget.give(this.#size - this.#initial);
    this.#size = this.#left = this.#initial;
    this.#unreported = 0;
    this.#reportedAtMs = -1;
  }

  #report(pace: Pace): number {
    const budget = this.#budget;
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
 * its own stream, and no other. Beyond the share the window is smaller by what they hold. Its streams grow by no more than its size in
 * all: services that took megabytes before they stood still would else hold more than share and window together, and stop all streams.
 */
export class ConnectionWindow implements GrowthBudget {
  readonly #budget: GrowthBudget;
  readonly #window: ReceiveWindow;
  readonly #share: number;
  /** Bytes that came and were not given back; and those that users hold. */
  #owed = 0;
  #holding = 0;
  /** By how much the windows of its streams have grown. */
  #grown = 0;

  /** `share`: bytes that users may hold before the window is smaller by them. `budget`: of the process. */
  constructor(share: number, budget: GrowthBudget) {
    this.#share = share;
    this.#budget = budget;
    this.#window = new ReceiveWindow(CONNECTION_WINDOW, budget);
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

  /** What to give back now, with growth; 0: nothing yet. */
  due(pace: Pace): number {
    const held = this.#holding - this.#share;
    if (held > 0) return this.#dueBeside(held, pace);
    if (this.#owed < this.#window.size >>> 1) return 0;
    const free = this.#owed;
    this.#owed = 0;
    return this.#window.give(free, pace);
  }

  /** The same while users hold `held` bytes beyond their share: by the half of what is left of the window. */
  #dueBeside(held: number, pace: Pace): number {
    const free = this.#owed - held;
    if (free < Math.max(LEAST_BYTES, (this.#window.size - held) >>> 1)) return 0;
    this.#owed = held;
    return this.#window.regain(free, pace);
  }

  reset(): void {
    this.#window.reset();
  }

  // ------------------------------------------------------------------ for the windows of its streams

  get largestWindow(): number {
    return this.#budget.largestWindow;
  }

  take(bytes: number): boolean {
    if (this.#grown + bytes > this.#window.size || !this.#budget.take(bytes)) return false;
    this.#grown += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#grown -= bytes;
    this.#budget.give(bytes);
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
