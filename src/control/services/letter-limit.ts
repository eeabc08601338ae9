/**
 * How many letters strangers can have sent to one address: enough for somebody whose mail is slow, too few to flood a mailbox. Taken
 * by sign-up.ts and password-reset.ts, which do nothing at the bound, and say nothing; and by invitations.ts, which says so.
 */
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../base/clock.ts';

/** A budget of its own each: whoever uses up the codes of an address has not barred the way of the reset link. */
export type LetterBudget = 'code' | 'reset' | 'notice' | 'invitation';

/** At once. The address in trouble gets every one of them, and a reset link is good for longer than it takes until the next. */
const BURST = 5;
/** Then one per this long. */
const REFILL_MS = 20 * 60 * 1000;
/** Addresses with an account that were written to in the last hours: about 10 MB. Beyond it the quietest is forgotten: the mild side. */
const MAX_ADDRESSES = 100_000;

export class LetterLimit {
  readonly #clock: Clock;
  /** Until when an address has used up its letters (monotonic ms): generic cell rate algorithm. In memory: a restart forgives. */
  readonly #due = new LRUCache<string, number>({ max: MAX_ADDRESSES });

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** True when one more letter may go to the account with this address (`users.email_key`), which it takes. */
  take(budget: LetterBudget, emailKey: string): boolean {
    const key = `${budget}/${emailKey}`;
    const now = this.#clock.monotonic();
    const due = Math.max(this.#due.get(key) ?? now, now);
    if (due - now > (BURST - 1) * REFILL_MS) return false;
    this.#due.set(key, due + REFILL_MS);
    return true;
  }
}
