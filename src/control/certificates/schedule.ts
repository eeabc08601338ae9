/** When a certificate is asked for next. Pure: the instant and the chance are arguments, all in milliseconds. */
import { DAY_MS, HOUR_MS } from '../../base/clock.ts';

const FIRST_WAIT_MS = 5 * 60_000;
const MAX_WAIT_MS = DAY_MS;
/** An authority that asks for more patience than that has gone wrong, and the fault would stay hidden. */
export const MAX_RETRY_AFTER_MS = 7 * DAY_MS;
/** What is left of a lifetime when it is renewed at the latest: enough for a month of failures with the usual 90 days. */
const LEFT = 1 / 3;
/** Certificates of one start are not all renewed in one minute. */
const JITTER = 1 / 30;
const MAX_JITTER_MS = DAY_MS;
/** However odd the dates are, a certificate that has just come is not asked for again at once. */
const MIN_REST_MS = HOUR_MS / 2;

export interface Lifetime {
  readonly notBefore: number;
  readonly notAfter: number;
}

/**
 * The instant at which a certificate is renewed: a third of its lifetime before its end, or when its authority says if that is earlier; a
 * little before, by chance. `chance` is in [0, 1).
 */
export function renewalOf({ notBefore, notAfter }: Lifetime, suggested: number | null, chance: number): number {
  const lifetime = Math.max(0, notAfter - notBefore);
  const latest = notAfter - lifetime * LEFT;
  const jitter = Math.min(lifetime * JITTER, MAX_JITTER_MS) * chance;
  return Math.round(Math.min(latest, suggested ?? latest) - jitter);
}

/** The same for one that has come at `now`: not before it had a rest. */
export function firstRenewalOf(
  of: Lifetime,
  suggested: number | null,
  { now, chance }: { now: number; chance: number },
) {
  return Math.max(renewalOf(of, suggested, chance), now + MIN_REST_MS);
}

/** How long to wait after the `failures`th failure in a row: 5 min, doubling to a day, and no less than the authority asks for. */
export function waitAfter(failures: number, retryAfterMs: number | null): number {
  const own = Math.min(FIRST_WAIT_MS * 2 ** Math.min(Math.max(failures, 1) - 1, 16), MAX_WAIT_MS);
  return Math.max(own, Math.min(retryAfterMs ?? 0, MAX_RETRY_AFTER_MS));
}
