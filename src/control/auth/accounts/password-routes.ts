/** `/auth/forgot`, `/auth/reset`, `/auth/password`: a new password, by a link in a mail or by the old one. */
import { z } from '@hono/zod-openapi';
import { type Api, actorOf, visitOf } from '../../core/http/context.ts';
import { defineRoute } from '../../core/http/define-route.ts';
import { json } from '../../core/http/errors.ts';
import { jsonBody } from '../../core/http/fields/shared.ts';
import { newPassword, oldEmail, oldPassword } from '../../core/http/fields/new-account.ts';
import { text } from '../../core/http/fields/text.ts';
import type { Logger } from '../../../base/log.ts';
import type { PasswordReset } from './password-reset.ts';

interface Deps {
  readonly log: Logger;
  readonly passwordReset: PasswordReset;
}

const forgotten = z.object({ email: oldEmail }).openapi('ForgotPassword', { example: { email: 'ann@example.com' } });
const accepted = z.object({ status: z.literal('accepted') }).openapi('ForgotPasswordResult');

const reset = z.object({ token: text(1, 256), new_password: newPassword }).openapi('ResetPassword', {
  example: { token: 'h5Tn0cG3d8yqkz1VxJm2pWb7RsLf4aUeQo9iKvXw6Zc', new_password: 'correct horse battery staple' },
});
const change = z.object({ current_password: oldPassword, new_password: newPassword }).openapi('ChangePassword', {
  example: { current_password: 'correct horse battery staple', new_password: 'seven green bottles sit' },
});
const changed = z.object({ status: z.literal('password_changed') }).openapi('ChangePasswordResult');

export function mountPassword(app: Api, { passwordReset, log }: Deps): void {
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/auth/forgot',
        security: [],
        tags: ['auth'],
        summary: 'Send a link to set a new password',
        description:
          'Always 202, whether or not the address has an account. The link works once, for one hour. An address gets a few emails at once and then a few per hour. Above that, no email is sent.',
        request: { body: jsonBody(forgotten) },
        responses: { 202: json(accepted, 'If the address has an account, a link is sent') },
      },
      ['unavailable'],
    ),
    (c) => {
      passwordReset.forgot(c.req.valid('json').email, visitOf(c, log));
      return c.json({ status: 'accepted' as const }, 202);
    },
  );
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/auth/reset',
        security: [],
        tags: ['auth'],
        summary: 'Set a new password with the token of a link',
        description:
          'Ends all sessions and login keys of the user. The address counts as verified from then on. Two-factor authentication stays on. 400 `invalid_code` for a token that is wrong, used or expired, or older than the last change of the password.',
        request: { body: jsonBody(reset) },
        responses: { 200: json(changed, 'Changed: log in') },
      },
      ['invalid_code', 'unavailable'],
    ),
    async (c) => {
      const { token, new_password: newPassword } = c.req.valid('json');
      await passwordReset.reset({ token, newPassword }, visitOf(c, log));
      return c.json({ status: 'password_changed' as const }, 200);
    },
  );
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/auth/password',
        tags: ['auth'],
        summary: 'Change your password',
        description:
          'Ends your other sessions and their login keys. 401 also for a wrong current password. 409 for an account without a password; set one with `POST /auth/forgot`.',
        request: { body: jsonBody(change) },
        responses: { 200: json(changed, 'Changed') },
      },
      ['conflict', 'unavailable'],
    ),
    async (c) => {
      const { current_password: current, new_password: next } = c.req.valid('json');
      await passwordReset.change(actorOf(c), { current, next });
      return c.json({ status: 'password_changed' as const }, 200);
    },
  );
}
