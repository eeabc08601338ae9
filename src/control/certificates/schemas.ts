/** How a certificate stands, as domains, tunnels and the operators' list tell it. */
import { z } from '@hono/zod-openapi';
import { CERTIFICATE_STATES, type CertificateView } from './certificate-view.ts';
import { iso } from '../core/http/fields/shared.ts';

export const certificateFields = {
  state: z.enum(CERTIFICATE_STATES).openapi({
    description:
      '`none`: not requested yet; `pending`: requested; `valid`; `failed`: the next attempt is at `nextAttemptAt`',
  }),
  expiresAt: z.iso.datetime().nullable(),
  lastError: z
    .string()
    .nullable()
    .openapi({ description: 'Error of the last attempt, or of a renewal while the old certificate is valid' }),
  nextAttemptAt: z.iso.datetime().nullable().openapi({ description: 'Time of the next attempt or renewal' }),
};

export const certificateState = z
  .object(certificateFields)
  .openapi('CertificateState', {
    example: {
      state: 'valid',
      expiresAt: '2027-02-19T09:00:00.000Z',
      lastError: null,
      nextAttemptAt: '2027-01-20T02:11:54.000Z',
    },
  })
  .nullable()
  .openapi({ description: 'null unless the server gets certificates by ACME' });

export function presentCertificate({ state, expiresAt, lastError, nextAttemptAt }: CertificateView) {
  return { state, expiresAt: iso(expiresAt), lastError, nextAttemptAt: iso(nextAttemptAt) };
}
