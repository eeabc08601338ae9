/**
 * How much is asked of the authority for names that have no certificate yet. Authorities count the new names below one registered domain in a
 * week (Let's Encrypt: 50), the orders of one account and the proofs of a name that failed; whoever makes names for nothing must not use up
 * what the others need. Renewals are not counted, here and there.
 */
import { isNull } from 'drizzle-orm';
import { DAY_MS, HOUR_MS } from '../../../base/clock.ts';
import { organizations } from '../../db/schema.ts';
import type { Db } from '../../db/tx.ts';
import { newNamesSince } from './certificate-rows.ts';
import { isBelow, type Standing } from './standing.ts';

const WEEK_MS = 7 * DAY_MS;
/** The last third of a week's names is for organizations that had fewer than this many of them, where there are several. */
const FAIR_SHARE = 5;
/** Orders for new names of one organization in an hour, those that fail above all. */
const MAX_ORDERS_PER_HOUR = 30;
/** Let's Encrypt takes 300 in three hours from one account; renewals come besides. */
const MAX_ALL_PER_HOUR = 80;

export interface AllowanceDeps {
  readonly edgeDomain: string;
  /** `acme.max_new_per_week`. */
  readonly maxNewPerWeek: number;
}

/** Why an order must wait. */
export interface Hold {
  readonly until: number;
  /** Null: a matter of minutes that nobody needs to hear of. */
  readonly reason: string | null;
}

interface Asked {
  readonly name: string;
  readonly orgId: string | null;
  readonly at: number;
}

export class Allowance {
  readonly #deps: AllowanceDeps;
  /** Orders for new names, oldest first: those of an hour, and names of a week below edge.domain. A restart forgets whose they were, not how many. */
  #orders: Asked[] = [];
  #names: Asked[] = [];

  constructor(deps: AllowanceDeps) {
    this.#deps = deps;
  }

  /** Null: go on, and the order counts. `isNewName` when none has been sent for this name before. */
  take(
    db: Db,
    name: string,
    { standing, isNewName, now }: { standing: Standing; isNewName: boolean; now: number },
  ): Hold | null {
    const { orgId } = standing;
    this.#orders = this.#orders.filter(({ at }) => at > now - HOUR_MS);
    this.#names = this.#names.filter(({ at }) => at > now - WEEK_MS);
    const own = this.#orders.filter((one) => one.orgId === orgId);
    const crowd = own.length >= MAX_ORDERS_PER_HOUR ? own : this.#orders.length >= MAX_ALL_PER_HOUR ? this.#orders : [];
    const [oldest] = crowd;
    if (oldest !== undefined) return { until: oldest.at + HOUR_MS, reason: null };
    const asked = { name, orgId, at: now };
    if (isNewName && standing.isOurs && isBelow(name, this.#deps.edgeDomain) && orgId !== null) {
      const hold = this.#holdOfWeek(db, orgId, now);
      if (hold !== null) return hold;
      this.#names.push(asked);
    }
    this.#orders.push(asked);
    return null;
  }

  #holdOfWeek(db: Db, orgId: string, now: number): Hold | null {
    const { edgeDomain, maxNewPerWeek } = this.#deps;
    const recent = newNamesSince(db, `.${edgeDomain}`, now - WEEK_MS);
    const isFull = recent.length >= maxNewPerWeek;
    const isLastThird = recent.length >= Math.ceil((maxNewPerWeek * 2) / 3);
    const own = this.#names.filter((one) => one.orgId === orgId).length;
    if (!isFull && (!isLastThird || own < FAIR_SHARE || !hasOthers(db))) return null;
    const until = (recent[0]?.createdAt ?? now) + WEEK_MS;
    const most = isFull ? `${maxNewPerWeek} new names` : 'the share of your organization';
    return {
      until,
      reason: `This week's new certificates below ${edgeDomain} are used up (${most}; acme.max_new_per_week). A wildcard certificate by acme.challenge = "dns-01" has no such limit.`,
    };
  }
}

/** Is there more than one organization on this server? */
function hasOthers(db: Db): boolean {
  const { id, deletedAt } = organizations;
  return db.select({ id }).from(organizations).where(isNull(deletedAt)).limit(2).all().length > 1;
}
