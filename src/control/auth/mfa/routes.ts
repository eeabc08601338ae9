/** `/auth/mfa/*` and the second step of a log-in. */
import { z } from '@hono/zod-openapi';
import { RECOVERY_CODES } from './recovery-codes.ts';
import { type Api, actorOf, visitOf } from '../../core/http/context.ts';
import { defineRoute } from '../../core/http/define-route.ts';
import { json } from '../../core/http/errors.ts';
import { iso, jsonBody } from '../../core/http/fields/shared.ts';
import { loginResult, welcome } from '../sessions/schemas.ts';
import { text } from '../../core/http/fields/text.ts';
import type { Mfa } from './service.ts';
import type { MfaLogin } from './login.ts';
import type { Refresh } from '../sessions/refresh.ts';
import type { Logger } from '../../../base/log.ts';

interface Deps {
  readonly mfa: Mfa;
  readonly mfaLogin: MfaLogin;
  readonly refresh: Refresh;
  readonly publicUrl: () => string;
  readonly log: Logger;
}

const SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
const CHALLENGE = 'eyJhbGciOiJFZERTQSJ9.eyJqdGkiOiIuLi4ifQ.c2ln';
const RECOVERY_CODE = { example: '4k7q-m2xz-9d0w', description: 'Case, spaces and dashes are ignored' };
const tags = ['auth'];

/** Exactly one of two fields is a text; the other one is null or missing. */
function oneOfTexts(...names: readonly string[]) {
  return names.map((name) => ({ required: [name], properties: { [name]: { type: 'string' as const } } }));
}

const code = z
  .string()
  .regex(/^[0-9]{6}$/, 'must be 6 digits')
  .openapi({ example: '492039' });
const password = text(1, 1024).openapi({ example: 'correct horse battery staple' });
/** Longer than any code, for typed spaces and dashes. */
const recoveryCode = text(1, 64).openapi(RECOVERY_CODE);

/** Any text: what can't be a code is a wrong one, 401 as every other. */
const secondStep = z
  .object({
    challenge_token: text(1, 4096).openapi({ example: CHALLENGE }),
    code: z.string().nullish().openapi({ example: '492039', description: 'The 6 digits that the app shows' }),
    recovery_code: z.string().nullish().openapi(RECOVERY_CODE),
  })
  .refine((body) => isOne(body.code, body.recovery_code), { message: 'send either code or recovery_code' })
  .openapi('MfaLogin', {
    oneOf: oneOfTexts('code', 'recovery_code'),
    example: { challenge_token: CHALLENGE, code: '492039' },
  });
const enrolled = z
  .object({
    otpauth_uri: z.string().openapi({
      example: `otpauth://totp/Culvert:ada%40example.com?secret=${SECRET}&issuer=Culvert`,
      description: 'For a QR code',
    }),
    secret_base32: z.string().openapi({ example: SECRET, description: 'For manual entry' }),
  })
  .openapi('MfaEnrollment');
const confirmation = z.object({ code }).openapi('MfaConfirmation');
const recoveryCodes = z
  .object({
    recovery_codes: z
      .array(z.string())
      .length(RECOVERY_CODES)
      .openapi({
        example: Array.from({ length: RECOVERY_CODES }, (_, i) => `4k7q-m2xz-9d0${i}`),
        description: 'Shown once. Each code works for one login.',
      }),
  })
  .openapi('RecoveryCodes');
const proof = z
  .object({ password: password.nullish(), recovery_code: recoveryCode.nullish() })
  .refine((body) => isOne(body.password, body.recovery_code), { message: 'send either password or recovery_code' })
  .openapi('MfaDisable', {
    oneOf: oneOfTexts('password', 'recovery_code'),
    example: { recovery_code: '4k7q-m2xz-9d0w' },
  });
const disabled = z.object({ status: z.literal('disabled').openapi({ example: 'disabled' }) }).openapi('MfaDisabled');
const renewal = z.object({ password }).openapi('RecoveryCodesRenewal');
const status = z
  .object({
    enabled: z.boolean().openapi({ example: true }),
    enabled_at: z.iso.datetime().nullable().openapi({ example: '2026-11-21T10:00:00.000Z' }),
    recovery_codes_left: z.int().openapi({ example: 9 }),
  })
  .openapi('MfaStatus');

