/** Audit entries of tokens: enough to recognize one, for the audit log outlives the rows. Never a secret. */
import type { Tx } from '../db/tx.ts';
import type { EndCause } from '../core/pending-rows.ts';
import type { Actor } from '../core/rules/actor.ts';
import { type AuditDetails, recordAll, recordAudit } from '../core/rules/audit.ts';
import type { MintedToken } from './maker.ts';
import type { TokenRow } from './rows.ts';

/** Characters of a list of patterns: a hundred long ones would make rows of 6 KB. */
const MAX_TEXT = 200;

/** Writes that a token was minted, and what it is good for. */
export function recordMint(tx: Tx, actor: Actor, minted: MintedToken): void {
  const { nonce } = minted.row;
  recordAudit(tx, actor, { action: 'token.mint', resourceType: 'token', resourceId: nonce, details: whatItIs(minted) });
}

/** Writes that the token with this nonce has a successor. */
export function recordRotation(
  tx: Tx,
  actor: Actor,
  { nonce, minted, graceHours }: { nonce: string; minted: MintedToken; graceHours: number },
): void {
  recordAudit(tx, actor, {
    action: 'token.rotate',
    resourceType: 'token',
    resourceId: nonce,
    details: { replaced_by: minted.row.nonce, grace_hours: graceHours, ...whatItIs(minted) },
  });
}

/** A token that was ended before its time. `cause`: when that is not what the actor asked for by name. */
export interface Revoked {
  readonly row: TokenRow;
  readonly cause?: EndCause | undefined;
}

export function recordRevocations(tx: Tx, actor: Actor, all: readonly Revoked[]): void {
  recordAll(
    tx,
    actor,
    all.map(({ row: { orgId, nonce, name, kind }, cause }) => ({
      action: 'token.revoke',
      resourceType: 'token',
      resourceId: nonce,
      orgId,
      details: { name, kind, ...cause },
    })),
  );
}

function whatItIs({ row, projectSlug, parentNonce }: MintedToken): AuditDetails {
  const patterns = row.allowedSubdomains.join(' ');
  return {
    name: row.name,
    kind: row.kind,
    project: projectSlug,
    parent: parentNonce,
    allowed_subdomains: patterns.length <= MAX_TEXT ? patterns : `${patterns.slice(0, MAX_TEXT)}…`,
    tunnel_quota: row.tunnelQuota,
    expires_at: row.expiresAt / 1000,
    monthly_budget_usd_cents: row.monthlyBudgetUsdCents,
  };
}
