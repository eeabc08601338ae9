/**
 * What the wire form of a token says, and how it is read back: the claims in the CWT (cwt.ts is the coding). Pure, for an edge of its own
 * decides by these, the server's public keys and its list of revocations alone (revocations.ts), without a database.
 */
import { isSubdomainPattern } from '../tunnels/names.ts';
import type { Claims } from './cwt.ts';

export const TOKEN_KINDS = ['agent', 'master', 'project', 'cli'] as const;
export type TokenKind = (typeof TOKEN_KINDS)[number];

export const TOKEN_VERSION = 1;
/** Patterns in one token; also bounds its wire form. */
export const MAX_SUBDOMAIN_PATTERNS = 100;
export const NONCE_BYTES = 16;
const ISSUER = 'culvert';

/** Registered claims (RFC 8392 §3.1) and ours, in the private range. */
const CLAIM = {
  iss: 1,
  sub: 2,
  exp: 4,
  iat: 6,
  cti: 7,
  version: -65537,
  kind: -65538,
  subdomains: -65539,
  quota: -65540,
  mbps: -65541,
  project: -65542,
  suffix: -65543,
  parent: -65544,
} as const;
const KNOWN: ReadonlySet<number> = new Set(Object.values(CLAIM));

/** What a token allows, to whoever can check its signature. */
export interface WireGrant {
  readonly orgId: string;
  readonly kind: TokenKind;
  /** Hex: the handle under which it is revoked. */
  readonly nonce: string;
  /** Hex, of the master key that minted it: it dies with that one. */
  readonly parentNonce: string | null;
  /** The only project in which it may open tunnels; labels there end with `suffix`, which is empty in the default project. */
  readonly project: { readonly slug: string; readonly suffix: string } | null;
  /** Names without the suffix. */
  readonly allowedSubdomains: readonly string[];
  /** 0: it opens no tunnels. */
  readonly tunnelQuota: number;
  readonly bandwidthLimitMbps: number;
  /** Unix seconds. */
  readonly issuedAt: number;
  readonly expiresAt: number;
}

/** The claims to be signed. */
export function claimsOf(grant: WireGrant): Claims {
  const { project, parentNonce } = grant;
  return new Map<number, unknown>([
    [CLAIM.iss, ISSUER],
    [CLAIM.sub, subjectOf(grant.orgId)],
    [CLAIM.exp, grant.expiresAt],
    [CLAIM.iat, grant.issuedAt],
    [CLAIM.cti, Buffer.from(grant.nonce, 'hex')],
    [CLAIM.version, TOKEN_VERSION],
    [CLAIM.kind, grant.kind],
    [CLAIM.subdomains, grant.allowedSubdomains],
    [CLAIM.quota, grant.tunnelQuota],
    [CLAIM.mbps, grant.bandwidthLimitMbps],
    ...(project === null
      ? []
      : ([
          [CLAIM.project, project.slug],
          [CLAIM.suffix, project.suffix],
        ] as const)),
    ...(parentNonce === null ? [] : ([[CLAIM.parent, Buffer.from(parentNonce, 'hex')]] as const)),
  ]);
}

export function subjectOf(orgId: string): string {
  return `org:${orgId}`;
}

/**
 * The grant that verified claims hold; undefined when they are not exactly those of a token. A claim that is not known is refused: it may
 * be a restriction. Whether the token has run out or is revoked is for the caller.
 */
export function readGrant(claims: Claims): WireGrant | undefined {
  for (const key of claims.keys()) if (!KNOWN.has(key)) return undefined;
  if (claims.get(CLAIM.iss) !== ISSUER || claims.get(CLAIM.version) !== TOKEN_VERSION) return undefined;
  const orgId = /^org:([0-9a-f-]{36})$/.exec(text(claims.get(CLAIM.sub)) ?? '')?.[1];
  const kind = TOKEN_KINDS.find((one) => one === claims.get(CLAIM.kind));
  const nonce = nonceOf(claims.get(CLAIM.cti));
  const allowedSubdomains = patternsOf(claims.get(CLAIM.subdomains));
  const [tunnelQuota, bandwidthLimitMbps, issuedAt, expiresAt] = [CLAIM.quota, CLAIM.mbps, CLAIM.iat, CLAIM.exp].map(
    (key) => natural(claims.get(key)),
  );
  const project = projectOf(claims);
  const parentNonce = claims.has(CLAIM.parent) ? nonceOf(claims.get(CLAIM.parent)) : null;
  if (orgId === undefined || kind === undefined || nonce === undefined || allowedSubdomains === undefined) return;
  if (tunnelQuota === undefined || bandwidthLimitMbps === undefined) return;
  if (issuedAt === undefined || expiresAt === undefined || expiresAt <= issuedAt) return;
  if (project === undefined || parentNonce === undefined) return;
  const grant: WireGrant = {
    orgId,
    kind,
    nonce,
    parentNonce,
    project,
    allowedSubdomains,
    tunnelQuota,
    bandwidthLimitMbps,
    issuedAt,
    expiresAt,
  };
  return isSound(grant) ? grant : undefined;
}

/** A master key opens nothing; a project key is for one project; nothing else was minted by a master key. */
function isSound({ kind, project, parentNonce, tunnelQuota, allowedSubdomains }: WireGrant): boolean {
  if ((kind === 'project') !== (project !== null)) return false;
  if (parentNonce !== null && kind !== 'project') return false;
  return kind === 'master'
    ? tunnelQuota === 0 && allowedSubdomains.length === 0
    : tunnelQuota > 0 && allowedSubdomains.length > 0;
}

function projectOf(claims: Claims): WireGrant['project'] | undefined {
  if (!claims.has(CLAIM.project) && !claims.has(CLAIM.suffix)) return null;
  const slug = text(claims.get(CLAIM.project));
  const suffix = text(claims.get(CLAIM.suffix));
  if (slug === undefined || (suffix !== '' && suffix !== `-${slug}`)) return undefined;
  return { slug, suffix };
}

function patternsOf(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value) || value.length > MAX_SUBDOMAIN_PATTERNS) return undefined;
  const patterns: readonly unknown[] = value;
  return patterns.every((one): one is string => typeof one === 'string' && isSubdomainPattern(one))
    ? patterns
    : undefined;
}

function nonceOf(value: unknown): string | undefined {
  return value instanceof Uint8Array && value.length === NONCE_BYTES ? Buffer.from(value).toString('hex') : undefined;
}

function natural(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
