/**
 * Limit of emails that strangers can cause to one address: enough for a user whose mail is slow, too few to flood a mailbox. Taken
 * by sign-up.ts and password-reset.ts of auth/accounts, which do nothing at the bound, and say nothing; and by
 * organizations/invitations.ts and attention/alerts, which say so to the user who used up a budget of their own.
 */
import type { Clock } from '../../../base/clock.ts';
import { RecentMap } from '../../../base/limits/recent-map.ts';

/**
 * Emails at once. The address in trouble gets every one of them, and a reset link is good for longer than it takes until the next. A budget
 * of its own each: used-up codes of an address leave its reset link open.
 */
const BURST = {
  code: 5,
  reset: 5,
  notice: 5,
  /** Of one inviter, or one organization, to one address. */
  invitation: 5,
  /** Of all of them to one address: what no single one uses up. */
  invited: 30,
  /** Of one member, or one organization, to one address that is to get alerts; of all of them. */
  confirmation: 5,
  confirmations: 30,
  /** Alerts of one organization to one address; of all of them. */
  alert: 20,
  alerted: 60,
} as const;
export type EmailBudget = keyof typeof BURST;

/** Then one per this long. */
const REFILL_MS = 20 * 60 * 1000;
/** Addresses that got emails in the last hours, by sender: about 10 MB. Beyond it the quietest is forgotten: the mild side. */
const MAX_ADDRESSES = 100_000;

export class EmailLimit {
  readonly #clock: Clock;
  /** Until when an address has used up its emails (monotonic ms): generic cell rate algorithm. In memory: a restart forgives. */
  readonly #due = new RecentMap<string, number>({ max: MAX_ADDRESSES });

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * True when one more email may go to this address (`users.email_key`), which it takes. `from`: the id of its sender, where each has
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
