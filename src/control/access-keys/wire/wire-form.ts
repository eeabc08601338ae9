/**
 * What the wire form of a token says, and how it is read back: the claims in the CWT (cwt.ts is the coding). Pure, for an edge of its own
 * decides by these, the server's public keys and its list of revocations alone (access-keys/ends/revocations.ts), without a database.
 */
import { z } from 'zod';
import { isLabel, isSubdomainPattern } from '../../core/rules/labels.ts';
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
const NAMES: ReadonlyMap<number, string> = new Map(Object.entries(CLAIM).map(([name, key]) => [key, name]));

/** What a token allows, to a holder of the public key. */
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

const natural = z.int().min(0);
const nonce = z.instanceof(Uint8Array).refine(({ length }) => length === NONCE_BYTES);
/** Of any token; what depends on its kind is `isSound`. Strict: a claim that is not known may be a restriction. */
const SHAPE = z.strictObject({
  iss: z.literal(ISSUER),
  sub: z.string().regex(/^org:[0-9a-f-]{36}$/),
  exp: natural,
  iat: natural,
  cti: nonce,
  version: z.literal(TOKEN_VERSION),
  kind: z.enum(TOKEN_KINDS),
  subdomains: z.array(z.string().refine(isSubdomainPattern)).max(MAX_SUBDOMAIN_PATTERNS),
  quota: natural,
  mbps: natural,
  project: z.string().refine(isLabel).optional(),
  suffix: z.string().optional(),
  parent: nonce.optional(),
} satisfies Record<keyof typeof CLAIM, z.ZodType>);

/**
 * The grant that verified claims hold; undefined when they are not exactly those of a token. Whether the token has run out or is revoked is
 * for the caller.
 */
export function readGrant(claims: Claims): WireGrant | undefined {
  const named = Object.fromEntries([...claims].map(([key, value]) => [NAMES.get(key) ?? String(key), value]));
  const { data } = SHAPE.safeParse(named);
  if (data === undefined || !isSound(data)) return undefined;
  const { project, suffix = '' } = data;
  return {
    orgId: data.sub.slice(subjectOf('').length),
    kind: data.kind,
    nonce: hex(data.cti),
    parentNonce: data.parent === undefined ? null : hex(data.parent),
    project: project === undefined ? null : { slug: project, suffix },
    allowedSubdomains: data.subdomains,
    tunnelQuota: data.quota,
    bandwidthLimitMbps: data.mbps,
    issuedAt: data.iat,
    expiresAt: data.exp,
  };
}

/** A project key says its project whole; nothing else was minted by a master key; a master key opens nothing. */
function isSound(claims: z.infer<typeof SHAPE>): boolean {
  const { kind, project, suffix, parent, quota, subdomains, iat, exp } = claims;
  if (exp <= iat) return false;
  const isWhole = project !== undefined && (suffix === '' || suffix === `-${project}`);
  if (kind === 'project' ? !isWhole : project !== undefined || suffix !== undefined) return false;
  if (parent !== undefined && kind !== 'project') return false;
  return kind === 'master' ? quota === 0 && subdomains.length === 0 : quota > 0 && subdomains.length > 0;
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
