/**
 * The organization of a token, and whether agents may use the token. Checked when a session begins and at each claim and attach: by
 * tunnels/claims/service.ts and networks/relay/attach.ts.
 */
import type { Refusal } from '../../plane/link.ts';
import type { Db } from '../db/tx.ts';
import { endOf, isRevoked, type TokenRow } from './rows.ts';
import { refuse } from './messages.ts';
import { findOrg, type OrganizationRow } from '../organizations/rows.ts';

/** The token's organization when the token is alive and may open tunnels. */
export function activeOrgOf(db: Db, token: TokenRow, now: number): OrganizationRow | Refusal {
  if (isRevoked(db, token))
    return refuse('unauthorized', `The access key ${token.name} was revoked. Create another one.`);
  const expiredAt = endOf(token);
  if (expiredAt <= now)
    return { ...refuse('unauthorized', `The access key ${token.name} has expired. Create another one.`), expiredAt };
  if (token.kind === 'master')
    return refuse('forbidden', 'A master key cannot open tunnels. Create an access key with it.');
  const org = findOrg(db, token.orgId);
  if (org === undefined)
    return refuse('unauthorized', 'The organization of this access key was deleted. Use a key of another one.');
  if (org.approvalStatus !== 'approved')
    return refuse(
      'forbidden',
      `The organization ${org.name} is ${org.approvalStatus}. Ask an operator of the server to approve it.`,
    );
  return org;
}

/** Why a key serves nothing more this month, for its agent. */
export function refuseSpent({ name }: TokenRow): Refusal {
  return refuse(
    'budget_exhausted',
    `The access key ${name} has spent its monthly budget. Raise it, or wait for the first of the month (UTC).`,
  );
}

/** A key that serves as much at once as it may, for its agent. */
export function refuseMore({ name, tunnelQuota }: TokenRow): Refusal {
  return refuse(
    'quota_exceeded',
    `The access key ${name} serves ${tunnelQuota} tunnels and private networks, which is its limit. Stop one, or raise the limit: culvert tokens limit NONCE --quota N`,
  );
}
