/**
 * The organization of a token, and whether agents may use the token. Checked when a session begins and at each claim and attach: by claims.ts
 * and networks/attach.ts.
 */
import type { Refusal } from '../../../plane/link.ts';
import type { Db } from '../../db/tx.ts';
import { endOf, isRevoked, type TokenRow } from '../tokens/token-rows.ts';
import { refuse } from './refusals.ts';
import { findOrg, type OrganizationRow } from '../organizations/organization-rows.ts';

/** The token's organization when the token is alive and may open tunnels. */
export function activeOrgOf(db: Db, token: TokenRow, now: number): OrganizationRow | Refusal {
  if (isRevoked(db, token)) return refuse('unauthorized', `The token ${token.name} was revoked.`);
  const expiredAt = endOf(token);
  if (expiredAt <= now) return { ...refuse('unauthorized', `The token ${token.name} has expired.`), expiredAt };
  if (token.kind === 'master') return refuse('forbidden', 'A master key can mint tokens but not open tunnels.');
  const org = findOrg(db, token.orgId);
  if (org === undefined) return refuse('unauthorized', 'The organization of this token is gone.');
  if (org.approvalStatus !== 'approved')
    return refuse('forbidden', `The organization ${org.name} is ${org.approvalStatus}.`);
  return org;
}

/** Why a key serves nothing more this month, for its agent. */
export function refuseSpent({ name }: TokenRow): Refusal {
  return refuse(
    'budget_exhausted',
    `The monthly budget of the token ${name} is spent. Raise it, or wait for the first of the month (UTC).`,
  );
}

/** A key that serves as much at once as it may, for its agent. */
export function refuseMore({ name, tunnelQuota }: TokenRow): Refusal {
  return refuse(
    'quota_exceeded',
    `The token ${name} may serve ${tunnelQuota} tunnels at once, private networks counted. Stop one of them, or mint a token that may serve more: culvert tokens mint NAME --quota N`,
  );
}
