/**
 * How far a stream's receive window may grow. Every open window is a promise to hold that many bytes, so growth beyond the
 * protocol's initial 256 KB is taken from one budget per process and given back when the stream ends.
 */
import { INITIAL_WINDOW } from './frame.ts';

/** 16 MB carries 1 Gbit/s at 128 ms. Over loopback growth stops at 4 MB by itself (see `nextWindow`). */
export const MAX_WINDOW = 16 << 20;
/** Half a window that lasts less than this many round trips: the window is what limits the sender. */
const ROUND_TRIPS = 2;
/** A round trip is taken as at least this long: on loopback the turns of two event loops are, whatever a ping says. */
const MIN_RTT_MS = 0.75;

export class WindowBudget {
  readonly bytes: number;
  #left: number;

  constructor(bytes: number) {
    this.bytes = bytes;
    this.#left = bytes;
  }

  get left(): number {
    return this.#left;
  }

  /** Windows over this are made smaller as they are used. */
  get largestWindow(): number {
    return MAX_WINDOW;
  }

  take(bytes: number): boolean {
    if (bytes > this.#left) return false;
    this.#left -= bytes;
    return true;
  }

  give(bytes: number): void {
    this.#left += bytes;
  }
}

/**
 * The size of the window after half of it has been read in `elapsedMs`: doubled when the reader is fast enough to be waiting
 * for the sender, the same otherwise. The reader's pace is measured where bytes leave the process, so a slow visitor never grows.
 */
export function nextWindow(window: number, elapsedMs: number, rttMs: number): number {
  if (elapsedMs > ROUND_TRIPS * Math.max(rttMs, MIN_RTT_MS)) return window;
  return Math.min(MAX_WINDOW, window * 2);
}

/** What a stream took from the budget. */
export function grownBy(window: number): number {
  return Math.max(0, window - INITIAL_WINDOW);
}
