/**
 * How long the agent waits before it tries again. Contract §9: 0.5 s doubling to 30 s, with full jitter, for ever.
 *
 * Full jitter (a random part of the step, not the step plus something) spreads a thousand agents that lost the same server
 * at the same moment over the whole step.
 */
const FIRST_MS = 500;
const LIMIT_MS = 30_000;
/** A draw of 0 would be a busy loop against a server that refuses at once. */
const FLOOR_MS = 50;
/** After a session that came up but did not last: its next waits start here (2 s), so that a server that dies at each hello is not hammered. */
const UNSTEADY_STEP = 2;
/** A server that restarts is looked for this often at first, then a little less so, then as any other. */
const SOON_MS = [50, 100] as const;
const SOON_UNTIL_MS = 5_000;
const LATER_MS = [150, 250] as const;
const LATER_UNTIL_MS = 45_000;
/** What a server may ask the agent to stay away for; more is taken for a mistake. */
const MAX_RETRY_AFTER_MS = 300_000;

export class Backoff {
  readonly #random: () => number;
  readonly #limitMs: number;
  #step = 0;
  /** Waits so far for a server that restarts, in milliseconds; null: none does. */
  #restartMs: number | null = null;

  /** `random` gives numbers in [0, 1). `limitMs`: no wait is longer. */
  constructor(random: () => number, limitMs = LIMIT_MS) {
    this.#random = random;
    this.#limitMs = limitMs;
  }

  /** The next wait in milliseconds; each call doubles the step until the limit. */
  next(): number {
    const soon = this.#restartMs === null ? undefined : this.#nextOfRestart(this.#restartMs);
    if (soon !== undefined) return soon;
    const limit = Math.min(this.#limitMs, FIRST_MS * 2 ** this.#step);
    if (limit < this.#limitMs) this.#step++;
    return Math.max(FLOOR_MS, Math.round(this.#random() * limit));
  }

  /** `ms` give or take 10 %: agents that were sent away together don't come back in one moment. */
  about(ms: number): number {
    return Math.round(ms * (0.9 + 0.2 * this.#random()));
  }

  /**
   * What the server asked for, and up to a tenth more, for the same reason; never earlier. `isRestart`: the server restarts, and the waits behind this one
   * are short, so that its new process is found within 300 ms of its listening. A refused dial costs both sides next to nothing; the random part
   * spreads agents over the step, and the server paces their handshakes.
   */
  after(ms: number, isRestart = false): number {
    if (isRestart) this.#restartMs = 0;
    return Math.round(Math.min(ms, MAX_RETRY_AFTER_MS) * (1 + 0.1 * this.#random()));
  }

  /** There is a session again. */
  found(): void {
    this.#restartMs = null;
  }

  #nextOfRestart(soFarMs: number): number | undefined {
    if (soFarMs >= LATER_UNTIL_MS) {
      this.#restartMs = null;
      return undefined;
    }
    const [least, most] = soFarMs < SOON_UNTIL_MS ? SOON_MS : LATER_MS;
    const ms = Math.round(least + this.#random() * (most - least));
    this.#restartMs = soFarMs + ms;
    return ms;
  }

  /** A session worked and lasted, or a person asked to try now: the next wait is short again. */
  reset(): void {
    this.#step = 0;
  }

  /** A session worked but ended soon. */
  settle(): void {
    this.#step = Math.min(this.#step, UNSTEADY_STEP);
  }
}
