/**
 * The audit log: one row per action, written in the transaction of the action, so that neither exists without the other.
 */
import { eq } from 'drizzle-orm';
import { uuidv7 } from 'uuidv7';
import { auditEvents } from '../../db/schema.ts';
import type { Tx } from '../../db/tx.ts';
import type { Actor } from './actor.ts';
import type { AuditChange } from './audit-changes.ts';
import { namesOf } from './audit-names.ts';

/** Every `action` so far, dotted. The OpenAPI document lists them. */
export const AUDIT_ACTIONS = [
  'auth.signup',
  'auth.email_verify',
  'auth.login',
  'auth.login_failed',
  'auth.logout',
  'auth.refresh_reuse',
  'auth.session_revoke',
  'auth.switch_org',
  'auth.password_forgot',
  'auth.password_reset',
  'auth.password_change',
  'auth.mfa_enable',
  'auth.mfa_disable',
  'auth.mfa_recovery',
  'auth.mfa_recovery_renew',
  'auth.identity_link',
  'auth.identity_unlink',
  'auth.cli_authorize',
  'auth.cli_logout',
  'user.create',
  'user.update',
  'user.superadmin_grant',
  'user.superadmin_revoke',
  'user.lock',
  'user.unlock',
  'user.mfa_reset',
  'user.password_reset',
  'user.password_link',
  'user.sessions_revoke',
  'org.create',
  'org.update',
  'org.delete',
  'org.plan',
  'org.approve',
  'org.export',
  'org.suspend',
  'member.update',
  'member.remove',
  'member.leave',
  'invitation.create',
  'invitation.resend',
  'invitation.revoke',
  'invitation.accept',
  'tunnel.create',
  'tunnel.start',
  'tunnel.stop',
  'tunnel.delete',
  'tunnel.expire',
  'tunnel.policy',
  'tunnel.policy_remove',
  'tunnel.inspector',
  'tunnel.auth',
  'tunnel.auth_remove',
  'tunnel.edge_auth',
  'tunnel.edge_auth_remove',
  'tunnel.agent_flags',
  'tunnel.maintenance',
  'tunnel.maintenance_end',
  'token.mint',
  'token.rotate',
  'token.revoke',
  'token.budget',
  'token.update',
  'project.create',
  'project.update',
  'project.delete',
  'reserved_subdomain.create',
  'reserved_subdomain.delete',
  'domain.create',
  'domain.verify',
  'domain.bind',
  'domain.unbind',
  'domain.lose',
  'domain.delete',
  'webhook_receiver.create',
  'webhook_receiver.update',
  'webhook_receiver.delete',
  'webhook_receiver.redeliver',
  'webhook_receiver.test',
  'network.create',
  'network.update',
  'network.server',
  'network.delete',
  'network_device.enroll',
  'network_device.update',
  'network_device.revoke',
  'network_device.expire',
  'billing.checkout',
  'billing.plan',
  'billing.cancel',
  'connection.disconnect',
  'metric_key.create',
  'metric_key.delete',
  'inspector.clear',
  'inspector.replay',
  'inspector.share',
  'inspector.unshare',
  'key.rotate',
  'certificate.renew',
  'backup.create',
  'backup.fail',
  'alert.create',
  'alert.update',
  'alert.delete',
  'alert.test',
  'alert.confirm_request',
  'alert.confirm',
  'alert.fire',
  'alert.recover',
  'instance.update',
  'instance.test',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

export interface AuditEntry {
  readonly action: AuditAction;
  readonly resourceType:
    | 'user'
    | 'session'
    | 'organization'
    | 'member'
    | 'invitation'
    | 'tunnel'
    | 'token'
    | 'project'
    | 'reserved_subdomain'
    | 'domain'
    | 'billing'
    | 'connection'
    | 'webhook_receiver'
    | 'network'
    | 'network_device'
    | 'metric_key'
    | 'key'
    | 'certificate'
    | 'backup'
    | 'alert'
    | 'setting';
  readonly resourceId: string;
  /** Name of an object without a row; default: looked up (audit-names.ts). */
  readonly resourceName?: string;
  /** The organization whose audit log it belongs to; default the actor's own. An operator has none. */
  readonly orgId?: string;
  /** Facts beside the change. Never a secret. */
  readonly details?: AuditDetails;
  /** Changed fields (audit-changes.ts). Never a secret. */
  readonly changes?: readonly AuditChange[];
}

export type AuditDetails = Readonly<Record<string, string | number | boolean | null>>;

/** Writes what `actor` did. */
export function recordAudit(tx: Tx, actor: Actor, entry: AuditEntry): void {
  recordAll(tx, actor, [entry]);
}

/** Writes what was done to resources of one type. `row`: the resource, by its id. */
export function auditOf(resourceType: AuditEntry['resourceType']) {
  return (
    tx: Tx,
    actor: Actor,
    { row, ...what }: Pick<AuditEntry, 'action' | 'details' | 'changes'> & { readonly row: { readonly id: string } },
  ): void => recordAudit(tx, actor, { ...what, resourceType, resourceId: row.id });
}

/** The same of many, in their order: one statement. */
export function recordAll(tx: Tx, actor: Actor, entries: readonly AuditEntry[]): void {
  if (entries.length === 0) return;
  const names = namesOf(tx.db, entries);
  const who = { at: tx.now, orgId: actor.orgId, ...whoIs(actor) };
  tx.db
    .insert(auditEvents)
    .values(entries.map((entry, at) => ({ id: uuidv7(), ...who, ...entry, resourceName: names[at] ?? null })))
    .run();
}

/** The work of one entry of which nothing is left. `id`: unused. */
export function recordNothing(tx: Tx, id: string): void {
  const row = { id, at: tx.now, orgId: id, actorKind: 'system', actorId: id, actorLabel: '', ipAddress: '' } as const;
  tx.db
    .insert(auditEvents)
    .values({ ...row, action: '', resourceType: '', resourceId: id })
    .run();
  tx.db.delete(auditEvents).where(eq(auditEvents.id, id)).run();
}

function whoIs(actor: Actor) {
  switch (actor.kind) {
    case 'user':
      return { actorKind: 'user', actorId: actor.userId, actorLabel: actor.email, ipAddress: actor.ipAddress } as const;
    case 'token':
      return { actorKind: 'token', actorId: actor.tokenId, actorLabel: actor.name, ipAddress: '' } as const;
    case 'master_key':
      return {
        actorKind: 'token',
        actorId: actor.tokenId,
        actorLabel: actor.name,
        ipAddress: actor.ipAddress,
      } as const;
    case 'operator':
      return {
        actorKind: 'operator',
        actorId: actor.userId,
        actorLabel: actor.label,
        ipAddress: actor.ipAddress,
      } as const;
    case 'system':
      return { actorKind: 'system', actorId: null, actorLabel: 'system', ipAddress: '' } as const;
    default:
      return actor satisfies never;
  }
}
