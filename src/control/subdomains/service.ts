/**
 * Names that an organization keeps whether or not a tunnel has them. A plan that shrinks takes none away: it only
 * lets no more be added.
 */
import { count, desc, eq, inArray } from 'drizzle-orm';
import { uuidv7 } from 'uuidv7';
import { AppError } from '../../base/errors.ts';
import { reservedSubdomains } from '../db/schema.ts';
import type { Db, Store, Tx } from '../db/tx.ts';
import { type Actor, allow, type UserActor } from '../core/rules/actor.ts';
import { recordAll } from '../core/rules/audit.ts';
import { type BillingMode, requireRoom } from '../core/rules/plan-gate.ts';
import { checkRoom } from '../core/rules/daily-limit.ts';
import { isSystemName } from '../core/rules/labels.ts';
import type { OwnLabels } from './own-labels.ts';
import { isBarred, letAllRest, liveByLabel, type ReservationRow, reservationOf } from './free-names.ts';
import type { PendingWork } from '../core/pending-rows.ts';
import { findOrg } from '../organizations/rows.ts';
import { ownRow } from '../core/rules/own-row.ts';

export type ReservedSubdomain = ReservationRow;

/** Of one organization whose plan sets no limit: a bound for lists, far above need. */
export const MAX_RESERVED = 1_000;
/** Names that one person reserves in a day, those given up too: each has a cooldown of a day for all others. */
const MAX_PER_DAY = 2_000;
const ROOM = {
  action: 'reserved_subdomain.create',
  most: MAX_RESERVED,
  perDay: MAX_PER_DAY,
  what: 'reserved subdomains',
  verb: 'Release',
} as const;

export class ReservedSubdomains {
  readonly #store: Store;
  readonly #billing: BillingMode;
  readonly #ownLabels: OwnLabels;

  constructor(deps: { store: Store; billing: BillingMode; ownLabels: OwnLabels }) {
    this.#ownLabels = deps.ownLabels;
    this.#store = deps.store;
    this.#billing = deps.billing;
  }

  /** Of the actor's organization, newest first. */
  list(actor: Actor): readonly ReservedSubdomain[] {
    allow(actor, 'read', 'reserved_subdomain');
    return ofOrg(this.#store.db, actor.orgId);
  }

  /**
   * Keeps a name, which has been checked to be a label, also one that a tunnel of the organization has. Throws `upgrade_required` beyond the
   * plan's number, `duplicate_name`, `conflict` beyond the bound, `rate_limited`, `forbidden`.
   */
  create(actor: Actor, subdomain: string): ReservedSubdomain {
    allow(actor, 'create', 'reserved_subdomain');
    return this.#store.inTx((tx) => {
      if (reservationOf(tx.db, subdomain)?.orgId === actor.orgId) {
        throw new AppError('duplicate_name', `Your organization already reserved ${subdomain}. Use it.`);
      }
      this.#checkRoom(tx, actor);
      const live = liveByLabel(tx.db, subdomain);
      if (this.#ownLabels.has(subdomain) || isSystemName(subdomain)) {
        throw new AppError('duplicate_name', `The server reserves ${subdomain}. Choose another subdomain.`);
      }
      if (isBarred(tx, subdomain, actor.orgId) || (live !== undefined && live.orgId !== actor.orgId)) {
        throw new AppError('duplicate_name', `${subdomain} is taken. Choose another subdomain.`);
      }
      const row: ReservedSubdomain = { id: uuidv7(), orgId: actor.orgId, subdomain, createdAt: tx.now };
      tx.db.insert(reservedSubdomains).values(row).run();
      record(tx, actor, { verb: 'create', rows: [row] });
      return row;
    });
  }

  /** The name rests; a tunnel of the organization that has it goes on. Throws `not_found`. */
  delete(actor: Actor, id: string): void {
    allow(actor, 'delete', 'reserved_subdomain');
    this.#store.inTx((tx) => {
      const wanted = { orgId: actor.orgId, id, what: 'reserved subdomain' };
      release(tx, actor, [ownRow(tx.db, reservedSubdomains, wanted)]);
    });
  }

  /** Gives up the names of an organization that was deleted. A Drain. */
  drain(tx: Tx, { scope, actor }: PendingWork, limit: number): number {
    const rows = ofOrg(tx.db, scope, limit);
    release(tx, actor, rows);
    return rows.length;
  }

  #checkRoom(tx: Tx, actor: UserActor): void {
    const used = countOf(tx.db, actor.orgId);
    requireRoom(findOrg(tx.db, actor.orgId)?.plan ?? 'free', { quota: 'reservedSubdomains', used }, this.#billing);
    checkRoom(tx, actor, { ...ROOM, has: used });
  }
}

function release(tx: Tx, actor: Actor, rows: readonly ReservedSubdomain[]): void {
  const ids = rows.map(({ id }) => id);
  tx.db.delete(reservedSubdomains).where(inArray(reservedSubdomains.id, ids)).run();
  letAllRest(
    tx,
    rows.map(({ subdomain, orgId }) => ({ label: subdomain, orgId })),
  );
  record(tx, actor, { verb: 'delete', rows });
}

function record(
  tx: Tx,
  actor: Actor,
  { verb, rows }: { verb: 'create' | 'delete'; rows: readonly ReservedSubdomain[] },
): void {
  recordAll(
    tx,
    actor,
    rows.map((row) => ({
      action: `reserved_subdomain.${verb}`,
      resourceType: 'reserved_subdomain',
      resourceId: row.id,
      details: { subdomain: row.subdomain },
    })),
  );
}

/** Newest first. */
function ofOrg(db: Db, orgId: string, limit = MAX_RESERVED): readonly ReservedSubdomain[] {
  return db
    .select()
    .from(reservedSubdomains)
    .where(eq(reservedSubdomains.orgId, orgId))
    .orderBy(desc(reservedSubdomains.createdAt), desc(reservedSubdomains.id))
    .limit(limit)
    .all();
}

function countOf(db: Db, orgId: string): number {
  const found = db.select({ n: count() }).from(reservedSubdomains).where(eq(reservedSubdomains.orgId, orgId)).get();
  return found?.n ?? 0;
}
