/**
 * Daily limits per user, or per master key, of actions that cost others something: emails to strangers, names, rows. Counted over all
 * organizations in the audit log, which outlives them, memberships and restarts: nothing is won back by deleting or leaving.
 */
import { and, desc, eq, gt, inArray } from 'drizzle-orm';
import { DAY_MS } from '../../../base/clock.ts';
import { AppError } from '../../../base/errors.ts';
import { auditEvents } from '../../db/schema.ts';
import type { Tx } from '../../db/tx.ts';
import type { MasterKeyActor, UserActor } from './actor.ts';
import type { AuditAction } from './audit.ts';

export interface DailyLimit {
  readonly action: AuditAction;
  /** Counts as much as `action`. */
  readonly like?: AuditAction;
  /** In any 24 hours. */
  readonly perDay: number;
  /** What there was too much of. */
  readonly message: string;
}

/** Throws `rate_limited`, with the time until the person may again, when they did it as often as they may. */
export function checkDailyLimit(
  tx: Tx,
  actor: UserActor | MasterKeyActor,
  { action, like = action, perDay, message }: DailyLimit,
): void {
  const { at } = auditEvents;
  const first = tx.db
    .select({ at })
    .from(auditEvents)
    .where(
      and(eq(auditEvents.actorId, idOf(actor)), gt(at, tx.now - DAY_MS), inArray(auditEvents.action, [action, like])),
    )
    .orderBy(desc(at))
    .limit(1)
    .offset(perDay - 1)
    .get();
  if (first === undefined) return;
  throw new AppError('rate_limited', message, { retryAfterSeconds: Math.ceil((first.at + DAY_MS - tx.now) / 1000) });
}

export interface Room extends Pick<DailyLimit, 'action' | 'perDay'> {
  /** How many the organization has, and may have. */
  readonly has: number;
  readonly most: number;
  /** In the plural. */
  readonly what: string;
  /** How to make room. */
  readonly verb?: string;
}

/** May the user make one more in their organization? Throws `conflict` when it is full, `rate_limited` after too many in a day. */
export function checkRoom(tx: Tx, actor: UserActor, { has, most, what, verb = 'Delete', ...daily }: Room): void {
  if (has >= most) {
    throw new AppError('conflict', `Your organization has ${most} ${what}, which is the limit. ${verb} one first.`);
  }
  const message = `You reached the limit of ${daily.perDay} new ${what} a day. Try again later.`;
  checkDailyLimit(tx, actor, { ...daily, message });
}

/** Id of the user or the master key in the audit log. */
export function idOf(actor: UserActor | MasterKeyActor): string {
  return actor.kind === 'user' ? actor.userId : actor.tokenId;
}
