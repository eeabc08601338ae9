/** `/auth/cli/*`: the log-in of a command line. A person approves the code that it made; it fetches its key with the code. */
import { z } from '@hono/zod-openapi';
import { DEVICE_CODE } from '../../../wire/check-phrase.ts';
import type { Approved, DeviceLogins, Handed } from './service.ts';
import { type Api, actorOf, goneSignal, visitOf } from '../../core/http/context.ts';
import { defineRoute } from '../../core/http/define-route.ts';
import { json } from '../../core/http/errors.ts';
import { iso } from '../../core/http/fields/shared.ts';
import { text } from '../../core/http/fields/text.ts';
import type { Logger } from '../../../base/log.ts';

interface Deps {
  readonly deviceLogins: DeviceLogins;
  readonly log: Logger;
}

/** Below what proxies commonly allow an answer to take (60 s). */
const MAX_WAIT_SECONDS = 30;
/** Room for the longest wire form, in base64. */
const MAX_WIRE_TEXT = 16_384;

const CODE = 'Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmE';
const WIRE = '2D3ShEqiAScERGtleTGg…';
const LABEL = 'cli-banjo-acorn-flute';

const deviceCode = z.string().regex(DEVICE_CODE, 'must be 32 random bytes in base64url, without padding').openapi({
  example: CODE,
  description: '32 random bytes in base64url: 43 characters. The command line creates them.',
});
const approval = z.object({ device_code: deviceCode }).openapi('DeviceApproval');
const approved = z
  .object({
    wire_bytes_b64: z
      .string()
      .openapi({ example: WIRE, description: 'Base64 of a token of kind `cli`, valid for 90 days' }),
    label: z.string().openapi({ example: LABEL, description: 'The name of that token in `GET /tokens`' }),
  })
  .openapi('DeviceKey');
const pickup = z
  .object({
    device_code: deviceCode,
    wait: z.int().min(0).max(MAX_WAIT_SECONDS).default(0).openapi({
      example: 25,
      description: 'Seconds to hold the request until a user approves; the response may come earlier',
    }),
    session: z.boolean().default(false).openapi({
      example: false,
      description: 'Also open a session of the user who approves, for commands that act as this user',
    }),
  })
  .openapi('DevicePickup');
const handed = approved
  .extend({
    refresh_token: z.string().optional().openapi({ description: 'With `session`: the value of the refresh cookie' }),
    account: z.string().optional().openapi({ description: 'With `session`: email address of the user who approved' }),
    organization: z.string().optional().openapi({ description: 'With `session`: name of the organization' }),
    expires_at: z.iso.datetime().optional().openapi({ description: 'With `session`: when the token expires' }),
  })
  .openapi('DeviceResult');
const held = z.object({ wire_bytes_b64: text(1, MAX_WIRE_TEXT).openapi({ example: WIRE }) }).openapi('DeviceLogout');
const loggedOut = z
  .object({ status: z.literal('logged_out').openapi({ example: 'logged_out' }) })
  .openapi('DeviceLogoutResult');

const post = { method: 'post' as const, tags: ['auth'] };
const bodyOf = <T extends z.ZodType>(schema: T) => ({
  body: { required: true, content: { 'application/json': { schema } } },
});

export function mountDevice(app: Api, { deviceLogins, log }: Deps): void {
  app.openapi(
    defineRoute(
      {
        ...post,
        path: '/auth/cli/authorize',
        'x-needs': 'token.create',
        summary: 'Authorize a command line for the active organization',
        request: bodyOf(approval),
        responses: { 200: json(approved, 'Approved. The waiting command line fetches the same key.') },
      },
      ['forbidden', 'conflict'],
    ),
    (c) => c.json(approvedView(deviceLogins.authorize(actorOf(c), c.req.valid('json').device_code)), 200),
  );
  app.openapi(
    defineRoute(
      {
        ...post,
        path: '/auth/cli/token',
        security: [],
        summary: 'Get the key of an authorized command line',
        description: 'The key is returned once, within 10 minutes of the authorization.',
        request: bodyOf(pickup),
        responses: { 200: json(handed, 'The key. It is returned once.') },
      },
      ['authorization_pending'],
    ),
    async (c) => {
      const { device_code, wait, session } = c.req.valid('json');
      const input = { deviceCode: device_code, waitSeconds: wait, session };
      return c.json(handedView(await deviceLogins.fetch(input, visitOf(c, log), goneSignal(c))), 200);
    },
  );
  app.openapi(
    defineRoute(
      {
        ...post,
        path: '/auth/cli/logout',
        // The holder of the key may end it, as in a logout by the refresh cookie.
        security: [],
        summary: 'Revoke the key of a command line',
        description: 'Its agents are disconnected.',
        request: bodyOf(held),
        responses: { 200: json(loggedOut, 'The key is revoked') },
      },
      ['unauthorized'],
    ),
    (c) => {
      deviceLogins.logout(c.req.valid('json').wire_bytes_b64);
      return c.json({ status: 'logged_out' as const }, 200);
    },
  );
}

function approvedView({ wire, label }: Approved) {
  return { wire_bytes_b64: Buffer.from(wire).toString('base64'), label };
}

function handedView(given: Handed) {
  const { session } = given;
  if (session === undefined) return approvedView(given);
  return {
    ...approvedView(given),
    refresh_token: session.refreshToken,
    account: session.email,
    organization: session.organization,
    expires_at: iso(session.expiresAt),
  };
}
