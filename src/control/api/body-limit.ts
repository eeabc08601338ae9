/**
 * No request body over 1 MiB. Hono's own middleware finds a chunked body too large only while the handler reads it, and
 * answers a large one while the client is still sending, which the client sees as a broken connection instead of a 413.
 */
import type { IncomingMessage } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';
import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import { AppError } from '../../base/errors.ts';
import type { ApiEnv } from './context.ts';

export const MAX_BODY_BYTES = 1024 * 1024;
/** What is read and thrown away so that the client gets to read its answer; whoever sends more than this is cut off. */
const MAX_DISCARDED_BYTES = 16 * 1024 * 1024;
const MAX_DISCARD_MS = 5_000;

export const limitBody = createMiddleware<ApiEnv>(async (c, next) => {
  const length = c.req.header('content-length');
  if (length !== undefined) {
    if (Number(length) > MAX_BODY_BYTES) return refuse(c);
  } else if (c.req.header('transfer-encoding') !== undefined) {
    const body = await readUpTo(c.req.raw.body, MAX_BODY_BYTES);
    if (body === undefined) return refuse(c);
    c.req.raw = new Request(c.req.url, { method: c.req.method, headers: c.req.raw.headers, body });
  }
  return next();
});

async function refuse(c: Context<ApiEnv>): Promise<never> {
  await discard(c.env.incoming);
  c.header('Connection', 'close');
  throw new AppError('payload_too_large', 'The body is larger than 1 MiB.');
}

async function readUpTo(
  stream: ReadableStream<Uint8Array> | null,
  limit: number,
): Promise<Buffer<ArrayBuffer> | undefined> {
  const reader = stream?.getReader();
  const parts: Uint8Array[] = [];
  let size = 0;
  for (let part = await reader?.read(); part !== undefined && !part.done; part = await reader?.read()) {
    size += part.value.length;
    if (size > limit) {
      reader?.releaseLock();
      return undefined;
    }
    parts.push(part.value);
  }
  return Buffer.concat(parts);
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
