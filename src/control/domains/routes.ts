/** `/domains`. */
import { z } from '@hono/zod-openapi';
import type { DomainRow } from './rows.ts';
import { dnsRecordOf, type Domains, MAX_DOMAINS } from './service.ts';
import { certificateState, presentCertificate } from '../certificates/schemas.ts';
import { type Api, actorOf } from '../core/http/context.ts';
import { defineRoute } from '../core/http/define-route.ts';
import { json } from '../core/http/errors.ts';
import { byId, DONE, done, iso, jsonBody } from '../core/http/fields/shared.ts';
import type { Certificates } from '../certificates/service.ts';

interface Deps {
  readonly certificates: Certificates;
  readonly domains: Domains;
}

const domain = z
  .object({
    id: z.uuid(),
    domain: z.string().openapi({ description: 'In lower case; other than ASCII as `xn--`' }),
    verified: z.boolean(),
    verificationToken: z.string().openapi({ description: 'Value of the TXT record. Not secret.' }),
    boundTunnelId: z.uuid().nullable(),
    verifiedAt: z.iso.datetime().nullable(),
    createdAt: z.iso.datetime(),
    dnsRecord: z.object({ type: z.literal('TXT'), name: z.string(), value: z.string() }),
    certificate: certificateState,
  })
  .openapi('Domain', {
    example: {
      id: '019aa3c2-5b78-7a4e-9c61-2d8f0b7e5a13',
      domain: 'shop.example.com',
      verified: false,
      verificationToken: 'q7Zk0m1xTn8cVb5RfW2yLs9dHgJ4uPaE',
      boundTunnelId: null,
      verifiedAt: null,
      createdAt: '2026-11-21T09:00:00.000Z',
      dnsRecord: {
        type: 'TXT',
        name: '_tunnel-challenge.shop.example.com',
        value: 'q7Zk0m1xTn8cVb5RfW2yLs9dHgJ4uPaE',
      },
      certificate: { state: 'none', expiresAt: null, lastError: null, nextAttemptAt: null },
    },
  });

const newDomain = z.object({ domain: z.string() }).openapi('NewDomain', { example: { domain: 'shop.example.com' } });
const binding = z
  .object({ tunnel_id: z.uuid() })
  .openapi('DomainBinding', { example: { tunnel_id: '019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a10' } });

const tags = ['domains'];

/** Mounts custom domains: the list with verification, and the binding to a tunnel. */
export function mountDomains(app: Api, deps: Deps): void {
  mountDomainList(app, deps);
  mountBinding(app, deps);
}

function mountDomainList(app: Api, { domains, certificates }: Deps): void {
  app.openapi(
    defineRoute({
      method: 'get',
      path: '/domains',
      tags,
      summary: 'List custom domains, newest first',
      responses: { 200: json(z.array(domain), 'Domains') },
    }),
    (c) =>
      c.json(
        domains.list(actorOf(c)).map((row) => present(certificates, row)),
        200,
      ),
  );
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/domains',
        'x-needs': 'domain.create',
        tags,
        summary: 'Add a custom domain, to be verified by a TXT record',
        description: `At most ${MAX_DOMAINS}. Add \`dnsRecord\` to your DNS, then verify. Several organizations can add a domain; the first to verify it gets it.`,
        request: { body: jsonBody(newDomain) },
        responses: { 201: json(domain, 'Added') },
      },
      ['forbidden', 'invalid_domain', 'duplicate_name', 'conflict', 'rate_limited'],
    ),
    (c) => c.json(present(certificates, domains.create(actorOf(c), c.req.valid('json').domain)), 201),
  );
  app.openapi(
    defineRoute(
      {
        method: 'delete',
        path: '/domains/{id}',
        tags,
        summary: 'Delete a custom domain',
        description: 'A verified domain has a cooldown of 24 hours after it is deleted.',
        request: { params: byId },
        responses: { 200: json(done, 'Deleted') },
      },
      ['forbidden'],
    ),
    (c) => {
      domains.delete(actorOf(c), c.req.valid('param').id);
      return c.json(DONE, 200);
    },
  );
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/domains/{id}/verify',
        tags,
        summary: 'Verify a domain by its TXT record',
        description:
          '`invalid_request`: the record is missing or has another value; the message shows it. The record of a verified domain is checked every day. If it is missing for three days, the domain becomes unverified and unbound.',
        request: { params: byId },
        responses: { 200: json(domain, 'Verified') },
      },
      ['forbidden', 'invalid_request', 'duplicate_name', 'rate_limited', 'unavailable'],
    ),
    async (c) => c.json(present(certificates, await domains.verify(actorOf(c), c.req.valid('param').id)), 200),
  );
}

function mountBinding(app: Api, { domains, certificates }: Deps): void {
  app.openapi(
    defineRoute(
      {
        method: 'put',
        path: '/domains/{id}/bind',
        'x-needs': 'domain.change',
        tags,
        summary: 'Bind a verified domain to a tunnel',
        description: 'Applies from the next request on.',
        request: { params: byId, body: jsonBody(binding) },
        responses: { 200: json(domain, 'Bound') },
      },
      ['forbidden'],
    ),
    (c) =>
      c.json(
        present(certificates, domains.bind(actorOf(c), c.req.valid('param').id, c.req.valid('json').tunnel_id)),
        200,
      ),
  );
  app.openapi(
    defineRoute(
      {
        method: 'delete',
        path: '/domains/{id}/bind',
        tags,
        summary: 'Unbind a domain from its tunnel',
        description: 'The domain stays verified.',
        request: { params: byId },
        responses: { 200: json(domain, 'Unbound') },
      },
      ['forbidden'],
    ),
    (c) => c.json(present(certificates, domains.unbind(actorOf(c), c.req.valid('param').id)), 200),
  );
}

function present(certificates: Deps['certificates'], row: DomainRow) {
  const certificate = certificates.ofDomain(row);
  return {
    id: row.id,
    domain: row.domain,
    verified: row.verifiedAt !== null,
    verificationToken: row.verificationToken,
    boundTunnelId: row.tunnelId,
    verifiedAt: iso(row.verifiedAt),
    createdAt: iso(row.createdAt),
    dnsRecord: dnsRecordOf(row),
    certificate: certificate === null ? null : presentCertificate(certificate),
  };
}
