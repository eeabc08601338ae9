/**
 * Fetches the JSON documents in which issuers of JWTs publish their keys. The address comes from a tunnel's owner, a stranger, so
 * it must not become a way into the network of the server: https alone, no redirects, public addresses alone, bounded in size and time.
 */
import { type ClientRequest, type RequestOptions, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP } from 'node:net';
import { isLoopback } from '../../../base/net/addr.ts';
import { isTooDeep } from '../../../base/json-depth.ts';
import { isPublicAddress } from '../../../base/net/public-address.ts';
import { anyLookup, notPublic, publicLookup } from '../../../base/net/outbound/name-lookup.ts';

const MAX_BYTES = 256 * 1024;
const TIMEOUT_MS = 5_000;

export interface FetchRules {
  /** Addresses that are not public are fetched from too, and http from this very machine (`edge.allow_private_jwks`). */
  readonly allowPrivate: boolean;
  /** PEM of the authorities to believe instead of the public ones. */
  readonly ca?: string;
}

/** The document at `url`. Rejects with what was wrong: an address that is not allowed, an answer that is no 200 with JSON of at most 256 KB within 5 s. */
export async function fetchJson(url: string, rules: FetchRules): Promise<unknown> {
  const to = new URL(url);
  const host = to.hostname.replace(/^\[|\]$/g, '');
  const isPlain = to.protocol === 'http:' && rules.allowPrivate && isLoopback(host);
  if (to.protocol !== 'https:' && !isPlain) throw new Error(`keys are fetched over HTTPS only, not from ${url}`);
  // An address is connected to without being looked up.
  if (isIP(host) !== 0 && !rules.allowPrivate && !isPublicAddress(host)) throw notPublic(host);
  const options: RequestOptions = {
    agent: false,
    headers: { Accept: 'application/json' },
    signal: AbortSignal.timeout(TIMEOUT_MS),
    lookup: rules.allowPrivate ? anyLookup : publicLookup,
  };
  const asked = isPlain
    ? requestHttp(to, options)
    : requestHttps(to, { ...options, ...(rules.ca === undefined ? {} : { ca: rules.ca }) });
  const body = await bodyOf(asked);
  // 256 KB of opening brackets would take 35 ms of the thread that serves visitors.
  if (isTooDeep(Buffer.from(body))) throw new Error('the response is nested too deeply');
  return JSON.parse(body);
}

function bodyOf(asked: ClientRequest): Promise<string> {
  const { promise, resolve: done, reject } = Promise.withResolvers<string>();
  asked.on('error', reject);
  asked.on('response', (response) => {
    const parts: Buffer[] = [];
    let size = 0;
    response.on('error', reject);
    response.on('data', (part: Buffer) => {
      size += part.length;
      parts.push(part);
      if (size > MAX_BYTES) asked.destroy(new Error('the response is larger than 256 KB'));
    });
    response.on('end', () => done(Buffer.concat(parts).toString('utf8')));
    if (response.statusCode !== 200) asked.destroy(new Error(`the response status is ${response.statusCode}, not 200`));
  });
  asked.end();
  return promise;
}
