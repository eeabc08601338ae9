/** `/auth/signup`, `/auth/verify-email-otp`, `/auth/resend-verify-otp`: how a stranger gets an account. */
import { z } from '@hono/zod-openapi';
import { type Api, visitOf } from '../../core/http/context.ts';
import { defineRoute } from '../../core/http/define-route.ts';
import { json } from '../../core/http/errors.ts';
import { jsonBody } from '../../core/http/fields/shared.ts';
import { newEmail, newPassword, oldEmail, plainName } from '../../core/http/fields/new-account.ts';
import type { Logger } from '../../../base/log.ts';
import type { SignUp } from './sign-up.ts';

interface Deps {
  readonly log: Logger;
  readonly signUp: SignUp;
}

const newAccount = z
  .object({
    email: newEmail,
    password: newPassword,
    name: plainName.nullish(),
    organization_name: plainName.nullish().openapi({ description: 'Omitted, null or empty: named after the user' }),
  })
  .openapi('SignUp', {
    example: {
      email: 'ann@example.com',
      password: 'correct horse battery staple',
      name: 'Ann',
      organization_name: 'Acme',
    },
  });
const pending = z.object({ status: z.literal('pending_email_verification') }).openapi('SignUpResult');

const shownCode = z
  .object({
    // Neither is checked beyond its type: an address or a code that can't be is a wrong code, with the same answer.
    email: z.string().openapi({ minLength: 1, maxLength: 320 }),
    code: z.string().openapi({ pattern: '^[0-9]{6}$' }),
  })
  .openapi('VerifyEmail', { example: { email: 'ann@example.com', code: '042917' } });
const verified = z.object({ status: z.literal('verified') }).openapi('VerifyEmailResult');

const address = z.object({ email: oldEmail }).openapi('EmailAddress', { example: { email: 'ann@example.com' } });
const done = z.object({ ok: z.literal(true) }).openapi('Ok');

export function mountSignUp(app: Api, { signUp, log }: Deps): void {
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/auth/signup',
        security: [],
        tags: ['auth'],
        summary: 'Create an account',
        description:
          'The response is the same whether or not the address has an account; an existing account gets a notice by email. Signing up again with an unverified address replaces name and code. With another password, the account has none: the email then contains a link to set one. 403 if sign-up is closed.',
        request: { body: jsonBody(newAccount) },
        responses: { 201: json(pending, 'The email is sent') },
      },
      ['forbidden', 'unavailable'],
    ),
    async (c) => {
      const { email, password, name, organization_name: organization } = c.req.valid('json');
      await signUp.signUp({ email, password, name: name ?? '', organizationName: organization ?? '' }, visitOf(c, log));
      return c.json({ status: 'pending_email_verification' as const }, 201);
    },
  );
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/auth/verify-email-otp',
        security: [],
        tags: ['auth'],
        summary: 'Verify an email address with a code',
        description:
          'The code is valid for 10 minutes and 5 attempts. Only the last code is valid. All failures return `invalid_code`: a wrong or expired code, too many attempts, a verified address, no such account.',
        request: { body: jsonBody(shownCode) },
        responses: { 200: json(verified, 'Verified: log in') },
      },
      ['invalid_code'],
    ),
    (c) => {
      signUp.verify(c.req.valid('json'), visitOf(c, log));
      return c.json({ status: 'verified' as const }, 200);
    },
  );
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/auth/resend-verify-otp',
        security: [],
        tags: ['auth'],
        summary: 'Send a new code to an unverified address',
        description:
          'Always 200. The previous code becomes invalid. An address gets a few emails at once and then a few per hour. Above that, no email is sent, and the last code stays valid.',
        request: { body: jsonBody(address) },
        responses: { 200: json(done, 'If the address waits for a code, a new one is sent') },
      },
      ['unavailable'],
    ),
    (c) => {
      signUp.resend(c.req.valid('json').email, visitOf(c, log));
      return c.json({ ok: true as const }, 200);
    },
  );
}
