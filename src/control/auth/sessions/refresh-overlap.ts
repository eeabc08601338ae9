/**
 * Which refresh cookies are being swapped now, and which were a moment ago: tells two tabs of one browser from a thief. Called by
 * refresh.ts. A swap waits until no other request has come with the cookie for HOLD_MS; nothing is stored before that. For
 * RECENT_MS the cookie that was swapped last is known. In memory alone. Reasons: docs/decisions/0014-refresh-cookies.md.
 */
import { setImmediate, setTimeout } from 'node:timers/promises';
import type { Clock } from '../../../base/clock.ts';
import { AppError } from '../../../base/errors.ts';
import { RecentMap } from '../../../base/limits/recent-map.ts';

/** Tabs that wake up together are a few milliseconds apart; such a delay of a refresh goes unnoticed. */
const HOLD_MS = 100;
/** A client that resends the cookie without end delays the first one no longer than this: 1 s. */
const MAX_HOLDS = 10;
/** Ten times what the API listener has connections; beyond it a swap is refused and its cookie stays good. */
const MAX_HELD = 10_000;
/** From the swap until every request of that browser with the old cookie has arrived, over a mobile network too. */
const RECENT_MS = 5_000;
/** Sessions whose last swap is remembered: 2,000 swaps a second. Beyond it the oldest is forgotten, which errs on the strict side. */
const MAX_RECENT = 10_000;

interface Held {
  /** Another request has come with the cookie in this hold. */
  joined: boolean;
}

/** A swap: by hash the cookie that was given up and the one that took its place. */
interface Swap {
  readonly old: string;
  readonly successor: string;
  readonly atMs: number;
}

export class RefreshOverlap {
  readonly #clock: Clock;
  readonly #pause: (ms: number) => Promise<unknown>;
  readonly #held = new Map<string, Held>();
  /** By session, so that the swap of a successor takes the place of the swap that made it. */
  readonly #recent = new RecentMap<string, Swap>({ max: MAX_RECENT });

  constructor(clock: Clock, pause: (ms: number) => Promise<unknown> = setTimeout) {
    this.#clock = clock;
    this.#pause = pause;
  }

  /** True while a swap of the cookie with this hash is under way. */
  isHeld(hash: string): boolean {
    return this.#held.has(hash);
  }

  /** As `isHeld`, for a request that wants to swap the cookie too: there may be more of them. */
  join(hash: string): boolean {
    const held = this.#held.get(hash);
    if (held !== undefined) held.joined = true;
    return held !== undefined;
  }

  /** To be called when a swap is stored, while its cookie is still held. */
  remember(sessionId: string, hashes: { old: string; successor: string }): void {
    this.#recent.set(sessionId, { ...hashes, atMs: this.#clock.monotonic() });
  }

  /** True for a moment after the swap of the cookie with this hash, as long as no client has used the one that took its place. */
  wasJustSwapped(sessionId: string, hash: string): boolean {
    const swap = this.#recent.get(sessionId);
    if (swap?.old !== hash || this.#held.has(swap.successor)) return false;
    return this.#clock.monotonic() - swap.atMs < RECENT_MS;
  }

  /**
   * Runs `swap` after the hold, and lets go of the cookie once its result is there: before the caller can have read it, so that
   * later requests with the cookie are late. Not to be called for a cookie that is held. Throws `unavailable` at the bound.
   */
  async hold<T>(hash: string, swap: () => Promise<T>): Promise<T> {
    if (this.#held.size >= MAX_HELD) {
      throw new AppError('unavailable', 'Too many sessions are being refreshed. Send the request again.', {
        retryAfterSeconds: 1,
      });
    }
    const held: Held = { joined: true };
    this.#held.set(hash, held);
    try {
      for (let i = 0; i < MAX_HOLDS && held.joined; i++) await this.#quiet(held);
      return await swap();
    } finally {
      this.#held.delete(hash);
    }
  }

  async #quiet(held: Held): Promise<void> {
    held.joined = false;
    await this.#pause(HOLD_MS);
    // After a busy turn of the loop the timer comes before connections and requests that have been waiting in the system: one turn to
    // accept them, one to read.
    await setImmediate();
    await setImmediate();
  }
}
