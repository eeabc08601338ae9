/** Certificates of one organization that fail or end: those of its verified domains and of its live tunnels. */
import { and, asc, eq, gt, inArray, isNotNull, lte, ne, or, sql } from 'drizzle-orm';
import { unionAll } from 'drizzle-orm/sqlite-core';
import { DAY_MS } from '../../base/clock.ts';
import { liveTunnels } from '../db/gone.ts';
import { certificates, domains, tunnels } from '../db/schema.ts';
import type { Db } from '../db/tx.ts';

/** Certificates by ACME may live for six days, and are renewed long before. */
const SOON_MS = 2 * DAY_MS;

export interface CertificateTrouble {
  readonly name: string;
  readonly expiresAt: number | null;
  readonly lastError: string | null;
  readonly lastAttemptAt: number | null;
  /** The edge shows it. */
  readonly isValid: boolean;
  /** Of a custom domain; else of a tunnel's own name. */
  readonly isDomain: boolean;
}

export interface AskedTroubles {
  readonly orgId: string;
  readonly now: number;
  readonly limit: number;
}

/** Those without a certificate first. By the names of the organization: the table has large rows, and no index by owner. */
export function troublesOf(
  db: Db,
  { orgId, now, limit, edgeDomain }: AskedTroubles & { readonly edgeDomain: string },
): readonly CertificateTrouble[] {
  const { name, chain, expiresAt, failures, lastError, lastAttemptAt } = certificates;
  const ofDomains = db
    .select({ name: sql<string>`${domains.domain}` })
    .from(domains)
    .where(and(eq(domains.orgId, orgId), isNotNull(domains.verifiedAt)));
  const ofTunnels = db
    .select({ name: sql<string>`${tunnels.label} || ${`.${edgeDomain}`}` })
    .from(tunnels)
    .where(and(eq(tunnels.orgId, orgId), liveTunnels(), ne(tunnels.protocol, 'tcp')));
  const fails = and(gt(failures, 0), isNotNull(lastError));
  const ends = lte(expiresAt, now + SOON_MS);
  return (
    db
      .select({ name, expiresAt, lastError, lastAttemptAt, hasChain: sql<number>`${chain} IS NOT NULL` })
      .from(certificates)
      .where(and(inArray(name, unionAll(ofDomains, ofTunnels)), or(fails, ends)))
      // Null is first: no certificate yet.
      .orderBy(asc(expiresAt), asc(name))
      .limit(limit)
      .all()
      .map(({ hasChain, ...row }) => ({
        ...row,
        isValid: hasChain === 1 && row.expiresAt !== null && row.expiresAt > now,
        isDomain: !row.name.endsWith(`.${edgeDomain}`),
      }))
  );
}
