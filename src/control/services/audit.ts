/**
 * The audit trail: one row per deed, written in the transaction of the deed, so that neither exists without the other.
 */
import { uuidv7 } from 'uuidv7';
import { auditEvents } from '../db/schema.ts';
import type { Tx } from '../db/tx.ts';
import type { Actor } from './actor.ts';

/** Every `action` so far, dotted (contract §7). The OpenAPI document lists them. */
export const AUDIT_ACTIONS = [
  'auth.login',
  'auth.login_failed',
  'auth.logout',
  'auth.refresh_reuse',
  'user.create',
  'tunnel.create',
  'tunnel.start',
  'tunnel.stop',
  'tunnel.delete',
  'tunnel.expire',
  'token.mint',
  'token.revoke',
  'connection.disconnect',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

export interface Deed {
  readonly action: AuditAction;
  readonly resourceType: 'user' | 'session' | 'tunnel' | 'token' | 'connection';
  readonly resourceId: string;
}

/** Writes what `actor` did. */
export function recordDeed(tx: Tx, actor: Actor, deed: Deed): void {
  tx.db
    .insert(auditEvents)
    .values({ id: uuidv7(), at: tx.now, orgId: actor.orgId, actorKind: actor.kind, ...deed, ...whoIs(actor) })
    .run();
}

function whoIs(actor: Actor): { actorId: string | null; actorLabel: string; ipAddress: string } {
  switch (actor.kind) {
    case 'user':
      return { actorId: actor.userId, actorLabel: actor.email, ipAddress: actor.ipAddress };
    case 'token':
      return { actorId: actor.tokenId, actorLabel: actor.name, ipAddress: '' };
    case 'system':
      return { actorId: null, actorLabel: 'system', ipAddress: '' };
    default:
      return actor satisfies never;
  }
}
