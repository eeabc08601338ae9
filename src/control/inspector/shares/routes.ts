/** `/inspector/{id}/share`, `/inspector/shares`, and what their readers open: `/inspector/shared/{token}`. */
import { z } from '@hono/zod-openapi';
import { createMiddleware } from 'hono/factory';
import { AppError } from '../../../base/errors.ts';
import { Gcra } from '../../core/http/auth-limit.ts';
import { type Api, type ApiEnv, type ApiSettings, actorOf } from '../../core/http/context.ts';
import { defineRoute } from '../../core/http/define-route.ts';
import { json } from '../../core/http/errors.ts';
import { byId, DONE, done, jsonBody } from '../../core/http/fields/shared.ts';
import { limitKey } from '../../core/http/listener/client-ip.ts';
import { createdShare, presentShare, presentShared, share, sharedRequest, shareInput } from './schemas.ts';
import type { Shares } from './service.ts';

interface Deps extends Pick<ApiSettings, 'publicUrl' | 'monotonic'> {
  readonly shares: Shares;
}

/** Per address. */
const READERS = { burst: 60, refillSeconds: 1 };
const tags = ['inspector'];
const byToken = z.object({ token: z.string().regex(/^[A-Za-z0-9_-]{1,100}$/) });

/** Links are read before `/inspector/{id}`, where `shares` would be an id. */
export function mountShares(app: Api, deps: Deps): void {
  mountLinks(app, deps);
  mountReading(app, deps);
}

function mountLinks(app: Api, { shares, publicUrl }: Deps): void {
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/inspector/{id}/share',
        'x-needs': 'record.create',
        tags,
        summary: 'Create a link to a recorded request',
        description:
          'Anyone with the link sees the request, without an account, until the link expires or is revoked. Headers, query parameters, form and JSON fields with usual names of credentials are `***`, and so are addresses of visitors; other data in bodies is shown. Use mask rules for it (`PUT /tunnels/{id}/inspector`). At most 200 links per organization.',
        request: { params: byId, body: jsonBody(shareInput) },
        responses: { 200: json(createdShare, 'The link') },
      },
      ['forbidden', 'conflict', 'rate_limited', 'unavailable'],
    ),
    async (c) => {
      const { expires_in_seconds: seconds } = c.req.valid('json');
      const { token, ...made } = await shares.create(actorOf(c), c.req.valid('param').id, seconds);
      const url = `${publicUrl().replace(/\/+$/, '')}/inspector/shared/${token}`;
      return c.json({ ...presentShare(made), url }, 200);
    },
  );
  app.openapi(
    defineRoute(
      {
        method: 'get',
        path: '/inspector/shares',
        tags,
        summary: 'List links to recorded requests, newest first',
        description: 'Active links, without their tokens.',
        request: {},
        responses: { 200: json(z.array(share), 'Links') },
      },
      [],
    ),
    (c) => c.json(shares.list(actorOf(c)).map(presentShare), 200),
  );
  app.openapi(
    defineRoute(
      {
        method: 'delete',
        path: '/inspector/shares/{id}',
        'x-needs': 'record.delete',
        tags,
        summary: 'Revoke a link to a recorded request',
        request: { params: byId },
        responses: { 200: json(done, 'The link was revoked') },
      },
      ['forbidden'],
    ),
    (c) => {
      shares.revoke(actorOf(c), c.req.valid('param').id);
      return c.json(DONE, 200);
    },
  );
}

function mountReading(app: Api, { shares, publicUrl, monotonic }: Deps): void {
  app.openapi(
    defineRoute(
      {
        method: 'get',
        path: '/inspector/shared/{token}',
        security: [],
        middleware: readerLimit(monotonic),
        tags,
        summary: 'Get a shared request',
        description:
          'Needs no account. A browser that opens the link is sent to a page of the dashboard. 404 for a link that has expired or was revoked.',
        request: { params: byToken },
        responses: {
          200: json(sharedRequest, 'The request'),
          302: { description: 'To the page, for a client that prefers HTML' },
        },
      },
      ['not_found', 'rate_limited', 'unavailable'],
    ),
    async (c) => {
      const { token } = c.req.valid('param');
      c.header('X-Robots-Tag', 'noindex');
      c.header('Vary', 'Accept');
      if (/\btext\/html\b/.test(c.req.header('accept') ?? '')) {
        const prefix = new URL(publicUrl()).pathname.replace(/\/+$/, '');
        return c.redirect(`${prefix}/app/shared/${token}`, 302);
      }
      return c.json(presentShared(await shares.view(token)), 200);
    },
  );
}

function readerLimit(monotonic: () => number) {
  const bucket = new Gcra(READERS);
  return createMiddleware<ApiEnv>(async (c, next) => {
    const wait = bucket.take(limitKey(c.get('clientIp')), monotonic());
    if (wait > 0)
      throw new AppError('rate_limited', `Your address opened too many links. Try again in ${wait} seconds.`, {
        retryAfterSeconds: wait,
      });
    return next();
  });
}
