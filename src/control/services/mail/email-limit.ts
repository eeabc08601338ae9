/**
 * How many letters strangers can have sent to one address: enough for somebody whose mail is slow, too few to flood a mailbox. Taken
 * by sign-up.ts and password-reset.ts, which do nothing at the bound, and say nothing; and by invitations.ts, which says so to whoever used
 * up a budget of their own.
 */
import type { Clock } from '../../../base/clock.ts';
import { RecentMap } from '../../../base/recent-map.ts';

/**
 * Letters at once. The address in trouble gets every one of them, and a reset link is good for longer than it takes until the next. A budget
 * of its own each: whoever uses up the codes of an address has not barred the way of the reset link.
 */
const BURST = {
  code: 5,
  reset: 5,
  notice: 5,
  /** Of one inviter, or one organization, to one address. */
  invitation: 5,
  /** Of all of them to one address: what no single one uses up. */
  invited: 30,
} as const;
export type EmailBudget = keyof typeof BURST;

/** Then one per this long. */
const REFILL_MS = 20 * 60 * 1000;
/** Addresses that were written to in the last hours, by whom: about 10 MB. Beyond it the quietest is forgotten: the mild side. */
const MAX_ADDRESSES = 100_000;

export class EmailLimit {
  readonly #clock: Clock;
  /** Until when an address has used up its letters (monotonic ms): generic cell rate algorithm. In memory: a restart forgives. */
  readonly #due = new RecentMap<string, number>({ max: MAX_ADDRESSES });

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * True when one more letter may go to this address (`users.email_key`), which it takes. `from`: the id of whoever sends it, where each has
   * a budget of their own.
   */
  take(budget: EmailBudget, emailKey: string, from = ''): boolean {
    const key = `${budget}/${from}/${emailKey}`;
    const now = this.#clock.monotonic();
    const due = Math.max(this.#due.get(key) ?? now, now);
    if (due - now > (BURST[budget] - 1) * REFILL_MS) return false;
    this.#due.set(key, due + REFILL_MS);
    return true;
  }
}
