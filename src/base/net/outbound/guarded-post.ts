/**
 * Posts to an address that a user of the server has chosen. It must not become a way into the network of the server: public addresses alone, HTTPS,
 * no redirects, bounded in size and time. `edge.allow_private_jwks` allows private addresses and plain HTTP.
 */
import { type ClientRequest, type RequestOptions, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP } from 'node:net';
import { codeOf } from '../../errors.ts';
import { isPublicAddress } from '../public-address.ts';
import { anyLookup, publicLookup } from './name-lookup.ts';

const MAX_URL = 2_048;
/** Of a response, which is read to its end so that the sender can write it down, and dropped. */
const MAX_BYTES = 64 * 1024;
const TIMEOUT_MS = 10_000;
/** Longest wait that a receiver may ask for. */
const MAX_RETRY_AFTER_SECONDS = 3_600;

/** Faults of networks in plain words. */
const REASONS: Readonly<Record<string, (host: string) => string>> = {
  ENOTFOUND: (host) => `the name ${host} can't be resolved`,
  ENODATA: (host) => `the name ${host} can't be resolved`,
  ECONNREFUSED: (host) => `${host} refused the connection`,
  ECONNRESET: (host) => `${host} closed the connection without a response`,
  EHOSTUNREACH: (host) => `${host} can't be reached`,
  ENETUNREACH: (host) => `${host} can't be reached`,
  CERT_HAS_EXPIRED: (host) => `the certificate of ${host} has expired`,
  DEPTH_ZERO_SELF_SIGNED_CERT: (host) => `the certificate of ${host} is self-signed`,
  SELF_SIGNED_CERT_IN_CHAIN: (host) => `the certificate of ${host} is self-signed`,
  ERR_TLS_CERT_ALTNAME_INVALID: (host) => `the certificate of ${host} is for another name`,
};

export interface PostRules {
  /** Addresses that are not public, and plain HTTP (`edge.allow_private_jwks`). */
  readonly allowPrivate: boolean;
  /** PEM of the authorities to believe instead of the public ones. */
  readonly ca?: string;
}

export interface Post {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal?: AbortSignal;
}

export interface Posted {
  readonly status: number;
  /** What the receiver asks for; null: nothing. */
  readonly retryAfterSeconds: number | null;
}

/** What is wrong with the address, as the end of a sentence about it; null: it may be posted to. */
export function urlProblem(url: string, { allowPrivate }: PostRules): string | null {
  const to = url.length > MAX_URL ? null : URL.parse(url);
  if (to === null) return 'must be a URL that starts with https://';
  if (to.protocol !== 'https:' && !(allowPrivate && to.protocol === 'http:')) return 'must start with https://';
  if (to.username !== '' || to.password !== '') return 'must not contain a user name or a password';
  const host = hostOf(to);
  const isOwn = /(^|\.)localhost\.?$/i.test(host) || (isIP(host) !== 0 && !isPublicAddress(host));
  return isOwn && !allowPrivate ? 'must lead to a public address' : null;
}

/** Rejects with what was wrong: an address that is not allowed or can't be reached, no response within 10 s. Any status is a response. */
export async function guardedPost(url: string, post: Post, rules: PostRules): Promise<Posted> {
  const problem = urlProblem(url, rules);
  if (problem !== null) throw new Error(`the URL ${problem}`);
  const to = new URL(url);
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  const options: RequestOptions = {
    method: 'POST',
    agent: false,
    headers: { ...post.headers, 'Content-Length': Buffer.byteLength(post.body) },
    signal: post.signal === undefined ? timeout : AbortSignal.any([timeout, post.signal]),
    lookup: rules.allowPrivate ? anyLookup : publicLookup,
  };
  const ca = rules.ca === undefined ? {} : { ca: rules.ca };
  const asked = to.protocol === 'http:' ? requestHttp(to, options) : requestHttps(to, { ...options, ...ca });
  try {
    return await posted(asked, post.body);
  } catch (error) {
    if (timeout.aborted)
      throw new Error(`${hostOf(to)} did not respond within ${TIMEOUT_MS / 1000} s`, { cause: error });
    const reason = REASONS[codeOf(error) ?? ''];
    throw reason === undefined ? error : new Error(reason(hostOf(to)), { cause: error });
  }
}

function posted(asked: ClientRequest, body: string): Promise<Posted> {
  const { promise, resolve, reject } = Promise.withResolvers<Posted>();
  asked.on('error', reject);
  asked.on('response', (response) => {
    let size = 0;
    response.on('error', reject);
    response.on('data', (part: Buffer) => {
      size += part.length;
      if (size > MAX_BYTES) asked.destroy(new Error('the response is larger than 64 KB'));
    });
    response.on('end', () =>
      resolve({
        status: response.statusCode ?? 0,
        retryAfterSeconds: retryAfter(response.headers['retry-after']),
      }),
    );
  });
  asked.end(body);
  return promise;
}

function retryAfter(text: string | undefined): number | null {
  if (text === undefined || !/^\d{1,6}(\.\d+)?$/.test(text)) return null;
  return Math.min(Math.ceil(Number(text)), MAX_RETRY_AFTER_SECONDS);
}

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}
