/**
 * How many wrong passwords an address may show in a minute, different ones: ten to a tunnel, and forty to all of a node. Each check counts when it
 * begins, so that a burst of them is no way around the limit; one that was right is given back. Used by checks.ts.
 */

export const GUESSES = 10;
export const NODE_GUESSES = 40;
export const GUESS_WINDOW_MS = 60_000;
/**
 * Addresses that are counted at once, of all tunnels. Beyond it the one that began first is forgotten: an attacker with so many addresses is held
 * up by the line of checks, not by this.
 */
const MAX_COUNTED = 20_000;

interface Window {
  readonly startedMs: number;
  count: number;
}

export class BasicGuesses {
  readonly #most: number;
  /** Oldest window first. */
  readonly #windows = new Map<string, Window>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Addresses that are counted now. */
  get size(): number {
    return this.#windows.size;
  }

  /** Seconds for which `who` may not try; 0: it may. */
  waitOf(who: string, nowMs: number): number {
    const window = this.#live(who, nowMs);
    if (window === undefined || window.count < this.#most) return 0;
    // The clock of a request may be behind the one that the window began by.
    const leftMs = Math.min(GUESS_WINDOW_MS, window.startedMs + GUESS_WINDOW_MS - nowMs);
    return Math.max(1, Math.ceil(leftMs / 1000));
  }

  add(who: string, nowMs: number): void {
    const window = this.#live(who, nowMs);
    if (window !== undefined) {
      window.count++;
      return;
    }
    this.#windows.delete(who);
    for (const [key, { startedMs }] of this.#windows) {
      if (nowMs - startedMs < GUESS_WINDOW_MS && this.#windows.size < MAX_COUNTED) break;
      this.#windows.delete(key);
    }
    this.#windows.set(who, { startedMs: nowMs, count: 1 });
  }

  giveBack(who: string): void {
    const window = this.#windows.get(who);
    // Without guesses nothing is kept.
    if (window !== undefined && --window.count <= 0) this.#windows.delete(who);
  }

  #live(who: string, nowMs: number): Window | undefined {
    const window = this.#windows.get(who);
    return window !== undefined && nowMs - window.startedMs < GUESS_WINDOW_MS ? window : undefined;
  }
}
