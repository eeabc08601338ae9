/** For routes whose body is required: the validator takes a request without one for `{}`, which fits where every field may be left out. */
import { createMiddleware } from 'hono/factory';
import { AppError } from '../../../../base/errors.ts';
import type { ApiEnv } from '../context.ts';
import type { RouteTable } from '../route-table.ts';

export function requireBody(routes: RouteTable) {
  return createMiddleware<ApiEnv>(async (c, next) => {
    const route = routes.find(c.req.method, c.req.path);
    if (route?.needsBody !== true || c.req.header('content-type') !== undefined) return next();
    const message = 'The request has no body. Send JSON with Content-Type: application/json.';
    throw new AppError('invalid_request', message, { details: [{ path: '', message }] });
  });
}
