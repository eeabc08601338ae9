/**
 * The bare domain of the edge (`example.com`, where tunnels are `*.example.com`): a name that people try first. It leads to the API's own host, and
 * says itself where that is (`/.well-known/culvert`). Nothing else is served there: cookies of the dashboard belong to one host.
 */
import { createMiddleware } from 'hono/factory';
import { AppError } from '../../../base/errors.ts';
import { DISCOVERY_PATH } from '../../../wire/discovery.ts';
import type { ApiEnv, ApiSettings } from './context.ts';

export function redirectBareHost({ bareHost, publicUrl }: Pick<ApiSettings, 'bareHost' | 'publicUrl'>) {
  return createMiddleware<ApiEnv>(async (c, next) => {
    const host = (c.req.header('host') ?? '').replace(/:\d*$/, '').replace(/\.$/, '').toLowerCase();
    if (bareHost === undefined || host !== bareHost || c.req.path === DISCOVERY_PATH) return next();
    const target = new URL(publicUrl());
    if (c.req.method !== 'GET' && c.req.method !== 'HEAD')
      throw new AppError('not_found', `The API is at ${target.origin}. Send the request there.`);
    const { pathname, search } = new URL(c.req.url);
    // Not for good: a browser would keep it when the domain serves something else one day.
    return c.redirect(`${target.origin}${pathname}${search}`, 302);
  });
}
