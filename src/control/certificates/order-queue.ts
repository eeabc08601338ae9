/**
 * Whose order begins next. Names whose turn has come stand in line by owner, not by name: neither a hundred names of one nor names that
 * answer slowly keep the others waiting.
 */
import { sql } from 'drizzle-orm';
import { DAY_MS } from '../../base/clock.ts';
import type { Db } from '../db/tx.ts';
import { comesFirst, halfOf, ownerOfRow, type Population, type Ranks } from './precedence.ts';

const MAX_AT_ONCE = 4;
/** One place is kept for certificates that end soon, and they never have all. */
const MAX_COMMON = MAX_AT_ONCE - 1;
const MAX_URGENT = 2;
/** Of one owner, while no other waits. */
const MAX_OF_OWNER = 2;
/** An order that has run for this long gives its place to the next and goes on beside: visitors wait for twenty seconds. */
const SLOW_MS = 10_000;
/** With those, in all. */
const MAX_RUNNING = 16;
/** A certificate that is shown and has less left than this is urgent. */
const URGENT_MS = 7 * DAY_MS;
/** Names that are looked at; the first of each owner before the second of any. Chance decides beyond. */
const MAX_WAITING = 512;
/** Owners whose last turn is known; one that is forgotten had none for long. */
const MAX_TURNS = 1_024;

/** A name whose turn has come. */
export interface Waiting {
  readonly name: string;
  /** Of its organization, see precedence.ts. Null: the server's own. */
  readonly ownerId: string | null;
  /** See precedence.ts. */
  readonly isFirst: boolean;
  /** What is shown for it ends soon. */
  readonly isUrgent: boolean;
  /** What is shown for it is good. */
  readonly isRenewal: boolean;
  readonly hasFailed: boolean;
  /** In the line of its owner, from 1. */
  readonly place: number;
}

/** One whose order is under way. */
export interface Running extends Waiting {
  /** Since it began. */
  readonly ms: number;
}

interface Places {
  readonly running: readonly Running[];
  readonly population: Population;
}

/** The queue of orders, fair to owners. */
export class OrderQueue {
  /** Owner to its last turn, the longest ago first. A restart forgets them. */
  readonly #turns = new Map<string | null, number>();
  #turn = 0;

  /** The next of those that wait; undefined when there is no place for any. `running`: whose orders are under way. */
  next(waiting: readonly Waiting[], { running, population }: Places): Waiting | undefined {
    const may = waiting.filter((one) => hasPlace(one, { running, population }));
    const next = may.reduce<Waiting | undefined>(
      (best, one) => (best === undefined || this.#compare(one, best, running) < 0 ? one : best),
      undefined,
    );
    if (next !== undefined) this.#remember(next.ownerId);
    return next;
  }

  /** Below zero: `one` goes before `other`. */
  #compare(one: Waiting, other: Waiting, running: readonly Waiting[]): number {
    return (
      placesOf(one, running) - placesOf(other, running) ||
      Number(one.isRenewal && !one.isUrgent) - Number(other.isRenewal && !other.isUrgent) ||
      Number(other.isFirst) - Number(one.isFirst) ||
      Number(one.hasFailed) - Number(other.hasFailed) ||
      (this.#turns.get(one.ownerId) ?? 0) - (this.#turns.get(other.ownerId) ?? 0) ||
      one.place - other.place
    );
  }

  #remember(ownerId: string | null): void {
    this.#turns.delete(ownerId);
    this.#turns.set(ownerId, ++this.#turn);
    const [longest] = this.#turns.keys();
    if (this.#turns.size > MAX_TURNS && longest !== undefined) this.#turns.delete(longest);
  }
}

/** Is there no place, for any owner? */
export function isFull(running: readonly Running[]): boolean {
  return running.length >= MAX_RUNNING || running.filter(isQuick).length >= MAX_AT_ONCE;
}

function isQuick({ ms }: Running): boolean {
  return ms < SLOW_MS;
}

/** Is there none for a name that has nothing to show? */
export function isFullForNew(running: readonly Running[]): boolean {
  return isFull(running) || commonOf(running) >= MAX_COMMON;
}

function commonOf(running: readonly Running[]): number {
  return running.filter((one) => isQuick(one) && !one.isUrgent).length;
}

function hasPlace(one: Waiting, { running, population }: Places): boolean {
  const quick = running.filter(isQuick);
  const urgent = quick.filter(({ isUrgent }) => isUrgent).length;
  const own = placesOf(one, running);
  const isHalved = population.paid > 0 && !one.isFirst;
  const freeOf = (those: readonly Running[]): number => those.filter(({ isFirst }) => !isFirst).length;
  return (
    !isFull(running) &&
    // The last place is for who has none: also when all others that have one could take a second.
    (one.isUrgent ? urgent < MAX_URGENT : commonOf(running) < MAX_COMMON - Math.min(own, 1)) &&
    own < MAX_OF_OWNER &&
    !(isHalved && (freeOf(quick) >= halfOf(MAX_AT_ONCE) || freeOf(running) >= halfOf(MAX_RUNNING)))
  );
}

function placesOf({ ownerId }: Waiting, running: readonly Waiting[]): number {
  return running.filter((one) => one.ownerId === ownerId).length;
}

type Flag = 'isFirst' | 'isUrgent' | 'isRenewal' | 'hasFailed';
/** As SQLite says it: 1 or 0. */
type Found = Omit<Waiting, Flag> & Readonly<Record<Flag, number>>;

/** Names whose turn has come, but those under way: of each owner what has nothing to show and never failed before the rest. */
export function waitingNames(
  db: Db,
  of: { readonly now: number; readonly ranks: Ranks; readonly except: readonly string[]; readonly only?: string },
): readonly Waiting[] {
  const { now, ranks, except, only } = of;
  const isRenewal = sql`(chain IS NOT NULL AND coalesce(expires_at > ${now}, 0))`;
  const isUrgent = sql`(${isRenewal} AND expires_at < ${now + URGENT_MS})`;
  const rows = db.all<Found>(sql`
    SELECT name, ownerId, isFirst, isUrgent, isRenewal, hasFailed,
      row_number() OVER (PARTITION BY ownerId, isUrgent ORDER BY isRenewal, isFirst DESC, hasFailed, nextAt, name) AS place
    FROM (
      SELECT name, ${ownerOfRow()} AS ownerId, ${comesFirst(ranks)} AS isFirst, ${isUrgent} AS isUrgent,
        ${isRenewal} AS isRenewal, failures > 0 AS hasFailed, next_at AS nextAt
      FROM certificates
      WHERE next_at <= ${now} AND name NOT IN (SELECT value FROM json_each(${JSON.stringify(except)}))
        ${only === undefined ? sql`` : sql`AND name = ${only}`}
    )
    ORDER BY place, isFirst DESC, random()
    LIMIT ${MAX_WAITING}`);
  return rows.map(({ isFirst, isUrgent: ends, isRenewal, hasFailed, ...row }) => ({
    ...row,
    isFirst: isFirst === 1,
    isUrgent: ends === 1,
    isRenewal: isRenewal === 1,
    hasFailed: hasFailed === 1,
  }));
}
