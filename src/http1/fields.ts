/**
 * The field names that the edge must know, found by length and first letters without making a string. A name with `_` that
 * reads like one of them when `_` is `-` is dropped: some services would take it for the real one.
 */
import { FOLD } from './chars.ts';

export const FIELD = {
  none: 0,
  host: 1,
  connection: 2,
  contentLength: 3,
  transferEncoding: 4,
  upgrade: 5,
  expect: 6,
  accept: 7,
  forwardedFor: 8,
  forwardedProto: 9,
  forwardedHost: 10,
  keepAlive: 11,
  /** Never forwarded: hop-by-hop, or a claim about the visitor that only the edge may make. */
  drop: 12,
  /** Of a response what sets cookies, or takes them away: set-cookie.ts reads them. Of a request its cookies: policy/visitor-login/cookies.ts. */
  cookie: 13,
  /** Passes through; its trace id is noted. */
  traceparent: 14,
} as const;
export type Field = (typeof FIELD)[keyof typeof FIELD];

interface Name {
  readonly bytes: Uint8Array;
  readonly field: Field;
}

const LONGEST = 32;
/** Candidates by length of the name. */
export type Names = ReadonlyArray<readonly Name[] | null>;

function namesOf(entries: ReadonlyArray<readonly [string, Field]>): Names {
  const byLength: Array<Name[] | null> = Array.from({ length: LONGEST + 1 }, () => null);
  for (const [name, field] of entries) {
    const list = byLength[name.length] ?? [];
    list.push({ bytes: Uint8Array.from(Buffer.from(name)), field });
    byLength[name.length] = list;
  }
  return byLength;
}

const HOP_BY_HOP = ['proxy-connection', 'te', 'proxy-authenticate', 'proxy-authorization'] as const;

/**
 * In which frameworks and gateways look for the visitor's address or scheme: Rack and Rails, Symfony and Laravel, django-ipware, request-ip for Express,
 * WebLogic, Envoy, and the networks that write them (Cloudflare, Fastly, Akamai, Fly, Azure, App Engine, CloudFront, Netlify, Vercel, Imperva,
 * Sucuri, Alibaba Cloud, Wangsu), and ingress-nginx. The edge says the address in X-Forwarded-For and X-Real-IP; what a visitor writes into any other is a lie that would be believed.
 * `x-forwarded-…` are known by their beginning.
 */
export const CLAIMS_OF_VISITORS = [
  'forwarded',
  'forwarded-for',
  'x-forwarded',
  'x-real-ip',
  'client-ip',
  'x-client-ip',
  'x-clientip',
  'true-client-ip',
  'x-true-client-ip',
  'x-cluster-client-ip',
  'cf-connecting-ip',
  'cf-connecting-ipv6',
  'cf-pseudo-ipv4',
  'do-connecting-ip',
  'fastly-client-ip',
  'fly-client-ip',
  'incap-client-ip',
  'x-sucuri-clientip',
  'x-azure-clientip',
  'x-azure-socketip',
  'x-appengine-user-ip',
  'x-appengine-remote-addr',
  'x-nf-client-connection-ip',
  'x-vercel-forwarded-for',
  'x-envoy-external-address',
  'x-original-forwarded-for',
  'ali-cdn-real-ip',
  'cdn-src-ip',
  'cloudfront-viewer-address',
  'proxy-client-ip',
  'wl-proxy-client-ip',
  'x-proxyuser-ip',
  'x-remote-ip',
  'x-remote-addr',
  'remote-addr',
  'x-originating-ip',
  'front-end-https',
  'x-scheme',
  'x-url-scheme',
] as const;

export const REQUEST_NAMES: Names = namesOf([
  ['host', FIELD.host],
  ['connection', FIELD.connection],
  ['content-length', FIELD.contentLength],
  ['transfer-encoding', FIELD.transferEncoding],
  ['upgrade', FIELD.upgrade],
  ['expect', FIELD.expect],
  ['accept', FIELD.accept],
  ['cookie', FIELD.cookie],
  ['traceparent', FIELD.traceparent],
  ['x-forwarded-for', FIELD.forwardedFor],
  ['x-forwarded-proto', FIELD.forwardedProto],
  ['x-forwarded-host', FIELD.forwardedHost],
  ...[
    ...CLAIMS_OF_VISITORS,
    'keep-alive',
    'http2-settings',
    'culvert-visitor-email',
    'culvert-replay',
    'culvert-webhook-receiver',
    'culvert-webhook-delivery',
    'culvert-webhook-attempt',
    ...HOP_BY_HOP,
  ].map((name) => [name, FIELD.drop] as const),
  // What some frameworks and gateways route by in place of the target or the Host: a path that is denied would be asked for in them.
  ...['x-original-url', 'x-rewrite-url', 'x-original-host'].map((name) => [name, FIELD.drop] as const),
]);

export const RESPONSE_NAMES: Names = namesOf([
  ['connection', FIELD.connection],
  ['content-length', FIELD.contentLength],
  ['transfer-encoding', FIELD.transferEncoding],
  ['upgrade', FIELD.upgrade],
  ['keep-alive', FIELD.keepAlive],
  ['set-cookie', FIELD.cookie],
  ['clear-site-data', FIELD.cookie],
  // Only the edge itself says this.
  ['culvert-error', FIELD.drop],
  ...HOP_BY_HOP.filter((name) => name !== 'proxy-authenticate').map((name) => [name, FIELD.drop] as const),
]);

/** Which known field `bytes[start, start + length)` names. */
export function fieldOf(names: Names, bytes: Uint8Array, start: number, length: number): Field {
  const candidates = length <= LONGEST ? (names[length] ?? null) : null;
  if (candidates === null) return FIELD.none;
  for (let k = 0; k < candidates.length; k++) {
    const { bytes: name, field } = candidates[k] as Name;
    let underscore = false;
    let i = 0;
    for (; i < length; i++) {
      const c = bytes[start + i] as number;
      if (FOLD[c] !== name[i]) break;
      if (c === 95) underscore = true;
    }
    if (i === length) return underscore ? FIELD.drop : field;
  }
  return FIELD.none;
}

const FORWARDED_PREFIX = word('x-forwarded-');

/** Whether the name begins with `x-forwarded-`: all of these are claims that only the edge makes. */
export function isForwardedName(bytes: Uint8Array, start: number, length: number): boolean {
  if (length <= FORWARDED_PREFIX.length) return false;
  for (let i = 0; i < FORWARDED_PREFIX.length; i++) {
    if (FOLD[bytes[start + i] as number] !== FORWARDED_PREFIX[i]) return false;
  }
  return true;
}

/** Whether `bytes[start, end)` is `word` (given in lower case) in any case. */
export function equalsFolded(bytes: Uint8Array, start: number, end: number, word: Uint8Array): boolean {
  if (end - start !== word.length) return false;
  for (let i = 0; i < word.length; i++) {
    const c = bytes[start + i] as number;
    if ((c >= 65 && c <= 90 ? c + 32 : c) !== word[i]) return false;
  }
  return true;
}

/** A lower-case word as bytes, for `equalsFolded`. */
export function word(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text));
}
