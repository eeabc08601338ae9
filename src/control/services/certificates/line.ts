/**
 * Whose order begins next. Names whose turn has come stand in line by organization, not by name: neither a hundred names of one nor names that
 * answer slowly keep the others waiting.
 */
import { sql } from 'drizzle-orm';
import { DAY_MS } from '../../../base/clock.ts';
import type { Db } from '../../db/tx.ts';
import { comesFirst, halfOf, type Population } from './precedence.ts';

const MAX_AT_ONCE = 4;
/** One place is kept for certificates that end soon, and they never have all. */
const MAX_COMMON = MAX_AT_ONCE - 1;
const MAX_URGENT = 2;
/** Of one organization, while no other waits. */
const MAX_OF_ORG = 2;
/** A certificate that is shown and has less left than this is urgent. */
const URGENT_MS = 7 * DAY_MS;
/** Names that are looked at; the first of each organization before the second of any. Chance decides beyond. */
const MAX_WAITING = 512;
/** Organizations whose last turn is known; one that is forgotten had none for long. */
const MAX_TURNS = 1_024;

/** A name whose turn has come. */
export interface Waiting {
  readonly name: string;
  /** Null: the server's own. */
  readonly orgId: string | null;
  /** See precedence.ts. */
  readonly isFirst: boolean;
  /** What is shown for it ends soon. */
  readonly isUrgent: boolean;
  /** What is shown for it is good. */
  readonly isRenewal: boolean;
  readonly hasFailed: boolean;
  /** In the line of its organization, from 1. */
  readonly place: number;
}

export class Line {
  /** Organization to its last turn, the longest ago first. A restart forgets them. */
  readonly #turns = new Map<string | null, number>();
  #turn = 0;

  /** The next of those that wait; undefined when there is no place for any. `running`: whose orders are under way. */
  next(
    waiting: readonly Waiting[],
    { running, population }: { running: readonly Waiting[]; population: Population },
  ): Waiting | undefined {
    const may = waiting.filter((one) => hasPlace(one, { running, population }));
    const next = may.reduce<Waiting | undefined>(
      (best, one) => (best === undefined || this.#compare(one, best, running) < 0 ? one : best),
      undefined,
    );
    if (next !== undefined) this.#remember(next.orgId);
    return next;
  }

  /** Below zero: `one` goes before `other`. */
  #compare(one: Waiting, other: Waiting, running: readonly Waiting[]): number {
    return (
      placesOf(one, running) - placesOf(other, running) ||
      Number(one.isRenewal && !one.isUrgent) - Number(other.isRenewal && !other.isUrgent) ||
      Number(other.isFirst) - Number(one.isFirst) ||
      Number(one.hasFailed) - Number(other.hasFailed) ||
      (this.#turns.get(one.orgId) ?? 0) - (this.#turns.get(other.orgId) ?? 0) ||
      one.place - other.place
    );
  }

  #remember(orgId: string | null): void {
    this.#turns.delete(orgId);
    this.#turns.set(orgId, ++this.#turn);
    const [longest] = this.#turns.keys();
    if (this.#turns.size > MAX_TURNS && longest !== undefined) this.#turns.delete(longest);
  }
}

/** Is there no place for anybody, whoever waits? */
export function isFull(running: readonly Waiting[]): boolean {
  return running.length >= MAX_AT_ONCE;
}

function hasPlace(
  one: Waiting,
  { running, population }: { running: readonly Waiting[]; population: Population },
): boolean {
  const urgent = running.filter(({ isUrgent }) => isUrgent).length;
  const free = running.filter(({ isFirst }) => !isFirst).length;
  return (
    !isFull(running) &&
    (one.isUrgent ? urgent < MAX_URGENT : running.length - urgent < MAX_COMMON) &&
    placesOf(one, running) < MAX_OF_ORG &&
    (one.isFirst || population.paid === 0 || free < halfOf(MAX_AT_ONCE))
  );
}

function placesOf({ orgId }: Waiting, running: readonly Waiting[]): number {
  return running.filter((one) => one.orgId === orgId).length;
}

type Flag = 'isFirst' | 'isUrgent' | 'isRenewal' | 'hasFailed';
/** As SQLite says it: 1 or 0. */
type Found = Omit<Waiting, Flag> & Readonly<Record<Flag, number>>;

/** Names whose turn has come, but those under way: of each organization what has nothing to show and never failed before the rest. */
export function waitingNames(
  db: Db,
  of: { readonly now: number; readonly edgeDomain: string; readonly except: readonly string[] },
): readonly Waiting[] {
  const { now, edgeDomain, except } = of;
  const isRenewal = sql`(chain IS NOT NULL AND coalesce(expires_at > ${now}, 0))`;
  const isUrgent = sql`(${isRenewal} AND expires_at < ${now + URGENT_MS})`;
  const rows = db.all<Found>(sql`
    SELECT name, orgId, isFirst, isUrgent, isRenewal, hasFailed,
      row_number() OVER (PARTITION BY orgId, isUrgent ORDER BY isRenewal, isFirst DESC, hasFailed, nextAt, name) AS place
    FROM (
      SELECT name, org_id AS orgId, ${comesFirst(edgeDomain)} AS isFirst, ${isUrgent} AS isUrgent,
        ${isRenewal} AS isRenewal, failures > 0 AS hasFailed, next_at AS nextAt
      FROM certificates
      WHERE next_at <= ${now} AND name NOT IN (SELECT value FROM json_each(${JSON.stringify(except)}))
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