/** Mounts the second factor: login, enrolment, new recovery codes and its end. */
export function mountMfa(app: Api, deps: Deps): void {
  mountMfaLogin(app, deps);
  mountEnrolment(app, deps);
  mountRecoveryAndEnd(app, deps);
}

function mountMfaLogin(app: Api, deps: Deps): void {
  const { mfaLogin, log } = deps;
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/auth/login/mfa',
        security: [],
        tags: ['auth'],
        summary: 'Finish a login with two-factor authentication',
        description: 'Sets the refresh cookie.',
        request: { body: jsonBody(secondStep) },
        responses: { 200: json(loginResult, 'Logged in') },
      },
      ['unauthorized'],
    ),
    async (c) => {
      const body = c.req.valid('json');
      const proof =
        typeof body.recovery_code === 'string' ? { recoveryCode: body.recovery_code } : { code: body.code ?? '' };
      const done = await mfaLogin.complete({ challengeToken: body.challenge_token, proof }, visitOf(c, log));
      return c.json(welcome(c, done, deps), 200);
    },
  );
}

function mountEnrolment(app: Api, { mfa }: Deps): void {
  app.openapi(
    defineRoute({
      method: 'get',
      path: '/auth/mfa',
      tags,
      summary: 'Get the state of your two-factor authentication',
      responses: { 200: json(status, 'State of two-factor authentication') },
    }),
    (c) => {
      const { enabledAt, recoveryCodesLeft } = mfa.status(actorOf(c));
      return c.json(
        {
          enabled: enabledAt !== null,
          enabled_at: iso(enabledAt),
          recovery_codes_left: recoveryCodesLeft,
        },
        200,
      );
    },
  );
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/auth/mfa/enroll',
        tags,
        summary: 'Create a secret for an authenticator app',
        description: 'The secret is stored when you confirm it, within 10 minutes.',
        responses: { 200: json(enrolled, 'The secret') },
      },
      ['conflict'],
    ),
    (c) => {
      const { otpauthUri, secret } = mfa.enroll(actorOf(c));
      return c.json({ otpauth_uri: otpauthUri, secret_base32: secret }, 200);
    },
  );
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/auth/mfa/enroll/verify',
        tags,
        summary: 'Turn on two-factor authentication with a code',
        description: 'Other sessions continue.',
        request: { body: jsonBody(confirmation) },
        responses: { 200: json(recoveryCodes, 'Two-factor authentication is on') },
      },
      ['invalid_code', 'conflict'],
    ),
    (c) => c.json({ recovery_codes: mfa.confirm(actorOf(c), c.req.valid('json').code) }, 200),
  );
}

function mountRecoveryAndEnd(app: Api, { mfa }: Deps): void {
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/auth/mfa/recovery-codes',
        tags,
        summary: 'Replace your recovery codes',
        description: 'Returns ten new codes. Earlier codes stop working.',
        request: { body: jsonBody(renewal) },
        responses: { 200: json(recoveryCodes, 'The new codes') },
      },
      ['conflict', 'unavailable'],
    ),
    async (c) =>
      c.json({ recovery_codes: await mfa.renewRecoveryCodes(actorOf(c), c.req.valid('json').password) }, 200),
  );
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/auth/mfa/disable',
        tags,
        summary: 'Turn off two-factor authentication',
        description: 'Needs the password or a recovery code.',
        request: { body: jsonBody(proof) },
        responses: { 200: json(disabled, 'Two-factor authentication is off') },
      },
      ['conflict', 'unavailable'],
    ),
    async (c) => {
      const body = c.req.valid('json');
      const shown =
        typeof body.recovery_code === 'string'
          ? { recoveryCode: body.recovery_code }
          : { password: body.password ?? '' };
      await mfa.disable(actorOf(c), shown);
      return c.json({ status: 'disabled' as const }, 200);
    },
  );
}

/** Null is as good as left out. */
function isOne(one: string | null | undefined, other: string | null | undefined): boolean {
  return (typeof one === 'string') !== (typeof other === 'string');
}
