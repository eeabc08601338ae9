/** `/auth/signup`, `/auth/verify-email-otp`, `/auth/resend-verify-otp`: how a stranger gets an account. */
import { z } from '@hono/zod-openapi';
import { type Api, type ApiDeps, visitOf } from '../context.ts';
import { defineRoute } from '../define-route.ts';
import { json } from '../errors.ts';
import { newEmail, newPassword, oldEmail, plainName } from '../new-account.ts';

const newAccount = z
  .object({
    email: newEmail,
    password: newPassword,
    name: plainName.nullish(),
    organization_name: plainName.nullish().openapi({ description: 'Left out, null or empty: called after the person' }),
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

export function mountSignUp(app: Api, { signUp, log }: ApiDeps): void {
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/auth/signup',
        security: [],
        tags: ['auth'],
        summary: 'Create an account',
        description:
          'The answer is the same whether or not the address has an account: one that has gets an email that says so. Signing up again ' +
          'with an address that is not verified yet replaces name and code. Done with another password, it leaves the account with none, for ' +
          'a code must not confirm a password that another user typed: the email then holds a link to choose one. 403 when the operator has closed ' +
          'sign-up.',
        request: { body: { required: true, content: { 'application/json': { schema: newAccount } } } },
        responses: { 201: json(pending, 'The email is on its way') },
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
          'The code is valid for 10 minutes and 5 attempts, and the last one sent is the only one. Every failure is the same ' +
          '`invalid_code`: wrong, run out, tried too often, verified before, no such account.',
        request: { body: { required: true, content: { 'application/json': { schema: shownCode } } } },
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
          'Always 200. The code before it is void. An address gets a few emails at once and then a few per hour: what is beyond that is ' +
          'not sent, and leaves the last code as it is.',
        request: { body: { required: true, content: { 'application/json': { schema: address } } } },
        responses: { 200: json(done, 'If the address waits for a code, one is on its way') },
      },
      ['unavailable'],
    ),
    (c) => {
      signUp.resend(c.req.valid('json').email, visitOf(c, log));
      return c.json({ ok: true as const }, 200);
    },
  );
}
