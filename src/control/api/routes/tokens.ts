/** `/tokens`. */
import { z } from '@hono/zod-openapi';
import {
  MAX_SUBDOMAIN_PATTERNS,
  MAX_TTL_HOURS,
  type MintedToken,
  type TokenView,
} from '../../services/tokens/tokens.ts';
import { type Api, type ApiDeps, actorOf } from '../context.ts';
import { defineRoute } from '../define-route.ts';
import { json } from '../errors.ts';

const LARGEST = 1_000_000;

const TOKEN = {
  id: '019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a20',
  name: 'ci',
  nonce: '5f2b1c9e8d7a4f60b3c2d1e0f9a8b7c6',
  kind: 'agent' as const,
  version: 1,
  tunnelQuota: 2,
  bandwidthLimitMbps: 100,
  allowedSubdomains: ['pr-*'],
  projectSlug: null,
  issuedAt: 1_795_250_000,
  expiresAt: 1_795_336_400,
  revoked: false,
  monthlyBudgetUsdCents: null,
  spentUsdCents: 0,
  lastUsedAt: null,
  wireBytesLen: 262,
};

const token = z
  .object({
    id: z.string(),
    name: z.string(),
    nonce: z.string().openapi({ description: 'Hex; the handle in paths' }),
    kind: z.enum(['agent', 'master', 'project', 'cli']),
    version: z.int(),
    tunnelQuota: z.int(),
    bandwidthLimitMbps: z.int(),
    allowedSubdomains: z.array(z.string()),
    projectSlug: z.string().nullable(),
    issuedAt: z.int().openapi({ description: 'Unix seconds' }),
    expiresAt: z.int().openapi({ description: 'Unix seconds' }),
    revoked: z.boolean(),
    monthlyBudgetUsdCents: z.int().nullable(),
    spentUsdCents: z.int(),
    lastUsedAt: z.int().nullable().openapi({ description: 'Unix seconds' }),
    wireBytesLen: z.int(),
  })
  .openapi('Token', { example: TOKEN });

const minted = token
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

const newToken = z
  .object({
    name: z.string().trim().min(1).max(100).default('token'),
    ttlHours: z
      .int()
      .min(1)
      .default(24)
      .openapi({ description: `Cut to ${MAX_TTL_HOURS}` }),
    allowedSubdomains: z.array(z.string().max(63)).min(1).max(MAX_SUBDOMAIN_PATTERNS).default(['*']),
    bandwidthLimitMbps: z.int().min(1).max(LARGEST).default(100),
    tunnelQuota: z.int().min(1).max(LARGEST).default(5),
  })
  .openapi('NewToken', { example: { name: 'ci', ttlHours: 24, allowedSubdomains: ['pr-*'], tunnelQuota: 2 } });

const tags = ['tokens'];

export function mountTokens(app: Api, { tokens }: ApiDeps): void {
  app.openapi(
    defineRoute({
      method: 'get',
      path: '/tokens',
      tags,
      summary: 'Tokens of the organization, newest first',
      responses: { 200: json(z.array(token), 'Tokens, without secrets') },
    }),
    (c) => c.json(tokens.list(actorOf(c)).map(present), 200),
  );
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/tokens',
        'x-needs': 'token.create',
        tags,
        summary: 'Mint a token for an agent',
        request: { body: { required: true, content: { 'application/json': { schema: newToken } } } },
        responses: { 200: json(minted, 'The token, with its secrets') },
      },
      ['forbidden', 'conflict'],
    ),
    (c) => c.json(presentMinted(tokens.mint(actorOf(c), c.req.valid('json'))), 200),
  );
  app.openapi(
    defineRoute(
      {
        method: 'delete',
        path: '/tokens/{nonce}',
        tags,
        summary: 'Revoke a token and what it minted; its agents are cut off',
        request: { params: z.object({ nonce: z.string() }) },
        responses: {
          200: json(z.object({ success: z.literal(true), revoked: z.int().openapi({ example: 1 }) }), 'Revoked'),
        },
      },
      ['forbidden'],
    ),
    (c) => c.json({ success: true as const, revoked: tokens.revoke(actorOf(c), c.req.valid('param').nonce) }, 200),
  );
}

function present({ row, projectSlug }: TokenView) {
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
    issuedAt: seconds(row.issuedAt),
    expiresAt: seconds(row.expiresAt),
    revoked: row.revokedAt !== null,
    monthlyBudgetUsdCents: row.monthlyBudgetUsdCents,
    spentUsdCents: 0,
    lastUsedAt: row.lastUsedAt === null ? null : seconds(row.lastUsedAt),
    wireBytesLen: row.wireBytesLen,
  };
}

function presentMinted(token: MintedToken) {
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
