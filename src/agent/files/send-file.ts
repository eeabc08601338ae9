/** Sends one file: its version and type as headers, then all of it, a part of it, or nothing. */
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { type Outcome, outcomeOf, type Version } from './conditions.ts';
import type { Copy } from './media-type.ts';

/** Up to this a file is read at once and closed: a visitor that reads slowly holds no file open. */
const WHOLE_BYTES = 65_536;
const CHUNK_BYTES = 131_072;
/** A file that is none (a pipe, a device) must not block the opening, and no link is followed any more. Windows has neither flag. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);

export interface FileToSend {
  /** Real path. */
  readonly path: string;
  readonly type: string;
  /** The file is a compressed copy. */
  readonly copy?: Copy | undefined;
  /** There may be copies: caches keep them apart. */
  readonly varies: boolean;
}

/** Resolves with false when it is no ordinary file: nothing was sent then. */
export async function sendFile(request: IncomingMessage, response: ServerResponse, file: FileToSend): Promise<boolean> {
  const handle = await open(file.path, FLAGS);
  try {
    const stats = await handle.stat({ bigint: true });
    if (!stats.isFile()) return false;
    const version: Version = {
      // Nanoseconds: a file that a build writes twice in a second is another one.
      etag: `"${stats.size.toString(36)}-${stats.mtimeNs.toString(36)}${file.copy === undefined ? '' : `-${file.copy.encoding}`}"`,
      modifiedMs: Number(stats.mtimeMs / 1_000n) * 1_000,
      size: Number(stats.size),
    };
    const isGet = request.method === 'GET';
    const outcome = outcomeOf({ headers: request.headers, isGet, nowMs: Date.now() }, version);
    const { start, length } = writeHead(response, { outcome, version, file });
    if (length === 0 || !isGet) response.end();
    else await sendBody(response, handle, { start, length });
    return true;
  } finally {
    await handle.close();
  }
}

interface Part {
  readonly start: number;
  readonly length: number;
}

/** Which bytes follow. */
function writeHead(
  response: ServerResponse,
  { outcome, version, file }: { outcome: Outcome; version: Version; file: FileToSend },
): Part {
  const { etag, modifiedMs, size } = version;
  response.setHeader('ETag', etag);
  response.setHeader('Last-Modified', new Date(modifiedMs).toUTCString());
  // Kept, and asked for again each time: the answer is 304 while the file is the same.
  response.setHeader('Cache-Control', 'no-cache');
  if (file.varies) response.setHeader('Vary', 'Accept-Encoding');
  response.statusCode = outcome.status;
  if (outcome.status === 304) return { start: 0, length: 0 };
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('Accept-Ranges', 'bytes');
  if (outcome.status === 412 || outcome.status === 416) {
    if (outcome.status === 416) response.setHeader('Content-Range', `bytes */${size}`);
    response.setHeader('Content-Length', 0);
    return { start: 0, length: 0 };
  }
  const start = outcome.status === 206 ? outcome.start : 0;
  const length = outcome.status === 206 ? outcome.end - outcome.start + 1 : size;
  if (outcome.status === 206) response.setHeader('Content-Range', `bytes ${start}-${outcome.end}/${size}`);
  response.setHeader('Content-Type', file.type);
  if (file.copy !== undefined) response.setHeader('Content-Encoding', file.copy.encoding);
  response.setHeader('Content-Length', length);
  return { start, length };
}

async function sendBody(response: ServerResponse, handle: FileHandle, { start, length }: Part): Promise<void> {
  if (length <= WHOLE_BYTES) {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(length), 0, length, start);
    if (bytesRead === length) response.end(buffer);
    else response.destroy();
    return;
  }
  const body = handle.createReadStream({
    ...{ start, end: start + length - 1 },
    autoClose: false,
    highWaterMark: CHUNK_BYTES,
  });
  await pipeline(body, response, { end: false });
  // A file that became shorter meanwhile: the client must see that it has not all of it.
  if (body.bytesRead === length) response.end();
  else response.destroy();
}
