/** A capability token as the API shows it: in lists without secrets, and once with them. */
import { z } from '@hono/zod-openapi';
import type { MintedToken } from './maker.ts';
import type { TokenView } from './rows.ts';
import { MAX_GRACE_HOURS } from './rotation.ts';
import { MAX_BUDGET } from './budgets.ts';
import { MAX_SUBDOMAIN_PATTERNS, TOKEN_KINDS } from './wire/wire-form.ts';
import { SUBDOMAIN_PATTERN } from '../core/rules/labels.ts';
import { someName } from '../core/http/fields/new-account.ts';

const LARGEST = 1_000_000;

export const TOKEN = {
  id: '019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a20',
  name: 'ci',
  nonce: '5f2b1c9e8d7a4f60b3c2d1e0f9a8b7c6',
  kind: 'agent' as const,
  version: 1,
  tunnelQuota: 2,
  bandwidthLimitMbps: 100,
  allowedSubdomains: ['pr-*'],
  projectSlug: null,
  parentNonce: null,
  issuedAt: 1_795_250_000,
  expiresAt: 1_795_336_400,
  graceEndsAt: null,
  replacedBy: null,
  revoked: false,
  monthlyBudgetUsdCents: null,
  spentUsdCents: 0,
  lastUsedAt: null,
  lastUsedIp: null,
  serving: { sessions: 0, tunnels: 0, networks: 0 },
  wireBytesLen: 262,
};

export const token = z
  .object({
    id: z.string(),
    name: z.string(),
    nonce: z.string().openapi({ description: 'In hex; the ID in paths' }),
    kind: z.enum(TOKEN_KINDS),
    version: z.int(),
    tunnelQuota: z.int().openapi({ description: '0 for a master key, which opens no tunnels' }),
    bandwidthLimitMbps: z.int(),
    allowedSubdomains: z.array(z.string()),
    projectSlug: z.string().nullable(),
    parentNonce: z.string().nullable().openapi({
      description: 'Nonce of the master key that created the token. Revoking the master key also revokes this token.',
    }),
    issuedAt: z.int().openapi({ description: 'Unix seconds' }),
    expiresAt: z.int().openapi({ description: 'Unix seconds' }),
    graceEndsAt: z.int().nullable().openapi({
      description: 'Unix seconds: end of the grace period after a rotation of this token or its master key',
    }),
    replacedBy: z
      .string()
      .nullable()
      .openapi({ description: 'Nonce of the token that replaces it; null: not rotated' }),
    revoked: z.boolean(),
    monthlyBudgetUsdCents: z.int().nullable(),
    spentUsdCents: z.int().openapi({ description: 'Cost in this UTC month, with the tokens that rotation created' }),
    lastUsedAt: z.int().nullable().openapi({ description: 'Unix seconds' }),
    lastUsedIp: z.string().nullable().openapi({ description: 'Address of the agent at `lastUsedAt`; null: unknown' }),
    serving: z
      .object({ sessions: z.int(), tunnels: z.int(), networks: z.int() })
      .openapi({ description: 'Number of connected agents, and of tunnels and networks that they serve' }),
    wireBytesLen: z.int(),
  })
  .openapi('Token', { example: TOKEN });

export const minted = token
  .extend({
    apiKey: z.string().openapi({ description: 'Shown once' }),
    wireBytes: z.string().openapi({ description: 'Base64 of a CWT; shown once' }),
    subject: z.string(),
    signature: z.string().openapi({ description: 'Base64' }),
  })
  .openapi('MintedToken', {
    example: {
      ...TOKEN,
      apiKey: 'mtk_0f3Qb8WcJxT1sN5eLr7YkUa2ZpVdHm4Go9iX6tKyBwC',
      wireBytes: '0oRDoQEnoFhA...',
      subject: 'org:019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a00',
      signature: 'c2lnbmF0dXJl...',
    },
  });

export const ended = z.object({
  success: z.literal(true),
  revoked: z
    .int()
    .openapi({ example: 1, description: 'Number of revoked tokens, with the keys that a master key created' }),
});

/** Fields of a body that mints. */
/** The audit log names tokens beside users, which it knows by address: no token name looks like one. */
export const tokenName = someName('@', 'must be one line of text, without @');
const subdomainPattern = z
  .string()
  .max(63)
  .regex(SUBDOMAIN_PATTERN, 'must be "*", a subdomain, or a prefix that ends in "-*"');
export const somePatterns = z.array(subdomainPattern).min(1).max(MAX_SUBDOMAIN_PATTERNS);
export const patterns = somePatterns.default(['*']);
export const budget = z.int().min(0).max(MAX_BUDGET).nullable();
export const bandwidth = z.int().min(1).max(LARGEST);
export const quota = z.int().min(1).max(LARGEST);
export const limits = {
  bandwidthLimitMbps: bandwidth.default(100),
  tunnelQuota: quota.default(5),
  monthlyBudgetUsdCents: budget.optional(),
};

export const newRotation = z
  .object({ graceHours: z.int().min(0).max(MAX_GRACE_HOURS).optional().openapi({ description: 'Default 0' }) })
  .openapi('NewRotation', { example: { graceHours: 24 } });

/** What a route that rotates says of the grace. */
export const ROTATION =
  "During the grace period, both tokens work, each with the whole `tunnelQuota`. They share budget and bandwidth. You can revoke the old token, but not rotate it. Revoking the new token doesn't end the old one. A token can have two predecessors in their grace period.";

export function present({ row, isRevoked, projectSlug, parentNonce, spentUsdCents, serving }: TokenView) {
  return {
    id: row.id,
    name: row.name,
    nonce: row.nonce,
    kind: row.kind,
    version: row.version,
    tunnelQuota: row.tunnelQuota,
    bandwidthLimitMbps: row.bandwidthLimitMbps,
    allowedSubdomains: [...row.allowedSubdomains],
    projectSlug,
    parentNonce,
    issuedAt: seconds(row.issuedAt),
    expiresAt: seconds(row.expiresAt),
    graceEndsAt: row.graceEndsAt === null ? null : seconds(row.graceEndsAt),
    replacedBy: row.replacedBy,
    revoked: isRevoked,
    monthlyBudgetUsdCents: row.monthlyBudgetUsdCents,
    spentUsdCents,
    lastUsedAt: row.lastUsedAt === null ? null : seconds(row.lastUsedAt),
    lastUsedIp: row.lastUsedIp,
    serving,
    wireBytesLen: row.wireBytesLen,
  };
}

export function presentMinted(token: MintedToken) {
  return {
    ...present(token),
    apiKey: token.apiKey,
    wireBytes: Buffer.from(token.wire).toString('base64'),
    subject: token.row.subject,
    signature: Buffer.from(token.signature).toString('base64'),
  };
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000);
}
