/**
 * Changes of a user's account by others, in the audit log of the oldest organization that the person is in, whose members
 * may read it, and thereby their own (audit/service.ts).
 */
import type { Tx } from '../../db/tx.ts';
import type { Actor } from '../../core/rules/actor.ts';
import type { AuditChange } from '../../core/rules/audit-changes.ts';
import { type AuditAction, type AuditDetails, recordAudit } from '../../core/rules/audit.ts';
import { orgsOf } from '../../organizations/rows.ts';

export interface UserAudit {
  readonly action: AuditAction;
  readonly userId: string;
  readonly details?: AuditDetails;
  readonly changes?: readonly AuditChange[];
}

export function recordUserAudit(tx: Tx, actor: Actor, { userId, ...what }: UserAudit): void {
  const home = orgsOf(tx.db, userId)[0];
  const entry = { ...what, resourceType: 'user', resourceId: userId } as const;
  recordAudit(tx, actor, home === undefined ? entry : { ...entry, orgId: home.id });
}
