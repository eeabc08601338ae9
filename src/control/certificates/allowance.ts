/**
 * How much is asked of the authority for names that have no certificate yet. Authorities count the new names below one registered domain in a
 * week (Let's Encrypt: 50), the orders of one account and the proofs of a name that failed; users of free names must not use up
 * what the others need. Renewals are not counted, here and there.
 */
import { DAY_MS, HOUR_MS } from '../../base/clock.ts';
import type { Db } from '../db/tx.ts';
import { lastOrdersSince, newNamesSince } from './rows.ts';
import type { Waiting } from './order-queue.ts';
import { type NoRoom, type Population, type Ranks, roomFor, type Taken } from './precedence.ts';
import { isBelow, type OrderTerms } from './order-terms.ts';

const WEEK_MS = 7 * DAY_MS;
/** Orders for new names in an hour of one owner, in all organizations of theirs. */
const MAX_ORDERS_PER_HOUR = 30;
/** The same for one whose names failed that often within the hour: what it has points elsewhere. */
const MANY_FAILURES = 5;
const MAX_ORDERS_OF_FAILING = 10;
/** Let's Encrypt takes 300 in three hours from one account; renewals come besides. */
const MAX_ALL_PER_HOUR = 80;
/** Names that are held are not looked at more often, however soon there may be room. */
const MIN_HOLD_MS = 5 * 60_000;

export interface AllowanceDeps extends Ranks {
  /** `acme.max_new_per_week`. */
  readonly maxNewPerWeek: number;
}

/** Why an order must wait, with what to do. */
export interface Hold {
  readonly until: number;
  readonly reason: string;
}

/** An order that is about to begin, for a name without a certificate. */
export interface AskedFor {
  readonly of: Pick<Waiting, 'name' | 'ownerId' | 'isFirst'>;
  readonly terms: OrderTerms;
  /** None has been sent for this name before. */
  readonly isNewName: boolean;
  readonly population: Population;
  readonly now: number;
}

interface Failure {
  readonly ownerId: string | null;
  readonly at: number;
}

export class Allowance {
  readonly #deps: AllowanceDeps;
  /** Of an hour, oldest first; null until the table was read, that a restart forgets nothing. */
  #orders: Taken[] | null = null;
  #failures: Failure[] = [];

  constructor(deps: AllowanceDeps) {
    this.#deps = deps;
  }

  /** Null: go on, and the order counts. */
  take(db: Db, order: AskedFor): Hold | null {
    const { of, now } = order;
    const hold = this.#holdOfHour(db, order) ?? this.#holdOfWeek(db, order);
    if (hold !== null) return { ...hold, until: Math.max(hold.until, now + MIN_HOLD_MS) };
    this.#orders?.push({ ownerId: of.ownerId, isFirst: of.isFirst, at: now });
    return null;
  }

  /** An order for a name without a certificate has failed. */
  failed(ownerId: string | null, now: number): void {
    this.#failures.push({ ownerId, at: now });
  }

  #holdOfHour(db: Db, { of, population, now }: AskedFor): Hold | null {
    const { name, ownerId } = of;
    const taken = this.#ordersOfHour(db, now);
    const own = taken.filter((one) => one.ownerId === ownerId);
    const isFailing = this.#failures.filter((one) => one.ownerId === ownerId).length >= MANY_FAILURES;
    const mine = isFailing ? MAX_ORDERS_OF_FAILING : MAX_ORDERS_PER_HOUR;
    if (ownerId !== null && own.length >= mine) {
      const why = isFailing
        ? `${mine} per owner after ${MANY_FAILURES} failed orders: point all your names to this server, or delete the others`
        : `${mine} per owner`;
      return this.#ofHour(name, why, (own[0]?.at ?? now) + HOUR_MS);
    }
    const full = roomFor(of, { taken, most: MAX_ALL_PER_HOUR, population });
    return (
      full && this.#ofHour(name, wordsFor(full, `${MAX_ALL_PER_HOUR} for this server`), (full.since ?? now) + HOUR_MS)
    );
  }

  #ofHour(name: string, why: string, until: number): Hold {
    const instead = isBelow(name, this.#deps.edgeDomain)
      ? ` A wildcard certificate by acme.challenge = "dns-01" has no such limit.`
      : '';
    const then = 'This one is ordered automatically later.';
    return { until, reason: `This hour's limit of new certificates is reached (${why}). ${then}${instead}` };
  }

  #ordersOfHour(db: Db, now: number): readonly Taken[] {
    const since = now - HOUR_MS;
    if (this.#orders === null) {
      const known = lastOrdersSince(db, this.#deps, since);
      this.#failures.push(...known.filter(({ failed }) => failed));
      this.#orders = [...known];
    }
    this.#orders = this.#orders.filter(({ at }) => at > since && at <= now);
    this.#failures = this.#failures.filter(({ at }) => at > since && at <= now);
    return this.#orders;
  }

  #holdOfWeek(db: Db, { of, terms, isNewName, population, now }: AskedFor): Hold | null {
    const { edgeDomain, maxNewPerWeek } = this.#deps;
    if (!isNewName || !terms.isOurs || of.ownerId === null || !isBelow(of.name, edgeDomain)) return null;
    const taken = newNamesSince(db, this.#deps, now - WEEK_MS);
    const full = roomFor(of, { taken, most: maxNewPerWeek, population });
    if (full === null) return null;
    const why = `${wordsFor(full, `${maxNewPerWeek} new names`)}; acme.max_new_per_week`;
    return {
      until: (full.since ?? now) + WEEK_MS,
      reason: `This week's limit of new certificates below ${edgeDomain} is reached (${why}). Get a wildcard certificate with acme.challenge = "dns-01".`,
    };
  }
}

function wordsFor({ why }: NoRoom, all: string): string {
  const half = 'Free plans get half; the rest is for paid plans and reserved names';
  return { all, half, share: 'your organizations have used up their share' }[why];
}
