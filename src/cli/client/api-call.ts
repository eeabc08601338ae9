/**
 * One call of a server's REST API by a command. Called by login.ts, end-login.ts, session.ts and api-command.ts; what an answer means is theirs.
 */
import { hostname } from 'node:os';
import { messageOf } from '../../base/errors.ts';

/** Answers about one thing are below 20 KB. */
const MAX_BYTES = 256 * 1024;

export interface ApiAnswer {
  readonly status: number;
  /** Parsed JSON; undefined when the answer was none. */
  readonly body: unknown;
  /** The answer's bytes, one per character (latin1). */
  readonly bytes: string;
  /** `Retry-After`, seconds. */
  readonly retryAfter: number | undefined;
  /** The query of the next page (`Link`, `rel="next"`), `?` included; undefined: there is none. */
  readonly next: string | undefined;
  /** Each `Set-Cookie`. */
  readonly cookies: readonly string[];
}

export interface ApiCall {
  /** POST when not given. */
  readonly method?: string;
  readonly path: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  /** Without an answer by then the call fails. */
  readonly timeoutMs: number;
  /** A longer answer fails the call; 256 KB when not given. */
  readonly maxBytes?: number;
  readonly signal?: AbortSignal;
}

/** Asks for a path under the server's URL. Redirects are not followed. @throws Error, for people, when there is no answer. */
export async function callApi(server: URL, call: ApiCall): Promise<ApiAnswer> {
  const deadline = AbortSignal.timeout(call.timeoutMs);
  try {
    const response = await fetch(urlAt(server, call.path), {
      method: call.method ?? 'POST',
      // A redirect must not send the key to another server.
      redirect: 'manual',
      signal: call.signal === undefined ? deadline : AbortSignal.any([deadline, call.signal]),
      headers: {
        accept: 'application/json',
        // What the person sees in the list of their sessions.
        'user-agent': `culvert on ${hostname().replace(/[^\x21-\x7e]/g, '?')}`,
        ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...call.headers,
      },
      ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
    });
    const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
    const bytes = await boundedBytes(response, call.maxBytes ?? MAX_BYTES);
    return {
      status: response.status,
      body: parsed(bytes.toString('utf8')),
      bytes: bytes.toString('latin1'),
      next: /<(\?[^>]*)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1],
      cookies: response.headers.getSetCookie(),
      retryAfter: Number.isFinite(retryAfter) ? retryAfter : undefined,
    };
  } catch (cause) {
    call.signal?.throwIfAborted();
    throw new Error(`${server.host}: ${deadline.aborted ? 'no response' : reasonOf(cause)}`, { cause });
  }
}

/** A path below the server's own. */
export function urlAt(server: URL, path: string): URL {
  return new URL(server.pathname.replace(/\/+$/, '') + path, server);
}

/** What the server says to people about an answer that is not the wanted one. */
export function complaint({ status, body }: ApiAnswer): string {
  if (typeof body === 'object' && body !== null && 'message' in body && typeof body.message === 'string') {
    return body.message;
  }
  return `the server responded with ${status}. Is this a Culvert server?`;
}

async function boundedBytes({ body }: Response, maxBytes: number): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let size = 0;
  const chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array> = body ?? [];
  for await (const part of chunks) {
    size += part.length;
    if (size > maxBytes) throw new Error('the response is too large');
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // a proxy's page: the status tells the caller enough
  }
}

/** fetch says "fetch failed" and keeps why to itself. */
function reasonOf(error: unknown): string {
  return messageOf(error instanceof Error && error.cause !== undefined ? error.cause : error);
}
