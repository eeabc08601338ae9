/** Email channels that wait for their confirmation, and the addresses that need none. Not to be called from outside alerts/. */
import { and, eq, gt, isNotNull, isNull, sql } from 'drizzle-orm';
import { emailKey } from '../../../core/rules/email-key.ts';
import { notGone } from '../../../db/gone.ts';
import { alertChannels, alertRules, memberships, organizations, users } from '../../../db/schema.ts';
import type { Db, Tx } from '../../../db/tx.ts';
import type { ChannelRow } from '../rows.ts';
import type { PendingLink } from './channels.ts';

/** Email channels of an organization to this address (users.email_key). */
function channelsTo(db: Db, orgId: string, key: string): readonly ChannelRow[] {
  return db
    .select()
    .from(alertChannels)
    .where(and(eq(alertChannels.type, 'email'), sql`${alertChannels.ruleId} IN (${rulesIn(db, orgId)})`))
    .all()
    .filter(({ target }) => emailKey(target) === key);
}

function rulesIn(db: Db, orgId: string) {
  return db.select({ id: alertRules.id }).from(alertRules).where(eq(alertRules.orgId, orgId));
}

/** A member's address that is verified, or one that was confirmed for the organization before. */
export function isKnownAddress(db: Db, orgId: string, key: string): boolean {
  const member = db
    .select({ id: users.id })
    .from(users)
    .innerJoin(memberships, eq(memberships.userId, users.id))
    .where(and(eq(memberships.orgId, orgId), eq(users.emailKey, key), isNotNull(users.emailVerifiedAt)))
    .get();
  return member !== undefined || channelsTo(db, orgId, key).some(({ confirmHash }) => confirmHash === null);
}

/** The link that was sent to this address for the organization and still works. */
export function openLink({ db, now }: Pick<Tx, 'db' | 'now'>, orgId: string, key: string): PendingLink | undefined {
  for (const { confirmHash, confirmUntil } of channelsTo(db, orgId, key))
    if (confirmHash !== null && confirmUntil !== null && confirmUntil > now) return { confirmHash, confirmUntil };
  return undefined;
}

/** All channels of the organization that wait for this address have this link from now on. */
export function renewLink(
  tx: Tx,
  { orgId, key }: { readonly orgId: string; readonly key: string },
  link: PendingLink,
): void {
  for (const { id, confirmHash } of channelsTo(tx.db, orgId, key))
    if (confirmHash !== null) tx.db.update(alertChannels).set(link).where(eq(alertChannels.id, id)).run();
}

export interface WaitingChannel {
  readonly ruleId: string;
  readonly orgId: string;
  readonly organization: string;
  readonly email: string;
}

/** The channels that a link confirms. Empty: it was used, was replaced, or has expired. */
export function waitingFor({ db, now }: Pick<Tx, 'db' | 'now'>, confirmHash: string): readonly WaitingChannel[] {
  return db
    .select({
      ruleId: alertRules.id,
      orgId: organizations.id,
      organization: organizations.name,
      email: alertChannels.target,
    })
    .from(alertChannels)
    .innerJoin(alertRules, eq(alertRules.id, alertChannels.ruleId))
    .innerJoin(organizations, eq(organizations.id, alertRules.orgId))
    .where(
      and(
        eq(alertChannels.confirmHash, confirmHash),
        gt(alertChannels.confirmUntil, now),
        isNull(organizations.deletedAt),
        notGone(organizations.id),
      ),
    )
    .all();
}

export function setConfirmed(tx: Tx, confirmHash: string): void {
  tx.db
    .update(alertChannels)
    .set({ confirmHash: null, confirmUntil: null })
    .where(eq(alertChannels.confirmHash, confirmHash))
    .run();
}
