/**
 * Second factors between `enroll` and its confirmation: the secret is in memory alone, so that nothing unconfirmed is ever stored. After a
 * restart one begins again.
 */
import type { Clock } from '../../../base/clock.ts';
import { RecentMap } from '../../../base/limits/recent-map.ts';
import { matchingStep, newTotpSecret } from './totp.ts';

const LIFE_MS = 10 * 60 * 1000;
/** About 2 MB. Beyond it the oldest is forgotten, and its owner begins again. */
const MAX_PENDING = 10_000;
/** Wrong codes per secret: a phone with a wrong clock or a few slips. The user knows the secret, so this only bounds the work. */
const MAX_TRIES = 10;

interface Pending {
  readonly secret: string;
  readonly until: number;
  triesLeft: number;
}

export interface Confirmed {
  readonly secret: string;
  /** The step of the code that confirmed it. */
  readonly step: number;
}

export class PendingFactors {
  readonly #clock: Clock;
  readonly #bySession = new RecentMap<string, Pending>({ max: MAX_PENDING });

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A new secret for the session, in place of an earlier one. */
  begin(sessionId: string): string {
    const secret = newTotpSecret();
    this.#bySession.set(sessionId, { secret, until: this.#clock.monotonic() + LIFE_MS, triesLeft: MAX_TRIES });
    return secret;
  }

  /** The session's secret, once, when the code fits it. Undefined when it does not, or nothing is pending. */
  confirm(sessionId: string, code: string): Confirmed | undefined {
    const pending = this.#bySession.get(sessionId);
    if (pending === undefined) return undefined;
    const isLive = this.#clock.monotonic() < pending.until;
    const step = isLive ? matchingStep(pending.secret, code, this.#clock.now()) : undefined;
    pending.triesLeft--;
    if (!isLive || step !== undefined || pending.triesLeft === 0) this.#bySession.delete(sessionId);
    return step === undefined ? undefined : { secret: pending.secret, step };
  }
}
