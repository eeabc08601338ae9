/** Rows of large changes that are under way. Written by drains.ts; read by the steps that carry them out. */
import { and, asc, count, eq, gt, min, type SQL } from 'drizzle-orm';
import { uuidv7 } from 'uuidv7';
import { pendingWork } from '../db/schema.ts';
import type { Db, Tx } from '../db/tx.ts';
import type { Actor } from './rules/actor.ts';
import type { Plan } from './rules/plans.ts';

type Row = typeof pendingWork.$inferSelect;
export type PendingKind = Row['kind'];

/** Why a key ends that was not named: its master key did (`parent`, by its nonce), or what else. */
export type EndCause =
  | { readonly parent: string }
  | { readonly cause: 'grace_over' | 'log_in_ended' | 'account_locked' | 'project_deleted' };

/** What the steps of a kind need besides its scope. */
export interface PendingDetails {
  /** Of the organization that was deleted. */
  readonly name?: string;
  /** Whose keys end. */
  readonly userId?: string;
  /** Of the master key whose children end. */
  readonly masterId?: string;
  /** Why keys end; where it is not given, the master key that they came from. */
  readonly cause?: EndCause;
  /** Keys end at this instant, milliseconds. */
  readonly until?: number;
  readonly plan?: Plan;
}

export interface PendingWork extends Omit<Row, 'actor' | 'details'> {
  readonly actor: Actor;
  readonly details: PendingDetails;
}

export type NewPendingWork = Pick<PendingWork, 'kind' | 'scope' | 'orgId' | 'actor'> & {
  readonly details?: PendingDetails;
};

export function insertPending(tx: Tx, { details = {}, ...work }: NewPendingWork): PendingWork {
  const row: PendingWork = { ...work, id: uuidv7(), at: tx.now, details, cursor: '' };
  tx.db.insert(pendingWork).values(row).run();
  return row;
}

export function removePending(tx: Tx, { id }: PendingWork): void {
  tx.db.delete(pendingWork).where(eq(pendingWork.id, id)).run();
}

/** Remembers how far a step has come. */
export function moveCursor(tx: Tx, { id }: PendingWork, cursor: string): void {
  tx.db.update(pendingWork).set({ cursor }).where(eq(pendingWork.id, id)).run();
}

/** The oldest work of the organization behind `afterOrg`, and of the first one behind the last: organizations take turns. */
export function nextPending(db: Db, afterOrg: string): PendingWork | undefined {
  return first(db, gt(pendingWork.orgId, afterOrg)) ?? first(db);
}

/** The oldest work of one organization; empty: of users. */
export function oldestOf(db: Db, orgId: string): PendingWork | undefined {
  return first(db, eq(pendingWork.orgId, orgId));
}

function first(db: Db, which?: SQL): PendingWork | undefined {
  const row = db
    .select()
    .from(pendingWork)
    .where(which)
    .orderBy(asc(pendingWork.orgId), asc(pendingWork.id))
    .limit(1)
    .get();
  return row as PendingWork | undefined;
}

/** How much work is left, and the instant of the oldest mark (milliseconds); null: none is. */
export function pendingCount(db: Db): { readonly waiting: number; readonly oldestAt: number | null } {
  const [row = { waiting: 0, oldestAt: null }] = db
    .select({ waiting: count(), oldestAt: min(pendingWork.at) })
    .from(pendingWork)
    .all();
  return row;
}

/** The work that this one id stands for, if any. */
export function pendingOf(db: Db, kind: PendingKind, scope: string): PendingWork | undefined {
  const which = and(eq(pendingWork.kind, kind), eq(pendingWork.scope, scope));
  return db.select().from(pendingWork).where(which).get() as PendingWork | undefined;
}
