/**
 * For routes whose body may be left out: an empty one counts as none, also where a client says that JSON comes, as many do by habit. To be
 * given as `middleware` of the route, ahead of the check of the body.
 */
import { createMiddleware } from 'hono/factory';
import type { ApiEnv } from '../context.ts';

export const optionalBody = createMiddleware<ApiEnv>(async (c, next) => {
  if (c.req.header('content-type') !== undefined && (await c.req.text()) === '') {
    c.req.raw.headers.delete('content-type');
  }
  return next();
});
