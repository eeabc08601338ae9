/**
 * What is done to a person's account by somebody else, in the trail: that of the oldest organization that the person is in, whose members
 * may read it, and thereby their own (events.ts).
 */
import type { Tx } from '../../db/tx.ts';
import type { Actor } from '../actor.ts';
import { type AuditAction, type DeedDetails, recordDeed } from '../audit.ts';
import { orgsOf } from '../organizations/organization-rows.ts';

export interface UserDeed {
  readonly action: AuditAction;
  readonly userId: string;
  readonly details?: DeedDetails;
}

export function recordUserDeed(tx: Tx, actor: Actor, { userId, ...what }: UserDeed): void {
  const home = orgsOf(tx.db, userId)[0];
  const deed = { ...what, resourceType: 'user', resourceId: userId } as const;
  recordDeed(tx, actor, home === undefined ? deed : { ...deed, orgId: home.id });
}
