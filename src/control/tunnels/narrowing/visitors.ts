/** `--visitor-login`: the lists of visitors that an agent's flags add, by the rules of the API (tunnels/visitor-login). */
import { createHash } from 'node:crypto';
import type { AddedVisitors } from '../../../plane/narrowing.ts';
import { tokenById } from '../../access-keys/rows.ts';
import { type BillingMode, requireEntitlement } from '../../core/rules/plan-gate.ts';
import type { Store } from '../../db/tx.ts';
import { findOrg } from '../../organizations/rows.ts';
import type { VisitorGates } from '../visitor-login/service.ts';
import { ADDRESS, DOMAIN } from '../visitor-login/visitor-address.ts';

export interface AddedVisitorDeps {
  readonly store: Store;
  readonly billing: BillingMode;
  readonly visitorGates: Pick<VisitorGates, 'warnings'>;
  readonly apiUrl: () => string;
}

/** A text says why not. Throws `upgrade_required`. */
export function addedVisitors(
  { store, billing, visitorGates, apiUrl }: AddedVisitorDeps,
  tokenId: string,
  entries: readonly string[],
): AddedVisitors | string {
  const other = entries.find((entry) => !(entry.includes('@') ? ADDRESS : DOMAIN).test(entry));
  if (other !== undefined)
    return `"${other}" is no email address in ASCII and no domain such as example.com; non-ASCII domains in xn-- form`;
  const orgId = tokenById(store.db, tokenId)?.orgId;
  requireEntitlement((orgId === undefined ? undefined : findOrg(store.db, orgId)?.plan) ?? 'free', 'edgeAuth', billing);
  const [closed] = visitorGates.warnings();
  if (closed !== undefined) return closed.replace(/\.$/, '');
  const tidy = [...new Set(entries.map((entry) => entry.toLowerCase()))].sort();
  return {
    // Of the lists alone: visitors of an agent that reconnects need no new login.
    version: createHash('sha256').update(JSON.stringify(tidy)).digest('base64url').slice(0, 22),
    startUrl: `${apiUrl()}/edge-auth/start`,
    allowedDomains: tidy.filter((entry) => !entry.includes('@')),
    allowedEmails: tidy.filter((entry) => entry.includes('@')),
  };
}
