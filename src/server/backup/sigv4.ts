/** Signatures of AWS, version 4, for requests to S3-compatible stores (docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html). */
import { createHash, createHmac } from 'node:crypto';
import type { Secret } from '../../base/secret.ts';

export interface Credentials {
  readonly accessKey: string;
  readonly secretKey: Secret;
  readonly region: string;
  readonly service: string;
}

export interface UnsignedRequest {
  readonly method: string;
  readonly url: URL;
  /** All of them are signed; `host` and `x-amz-date` must be there. */
  readonly headers: Readonly<Record<string, string>>;
  /** SHA-256 of the body, hex. */
  readonly bodyHash: string;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';

/** The value of the header `authorization`. */
export function authorizationOf(request: UnsignedRequest, credentials: Credentials): string {
  const { accessKey, secretKey, region, service } = credentials;
  const at = request.headers['x-amz-date'] ?? '';
  const scope = [at.slice(0, 8), region, service, 'aws4_request'];
  const { text, signed } = canonical(request);
  const toSign = [ALGORITHM, at, scope.join('/'), sha256(text)].join('\n');
  const key = scope.reduce<Buffer | string>((previous, part) => hmac(previous, part), `AWS4${secretKey.reveal()}`);
  const signature = hmac(key, toSign).toString('hex');
  return `${ALGORITHM} Credential=${accessKey}/${scope.join('/')},SignedHeaders=${signed},Signature=${signature}`;
}

/** `20261126T071606Z`. */
export function amzDate(now: number): string {
  return new Date(now).toISOString().replaceAll(/[:-]|\.\d{3}/g, '');
}

/** Everything but unreserved characters is escaped, as the signature wants it; URL leaves more. */
export function escapeStrictly(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function canonical({ method, url, headers, bodyHash }: UnsignedRequest): {
  readonly text: string;
  readonly signed: string;
} {
  const path = url.pathname.split('/').map((part) => escapeStrictly(decodeURIComponent(part)));
  const query = Array.from(
    url.searchParams,
    ([name, value]) => `${escapeStrictly(name)}=${escapeStrictly(value)}`,
  ).sort();
  const all = Object.entries(headers)
    .map(([name, value]) => [name.toLowerCase(), value.trim().replaceAll(/ +/g, ' ')] as const)
    .sort(([one], [other]) => (one < other ? -1 : 1));
  const signed = all.map(([name]) => name).join(';');
  const lines = all.map(([name, value]) => `${name}:${value}\n`).join('');
  return { text: [method, path.join('/'), query.join('&'), lines, signed, bodyHash].join('\n'), signed };
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
