/** Probes, discovery and keys: what needs no account. */
import { z } from '@hono/zod-openapi';
import { AppError } from '../../base/errors.ts';
import type { Api, Discovery } from '../core/http/context.ts';
import { defineRoute } from '../core/http/define-route.ts';
import { json } from '../core/http/errors.ts';
import { mountHealth } from '../operator/health-routes.ts';
import { ETAG } from '../core/http/served.ts';
import type { Health } from '../operator/health.ts';
import type { Keys } from '../core/secrets/keys.ts';
import type { Revocations } from '../access-keys/ends/revocations.ts';

interface Deps {
  readonly health: Pick<Health, 'report' | 'fullReport'>;
  readonly version: string;
  readonly discovery: () => Discovery | undefined;
  readonly keys: Keys;
  readonly revocations: Revocations;
}

const discovery = z
  .object({
    version: z.string(),
    agent_address: z.string().openapi({ description: 'The first of agent_addresses' }),
    agent_addresses: z
      .array(z.string())
      .readonly()
      .openapi({ description: 'Where agents can connect, in order: the agent listener, and the HTTPS port' }),
    agent_fingerprint: z
      .string()
      .optional()
      .openapi({ description: 'sha256:<hex> of the SPKI; present when the certificate is self-signed' }),
    edge_domain: z.string(),
    api_url: z.string().openapi({ description: 'Public URL of the API and the dashboard' }),
    server_id: z.uuid().openapi({
      description: 'Created at the first start and part of backups. It identifies the server behind this address.',
    }),
  })
  .openapi('Discovery', {
    example: {
      version: '1.0.0-rc.1',
      agent_address: 'culvert.example.com:443',
      agent_addresses: ['culvert.example.com:443'],
      edge_domain: 'example.com',
      api_url: 'https://culvert.example.com',
      server_id: '019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a01',
    },
  });
const jwks = z
  .object({
    keys: z.array(
      z.object({ kty: z.string(), crv: z.string(), x: z.string(), kid: z.string(), alg: z.string(), use: z.string() }),
    ),
  })
  .openapi('Jwks', {
    example: {
      keys: [
        {
          kty: 'OKP',
          crv: 'Ed25519',
          x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
          kid: '743cde2c37a10b55',
          alg: 'EdDSA',
          use: 'sig',
        },
      ],
    },
  });
const revocations = z
  .object({
    as_of: z.int().openapi({ description: 'Unix seconds' }),
    revoked: z.array(
      z.object({
        nonce: z.string(),
        from: z
          .int()
          .openapi({ description: 'Unix seconds. In the future during the grace period of a rotated token.' }),
        until: z.int().openapi({ description: 'Unix seconds: when the token expires' }),
      }),
    ),
  })
  .openapi('Revocations', {
    example: {
      as_of: 1_795_250_000,
      revoked: [{ nonce: '5f2b1c9e8d7a4f60b3c2d1e0f9a8b7c6', from: 1_795_249_000, until: 1_795_336_400 }],
    },
  });
const open = { method: 'get' as const, security: [], tags: ['probes'] };

export function mountProbes(app: Api, deps: Deps): void {
  mountHealth(app, deps);
  app.openapi(
    defineRoute(
      {
        ...open,
        path: '/.well-known/culvert',
        summary: 'Get the address that agents connect to',
        responses: { 200: json(discovery, 'Address and fingerprint') },
      },
      ['unavailable'],
    ),
    (c) => {
      const found = deps.discovery();
      if (found === undefined) throw new AppError('unavailable', 'The data node is not running. Check the server log.');
      return c.json(found, 200);
    },
  );
  app.openapi(
    defineRoute({
      ...open,
      path: '/.well-known/jwks.json',
      summary: 'Get the public keys of the server',
      responses: { 200: json(jwks, 'Public keys') },
    }),
    (c) => c.json(deps.keys.jwks(), 200),
  );
  mountRevocations(app, deps);
}

function mountRevocations(app: Api, deps: Deps): void {
  app.openapi(
    defineRoute({
      ...open,
      path: '/.well-known/culvert-revocations',
      summary: 'List revoked tokens that have not expired',
      description:
        'Includes tokens whose master key was revoked. For an edge that verifies tokens offline with the public keys. Reject a token from `from` on if the list has its nonce or that of its parent. If a nonce is listed twice, the earlier `from` counts. Send `If-None-Match` with the last ETag: 304 means that the list has not changed.',
      responses: {
        200: { ...json(revocations, 'Revoked tokens, at most a few seconds old'), headers: ETAG },
        304: { description: 'The list has not changed', headers: ETAG },
      },
    }),
    async (c) => {
      const { body, etag } = await deps.revocations.list();
      c.header('Cache-Control', 'public, max-age=1');
      c.header('ETag', etag);
      const known = c.req.header('if-none-match')?.split(',') ?? [];
      if (known.some((one) => one.trim() === etag)) return c.body(null, 304);
      return c.body(body, 200, { 'Content-Type': 'application/json' });
    },
  );
}
