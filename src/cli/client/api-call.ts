/**
 * One call of a server's REST API by a command. Called by login.ts, end-login.ts, session.ts and api-command.ts; what an answer means is theirs.
 */
import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { hostname } from 'node:os';
import { addAbortSignal } from 'node:stream';
import { messageOf } from '../../base/errors.ts';
import type { Outbound } from '../../base/net/outbound/outbound.ts';

/** Answers about one thing are below 20 KB. */
const MAX_BYTES = 256 * 1024;

export interface ApiAnswer {
  readonly status: number;
  /** Parsed JSON; undefined when the answer was none. */
  readonly body: unknown;
  /** The answer's bytes, one per character (latin1). */
  readonly bytes: string;
  /** As they came; names in lower case. */
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>;
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
  /** The way to the server. */
  readonly outbound: Outbound;
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
    const signal = call.signal === undefined ? deadline : AbortSignal.any([deadline, call.signal]);
    const response = await send(urlAt(server, call.path), call, signal);
    const { headers } = response;
    const retryAfter = Number(headers['retry-after'] ?? Number.NaN);
    const bytes = await boundedBytes(response, call.maxBytes ?? MAX_BYTES);
    return {
      status: response.statusCode ?? 0,
      headers: headerList(response),
      body: parsed(bytes.toString('utf8')),
      bytes: bytes.toString('latin1'),
      next: /<(\?[^>]*)>; rel="next"/.exec(String(headers['link'] ?? ''))?.[1],
      cookies: headers['set-cookie'] ?? [],
      retryAfter: Number.isFinite(retryAfter) ? retryAfter : undefined,
    };
  } catch (cause) {
    call.signal?.throwIfAborted();
    throw new Error(`${server.host}: ${deadline.aborted ? 'no response' : messageOf(cause)}`, { cause });
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

/** node:http, and not fetch: that takes no proxy but those of HTTP, and no certificates of one call. */
async function send(url: URL, call: ApiCall, signal: AbortSignal): Promise<IncomingMessage> {
  const body = call.body === undefined ? undefined : Buffer.from(JSON.stringify(call.body));
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const asked = request(url, {
    method: call.method ?? 'POST',
    signal,
    agent: call.outbound.agent(url.protocol),
    headers: {
      accept: 'application/json',
      // What the person sees in the list of their sessions.
      'user-agent': `culvert on ${hostname().replace(/[^\x21-\x7e]/g, '?')}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...call.headers,
    },
  });
  asked.end(body);
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  asked.on('error', () => undefined); // from here on the response reports it
  return addAbortSignal(signal, response);
}

/** Names in lower case, in the order in which they came. */
function headerList({ rawHeaders }: IncomingMessage): [name: string, value: string][] {
  const pairs: [string, string][] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    pairs.push([(rawHeaders[at] as string).toLowerCase(), rawHeaders[at + 1] as string]);
  }
  return pairs;
}

async function boundedBytes(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
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
