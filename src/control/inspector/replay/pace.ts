/**
 * How much an organization replays: so many at a time and so many per minute. In memory: a restart begins anew. Called by service.ts.
 */
import { Allowance } from '../../../base/limits/allowance.ts';
import type { Clock } from '../../../base/clock.ts';
import { AppError } from '../../../base/errors.ts';
import { RecentMap } from '../../../base/limits/recent-map.ts';
import { Shares } from '../../../base/limits/shares.ts';

/** At once, and then one per second. */
export const REPLAY_BURST = 60;
export const REPLAYS_PER_SECOND = 1;
/** Under way. A data node has bounds of its own, also for each tunnel. */
export const MAX_REPLAYS_AT_ONCE = 8;
/** Of all organizations: each holds a record with its body, and what is beyond a data node would refuse (data/edge/server-requests/tunnel-requests.ts). */
const MAX_UNDER_WAY = 32;
/** Organizations that are remembered. What falls out has its burst anew. */
const MAX_KNOWN = 10_000;

export class ReplayPace {
  readonly #clock: Clock;
  readonly #orgs = new RecentMap<string, Allowance>({ max: MAX_KNOWN });
  readonly #underWay = new Shares({ places: MAX_UNDER_WAY, each: MAX_REPLAYS_AT_ONCE });

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes a place, to be given back by what it returns, once. Throws `rate_limited`, `unavailable`. */
  enter(orgId: string): () => void {
    const now = this.#clock.monotonic();
    const allowance = this.#allowanceOf(orgId, now);
    if (this.#underWay.of(orgId) >= MAX_REPLAYS_AT_ONCE)
      throw new AppError(
        'rate_limited',
        `Your organization has ${MAX_REPLAYS_AT_ONCE} replays in progress, which is the limit. Try again when one is done.`,
        { retryAfterSeconds: 1 },
      );
    if (!allowance.hasOne(now))
      throw new AppError('rate_limited', 'Your organization replayed too many requests. Try again in a moment.', {
        retryAfterSeconds: Math.ceil(allowance.waitMs / 1_000),
      });
    const giveBack = this.#underWay.take(orgId);
    if (giveBack === undefined)
      throw new AppError(
        'unavailable',
        'Too many replays are in progress on this server. Try again in a few seconds.',
        {
          retryAfterSeconds: 5,
        },
      );
    allowance.spend();
    return giveBack;
  }

  #allowanceOf(orgId: string, nowMs: number): Allowance {
    const known = this.#orgs.get(orgId);
    if (known !== undefined) return known;
    const allowance = new Allowance({ perSecond: REPLAYS_PER_SECOND, burst: REPLAY_BURST }, nowMs);
    this.#orgs.set(orgId, allowance);
    return allowance;
  }
}
