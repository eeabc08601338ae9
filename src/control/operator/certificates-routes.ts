/** `/superadmin/certificates`: certificates by ACME for those who run the server. Mounted by routes.ts, behind its guard. */
import { z } from '@hono/zod-openapi';
import type { OperatedCertificate } from '../certificates/certificate-view.ts';
import { certificateFields, presentCertificate } from '../certificates/schemas.ts';
import { iso } from '../core/http/fields/shared.ts';
import { type Api, operatorOf } from '../core/http/context.ts';
import { defineRoute } from '../core/http/define-route.ts';
import { json } from '../core/http/errors.ts';
import { text } from '../core/http/fields/text.ts';
import type { Certificates } from '../certificates/service.ts';

interface Deps {
  readonly certificates: Certificates;
}

const certificate = z
  .object({
    name: z.string().openapi({ description: 'A host name, or `*.` and the domain of the edge' }),
    ...certificateFields,
    failures: z.int().openapi({ description: 'Failed attempts in a row' }),
    lastAttemptAt: z.iso.datetime().nullable(),
  })
  .openapi('OperatedCertificate', {
    example: {
      name: 'shop.example.com',
      state: 'failed',
      expiresAt: null,
      lastError: 'the authority could not connect to shop.example.com: connection refused',
      nextAttemptAt: '2026-11-21T09:40:00.000Z',
      failures: 2,
      lastAttemptAt: '2026-11-21T09:30:00.000Z',
    },
  });

const tags = ['superadmin'];

export function mountCertificates(app: Api, { certificates }: Deps): void {
  app.openapi(
    defineRoute(
      {
        method: 'get',
        path: '/superadmin/certificates',
        tags,
        summary: 'List ACME certificates, by name',
        request: {
          query: z.object({
            limit: z.coerce.number().int().min(1).max(200).default(50),
            after: text(0, 255)
              .optional()
              .openapi({ description: 'Name of the last certificate of the previous page' }),
          }),
        },
        responses: { 200: json(z.array(certificate), 'Certificates; none without `edge.tls.mode` "acme"') },
      },
      ['forbidden'],
    ),
    (c) => {
      const { limit, after } = c.req.valid('query');
      return c.json(certificates.list(operatorOf(c), { limit, after }).map(present), 200);
    },
  );
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/superadmin/certificates/{name}/renew',
        tags,
        summary: 'Request a certificate now',
        description:
          "The response doesn't wait for the certificate; see the list. 409 while a request is running, and without ACME. 404 for a name without a live tunnel.",
        request: { params: z.object({ name: text(0, 255).openapi({ example: 'shop.example.com' }) }) },
        responses: { 200: json(certificate, 'Requested') },
      },
      ['forbidden', 'conflict', 'not_found'],
    ),
    (c) => c.json(present(certificates.renew(operatorOf(c), c.req.valid('param').name.toLowerCase())), 200),
  );
}

function present(view: OperatedCertificate) {
  const { name, failures, lastAttemptAt } = view;
  return { name, ...presentCertificate(view), failures, lastAttemptAt: iso(lastAttemptAt) };
}
