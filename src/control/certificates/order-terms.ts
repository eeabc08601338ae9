/**
 * Which names this server asks certificates for: those that lead to a live tunnel of an organization in good terms, by what the tables
 * say now. A name that is not found here gets no order, whatever a handshake says.
 */
import { and, asc, eq, gt, isNotNull, isNull, or, sql } from 'drizzle-orm';
import { liveTunnels } from '../db/gone.ts';
import { certificates, domains, organizations, reservedSubdomains, tunnels } from '../db/schema.ts';
import type { Db } from '../db/tx.ts';
import type { ChallengeType } from '../providers/acme/contract.ts';

export interface CertificateNames {
  /** `edge.domain`, lower case. */
  readonly edgeDomain: string;
  /** Of the server itself, as the host of its API: ordered without a visitor, and by the server alone. */
  readonly serverNames: readonly string[];
  /** Of the server itself too, and ordered once a visitor asks: whether they lead here is not known before. */
  readonly visitedNames?: readonly string[];
  /** How names below it are proven; by `dns-01` one certificate holds them all. */
  readonly challenge: ChallengeType;
  /** How custom domains are proven, whose DNS is not ours. */
  readonly domainChallenge: Exclude<ChallengeType, 'dns-01'>;
}

/** The names and the challenge of an order, and the organization that it is for. */
export interface OrderTerms {
  /** Null for the server's own wildcard. */
  readonly orgId: string | null;
  /** Below edge.domain: authorities count new ones of a week. */
  readonly isOurs: boolean;
  readonly names: readonly string[];
  readonly challenge: ChallengeType;
}

/** The certificate that a host is shown with: of the host itself, or the wildcard. */
export function certificateFor(host: string, { edgeDomain, challenge }: CertificateNames): string {
  const isOurs = host === edgeDomain || isBelow(host, edgeDomain);
  return isOurs && challenge === 'dns-01' ? `*.${edgeDomain}` : host;
}

export function isBelow(host: string, domain: string): boolean {
  return host.endsWith(`.${domain}`);
}

/** Undefined: no certificate is asked for under this name, and one that is there is not renewed. */
export function orderTermsOf(
  db: Db,
  name: string,
  { names, now }: { names: CertificateNames; now: number },
): OrderTerms | undefined {
  const { edgeDomain, challenge, domainChallenge } = names;
  if (challenge === 'dns-01' && name === `*.${edgeDomain}`)
    return { orgId: null, isOurs: true, names: [name, edgeDomain], challenge };
  if (ownNames(names).includes(name) || names.visitedNames?.includes(name) === true) {
    const how = challenge === 'dns-01' ? domainChallenge : challenge;
    return { orgId: null, isOurs: isBelow(name, edgeDomain), names: [name], challenge: how };
  }
  if (name === edgeDomain || name.startsWith('*.')) return undefined;
  if (!isBelow(name, edgeDomain)) {
    const orgId = ownerOfDomain(db, name, now);
    return orgId === undefined ? undefined : { orgId, isOurs: false, names: [name], challenge: domainChallenge };
  }
  const label = name.slice(0, -edgeDomain.length - 1);
  const orgId = challenge === 'dns-01' ? undefined : ownerOfLabel(db, label, now);
  return orgId === undefined ? undefined : { orgId, isOurs: true, names: [name], challenge };
}

/** Names of the server that the wildcard does not have. */
function ownNames(names: CertificateNames): readonly string[] {
  const { serverNames, edgeDomain, challenge } = names;
  const isCovered = (name: string): boolean =>
    challenge === 'dns-01' &&
    (name === edgeDomain || (isBelow(name, edgeDomain) && !name.slice(0, -edgeDomain.length - 1).includes('.')));
  return serverNames.filter((name) => !isCovered(name));
}

/** Agents may serve it, and its time has not run out. */
function isLive(now: number) {
  return and(
    liveTunnels(),
    eq(tunnels.stopped, false),
    eq(tunnels.expired, false),
    or(isNull(tunnels.expiresAt), gt(tunnels.expiresAt, now)),
    isNull(organizations.deletedAt),
    eq(organizations.approvalStatus, 'approved'),
  );
}

function ownerOfLabel(db: Db, label: string, now: number): string | undefined {
  return db
    .select({ orgId: tunnels.orgId })
    .from(tunnels)
    .innerJoin(organizations, eq(organizations.id, tunnels.orgId))
    .where(and(eq(tunnels.label, label), sql`${tunnels.protocol} <> 'tcp'`, isLive(now)))
    .get()?.orgId;
}

function ownerOfDomain(db: Db, domain: string, now: number): string | undefined {
  return db
    .select({ orgId: tunnels.orgId })
    .from(domains)
    .innerJoin(tunnels, eq(tunnels.id, domains.tunnelId))
    .innerJoin(organizations, eq(organizations.id, tunnels.orgId))
    .where(and(eq(domains.domain, domain), isNotNull(domains.verifiedAt), isLive(now)))
    .get()?.orgId;
}

/** A name without a row, and whose it is. */
export interface MissingName {
  readonly name: string;
  /** Null: the server's own. */
  readonly orgId: string | null;
}

/**
 * Names that are asked for without a visitor, and have no row yet: the server's own, verified and bound domains, reserved subdomains that an agent serves, the
 * wildcard.
 */
export function missingNames(
  db: Db,
  of: CertificateNames,
  { now, limit }: { now: number; limit: number },
): MissingName[] {
  const { orgId } = tunnels;
  const own = ownNames(of)
    .filter((name) => db.select().from(certificates).where(eq(certificates.name, name)).get() === undefined)
    .map((name) => ({ name, orgId: null }));
  const bound = db
    .select({ name: domains.domain, orgId })
    .from(domains)
    .innerJoin(tunnels, eq(tunnels.id, domains.tunnelId))
    .innerJoin(organizations, eq(organizations.id, tunnels.orgId))
    .leftJoin(certificates, eq(certificates.name, domains.domain))
    .where(and(isNotNull(domains.verifiedAt), isNull(certificates.name), isLive(now)))
    .orderBy(asc(domains.verifiedAt))
    .limit(limit)
    .all()
    // A domain from before edge.domain was changed: below it labels alone count.
    .filter(({ name }) => name !== of.edgeDomain && !isBelow(name, of.edgeDomain));
  if (of.challenge === 'dns-01') return [{ name: `*.${of.edgeDomain}`, orgId: null }, ...own, ...bound];
  const host = sql<string>`${tunnels.label} || '.' || ${of.edgeDomain}`;
  const reserved = db
    .select({ name: host, orgId })
    .from(reservedSubdomains)
    .innerJoin(tunnels, eq(tunnels.label, reservedSubdomains.subdomain))
    .innerJoin(organizations, eq(organizations.id, tunnels.orgId))
    .leftJoin(certificates, eq(certificates.name, host))
    .where(and(eq(tunnels.status, 'active'), sql`${tunnels.protocol} <> 'tcp'`, isNull(certificates.name), isLive(now)))
    .limit(limit)
    .all();
  return [...own, ...bound, ...reserved];
}
