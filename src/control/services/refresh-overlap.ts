/**
 * Which refresh cookies are being swapped at this moment. Tells two tabs of one browser, which send the same cookie at the same
 * instant, from a thief, who sends it after it was swapped. Called by refresh.ts.
 *
 * The first request with a cookie has it to itself. Its swap is made and answered only once no other request has come with the cookie
 * for HOLD_MS, so that requests that were sent with it but arrive some milliseconds later still meet it here. Until then nothing is
 * stored: a caller that goes away, or a server that dies, leaves the cookie as it was.
 */
import { setImmediate, setTimeout } from 'node:timers/promises';
import { AppError } from '../../base/errors.ts';

/** Tabs that wake up together are a few milliseconds apart; nobody notices that a refresh takes this long. */
const HOLD_MS = 100;
/** Whoever sends the cookie without end does not keep the first one waiting for longer: 1 s. */
const MAX_HOLDS = 10;
/** Ten times what the API listener has connections; beyond it a swap is refused and its cookie stays good. */
const MAX_HELD = 10_000;

interface Held {
  /** Another request has come with the cookie in this hold. */
  joined: boolean;
}

export class RefreshOverlap {
  readonly #held = new Map<string, Held>();

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

  /**
   * Runs `swap` after the hold, and lets go of the cookie once its result is there: before the caller can have read it, so that
   * whoever sends the cookie after that is a thief. Not to be called for a cookie that is held. Throws `unavailable` at the bound.
   */
  async hold<T>(hash: string, swap: () => Promise<T>): Promise<T> {
    if (this.#held.size >= MAX_HELD) {
      throw new AppError('unavailable', 'Too many sessions are refreshed at this moment. Send the request again.', {
        retryAfterSeconds: 1,
      });
    }
    const held: Held = { joined: true };
    this.#held.set(hash, held);
    try {
      for (let i = 0; i < MAX_HOLDS && held.joined; i++) await quiet(held);
      return await swap();
    } finally {
      this.#held.delete(hash);
    }
  }
}

async function quiet(held: Held): Promise<void> {
  held.joined = false;
  await setTimeout(HOLD_MS);
  // After a busy turn of the loop the timer comes before connections and requests that have been waiting in the system: one turn to
  // accept them, one to read.
  await setImmediate();
  await setImmediate();
}
