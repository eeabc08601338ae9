/** Probes, discovery and keys: what needs no account. */
import { z } from '@hono/zod-openapi';
import { AppError } from '../../../base/errors.ts';
import type { Api, ApiDeps } from '../context.ts';
import { defineRoute } from '../define-route.ts';
import { json } from '../errors.ts';

const health = z
  .object({ status: z.string(), version: z.string() })
  .openapi('Health', { example: { status: 'ok', version: '0.1.0' } });
const discovery = z
  .object({
    version: z.string(),
    agent_address: z.string(),
    agent_fingerprint: z
      .string()
      .optional()
      .openapi({ description: 'sha256:<hex> of the SPKI; present when the certificate is self-signed' }),
    edge_domain: z.string(),
  })
  .openapi('Discovery', {
    example: { version: '0.1.0', agent_address: 'culvert.example.com:7443', edge_domain: 'example.com' },
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
const open = { method: 'get' as const, security: [], tags: ['probes'] };

export function mountProbes(app: Api, deps: ApiDeps): void {
  app.openapi(
    defineRoute({ ...open, path: '/health', summary: 'Is the process up', responses: { 200: json(health, 'Up') } }),
    (c) => c.json({ status: 'ok', version: deps.version }, 200),
  );
  app.openapi(
    defineRoute(
      {
        ...open,
        path: '/ready',
        summary: 'Can it serve',
        responses: { 200: json(health, 'Ready') },
      },
      ['unavailable'],
    ),
    (c) => {
      try {
        deps.ping();
        deps.keys.signing('access');
        deps.keys.signing('capability');
      } catch (cause) {
        throw new AppError('unavailable', 'The database or the keys are not ready.', { cause });
      }
      if (deps.discovery() === undefined) throw new AppError('unavailable', 'The data node is not listening.');
      return c.json({ status: 'ready', version: deps.version }, 200);
    },
  );
  app.openapi(
    defineRoute(
      {
        ...open,
        path: '/.well-known/culvert',
        summary: 'Where agents connect',
        responses: { 200: json(discovery, 'Address and fingerprint') },
      },
      ['unavailable'],
    ),
    (c) => {
      const found = deps.discovery();
      if (found === undefined) throw new AppError('unavailable', 'The data node is not listening.');
      return c.json(found, 200);
    },
  );
  app.openapi(
    defineRoute({
      ...open,
      path: '/.well-known/jwks.json',
      summary: 'Public keys',
      responses: { 200: json(jwks, 'Public keys') },
    }),
    (c) => c.json(deps.keys.jwks(), 200),
  );
}
