/**
 * What a request's body may be: 1 MiB, 64 KiB on routes without a log-in, no JSON deeper than 32. Hono's own middleware finds a chunked body too large
 * only while the handler reads it, and answers a large one while the client is still sending, which the client sees as a broken
 * connection instead of a 413.
 */
import type { IncomingMessage } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';
import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import { AppError } from '../../base/errors.ts';
import { isTooDeep, MAX_JSON_DEPTH } from '../../base/json-depth.ts';
import { BodiesUnderWay, type BodyUnderWay } from './bodies-under-way.ts';
import type { ApiEnv } from './context.ts';
import type { KnownRoute, RouteTable } from './route-table.ts';

export const MAX_BODY_BYTES = 1024 * 1024;
/** Of a route that needs no log-in, unless it is there for what other services send. */
const MAX_PUBLIC_BODY_BYTES = 64 * 1024;
const FOR_SERVICES = new Set(['/webhooks/{receiver_id}', '/billing/webhook']);
const TOO_DEEP = `The JSON is nested deeper than ${MAX_JSON_DEPTH} levels.`;
/** What is read and thrown away so that the client gets to read its answer; whoever sends more than this is cut off. */
const MAX_DISCARDED_BYTES = 16 * 1024 * 1024;
const MAX_DISCARD_MS = 5_000;

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
      const body = await readUpTo(c.req.raw.body, limit, one).catch((error: unknown) => {
        c.header('Connection', 'close');
        throw error;
      });
      if (body === undefined) return refuse(c, limit);
      c.req.raw = new Request(c.req.url, { method: c.req.method, headers: c.req.raw.headers, body });
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

function refuse(c: Context<ApiEnv>, limit: number): never {
  c.header('Connection', 'close');
  throw new AppError('payload_too_large', `The body is larger than ${limit === MAX_BODY_BYTES ? '1 MiB' : '64 KiB'}.`);
}

/** Undefined: there is more. The rest of it was thrown away then. */
async function readUpTo(
  stream: ReadableStream<Uint8Array> | null,
  limit: number,
  one: BodyUnderWay,
): Promise<Buffer<ArrayBuffer> | undefined> {
  const reader = stream?.getReader();
  const parts: Uint8Array[] = [];
  let size = 0;
  const next = async () => (reader === undefined ? undefined : Promise.race([reader.read(), one.overtaken]));
  for (let part = await next(); part !== undefined && !part.done; part = await next()) {
    size += part.value.length;
    one.hold(part.value.length);
    if (size > limit) {
      if (reader !== undefined) await discardRest(reader);
      return undefined;
    }
    parts.push(part.value);
  }
  return Buffer.concat(parts);
}

/** Through its reader: the stream in front of the request holds it back as long as nobody reads there. Ends as `discard` does. */
async function discardRest(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, MAX_DISCARD_MS, undefined);
  });
  try {
    for (let seen = 0; seen <= MAX_DISCARDED_BYTES; ) {
      const part = await Promise.race([reader.read(), late]);
      if (part === undefined || part.done) return;
      seen += part.value.length;
    }
  } catch {
    // The client has left: there is nobody to answer.
  } finally {
    clearTimeout(timer);
  }
}

/** Ends when the body has, or at one of the bounds. */
function discard(incoming: IncomingMessage | Http2ServerRequest): Promise<void> {
  if (incoming.readableEnded || incoming.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    let seen = 0;
    const finish = (): void => {
      clearTimeout(timer);
      incoming.off('data', count).off('end', finish).off('close', finish);
      resolve();
    };
    const count = (chunk: Buffer): void => {
      seen += chunk.length;
      if (seen > MAX_DISCARDED_BYTES) finish();
    };
    const timer = setTimeout(finish, MAX_DISCARD_MS);
    incoming.on('data', count).on('end', finish).on('close', finish).resume();
  });
}
