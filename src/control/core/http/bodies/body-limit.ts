/**
 * What a request's body may be: 1 MiB, 64 KiB on routes without a log-in, no JSON deeper than 32. Hono's own middleware finds a chunked body too large
 * only while the handler reads it, and answers a large one while the client is still sending, which the client sees as a broken
 * connection instead of a 413.
 */
import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import { AppError } from '../../../../base/errors.ts';
import { isTooDeep, MAX_JSON_DEPTH } from '../../../../base/json-depth.ts';
import { BodiesUnderWay } from './bodies-under-way.ts';
import type { ApiEnv } from '../context.ts';
import { discard, MAX_PIECES, readBody } from './read-body.ts';
import type { KnownRoute, RouteTable } from '../route-table.ts';

export const MAX_BODY_BYTES = 1024 * 1024;
/** Of a route that needs no log-in, unless it is there for what other services send. */
const MAX_PUBLIC_BODY_BYTES = 64 * 1024;
const FOR_SERVICES = new Set(['/webhooks/{receiver_id}', '/billing/webhook']);
const TOO_DEEP = `The JSON is nested deeper than ${MAX_JSON_DEPTH} levels. Flatten it.`;

export function limitBody(routes: RouteTable) {
  const underWay = new BodiesUnderWay();
  return createMiddleware<ApiEnv>(async (c, next) => {
    const limit = limitOf(routes.find(c.req.method, c.req.path));
    const length = Number(c.req.header('content-length') ?? 0);
    if (length > limit) {
      await discard(c.env.incoming);
      return refuse(c, limit);
    }
    if (length <= MAX_PUBLIC_BODY_BYTES && c.req.header('transfer-encoding') === undefined) {
      await refuseDeep(c);
      return next();
    }
    const one = underWay.enter();
    try {
      const { incoming } = c.env;
      const body = await readBody(incoming, limit, one).catch((error: unknown) => {
        c.header('Connection', 'close');
        throw error;
      });
      if (typeof body === 'string') {
        await discard(incoming);
        return refuse(c, body === 'too_large' ? limit : undefined);
      }
      const { method } = c.req;
      // A `Request` of these may have none: what came is read and means nothing (RFC 9110 §9.3.1).
      if (method === 'GET' || method === 'HEAD') return await next();
      c.req.raw = new Request(c.req.url, { method, headers: c.req.raw.headers, body });
      await refuseDeep(c);
      return await next();
    } finally {
      one.leave();
    }
  });
}

function limitOf(route: KnownRoute | undefined): number {
  return route?.isPublic === true && !FOR_SERVICES.has(route.path) ? MAX_PUBLIC_BODY_BYTES : MAX_BODY_BYTES;
}

/** Whatever the case of its type, which the validator takes in any. A body that can't be read is the handler's to answer for: it asks for the same one. */
async function refuseDeep(c: Context<ApiEnv>): Promise<void> {
  if (c.req.header('content-type')?.toLowerCase().includes('json') !== true) return;
  const body = await c.req.arrayBuffer().catch(() => null);
  if (body !== null && isTooDeep(new Uint8Array(body)))
    throw new AppError('invalid_request', TOO_DEEP, { details: [{ path: '', message: TOO_DEEP }] });
}

/** `limit` undefined: it has too many pieces. */
function refuse(c: Context<ApiEnv>, limit: number | undefined): never {
  c.header('Connection', 'close');
  if (limit === undefined)
    throw new AppError('payload_too_large', `The body has more than ${MAX_PIECES} chunks. Send larger ones.`);
  throw new AppError(
    'payload_too_large',
    `The body is larger than ${limit === MAX_BODY_BYTES ? '1 MiB' : '64 KiB'}. Send a smaller one.`,
  );
}
