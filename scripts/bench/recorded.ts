/**
 * Requests for the `records` scenario, as a node would have recorded them: heads of browsers and services, bodies under a third of them. A quarter
 * belongs to one organization, a twentieth to one of its tunnels.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import type { InspectedRequest, Trace } from '../../src/plane/inspection.ts';

const ORGANIZATIONS = 20;
const TUNNELS = 5;
const PATHS = [
  '/',
  '/api/orders',
  '/api/orders/4711/lines',
  '/static/app.js',
  '/login',
  '/hooks/stripe',
  '/search?q=shoes',
];
const STATUSES = [200, 200, 200, 200, 200, 204, 304, 302, 404, 500];
const ONE_IN_RARE = 20_000;

const REQUEST_HEAD = Buffer.from(
  [
    'GET /api/orders HTTP/1.1',
    'Host: shop.example.com',
    'User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36',
    'Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8',
    'Accept-Language: de-CH,de;q=0.9,en;q=0.8',
    'Accept-Encoding: gzip, deflate, br, zstd',
    `Cookie: session=${'x'.repeat(160)}; theme=dark`,
    'X-Forwarded-For: 192.0.2.1',
    'X-Forwarded-Proto: https',
    'X-Forwarded-Host: shop.example.com',
    '',
    '',
  ].join('\r\n'),
);
const RESPONSE_HEAD = Buffer.from(
  [
    'HTTP/1.1 200 OK',
    'Content-Type: application/json; charset=utf-8',
    'Cache-Control: no-store',
    'Content-Security-Policy: default-src https:; frame-ancestors none',
    'Strict-Transport-Security: max-age=31536000',
    'ETag: W/"2f-0123456789abcdef"',
    'Date: Sun, 22 Nov 2026 10:00:00 GMT',
    'Content-Length: 2048',
    '',
    '',
  ].join('\r\n'),
);
const NONE = Buffer.alloc(0);
const BODY = Buffer.from(
  JSON.stringify({ items: Array.from({ length: 40 }, (_, i) => ({ id: i, name: `item ${i}` })) }),
);

export interface Owners {
  readonly organizations: readonly string[];
  /** Of each organization. */
  readonly tunnels: ReadonlyArray<readonly string[]>;
}

export function makeOwners(): Owners {
  const ids = (count: number): string[] => Array.from({ length: count }, () => randomUUID());
  return { organizations: ids(ORGANIZATIONS), tunnels: ids(ORGANIZATIONS).map(() => ids(TUNNELS)) };
}

export const TRACE: Trace = {
  outcome: 'forwarded',
  code: null,
  host: 'shop.example.com',
  scheme: 'https',
  httpVersion: '2',
  steps: [
    { step: 'deny', index: 0, rule: null, verdict: 'passed', code: null },
    { step: 'rate_limit', index: 1, rule: null, verdict: 'passed', code: null },
  ],
  agentId: '00000000-0000-4000-8000-000000000000',
  tokenId: '00000000-0000-4000-8000-000000000001',
  connection: 'kept',
  retried: false,
  policyMs: 0.1,
  firstByteMs: 11.2,
};

/** The record with this number, made at `at`. */
export function makeRecord(owners: Owners, number: number, at: number): InspectedRequest {
  const owner = number % 4 === 0 ? 0 : 1 + (number % (ORGANIZATIONS - 1));
  const target = number % ONE_IN_RARE === 0 ? `/needle/${number}` : (PATHS[number % PATHS.length] ?? '/');
  const hasBody = number % 3 === 0;
  const sent = number % 9 === 0 ? BODY.subarray(0, 400) : NONE;
  return {
    id: idAt(at),
    tunnelId: owners.tunnels[owner]?.[Math.floor(number / 4) % TUNNELS] ?? '',
    orgId: owners.organizations[owner] ?? '',
    at,
    method: sent.length > 0 ? 'POST' : 'GET',
    target,
    status: STATUSES[Math.floor(number / 7) % STATUSES.length] ?? 200,
    latencyMs: 12.5,
    requestSize: sent.length,
    responseSize: hasBody ? BODY.length : 0,
    remoteIp: '192.0.2.1',
    requestHead: REQUEST_HEAD,
    responseHead: RESPONSE_HEAD,
    requestBody: sent,
    requestBodyTruncated: false,
    responseBody: hasBody ? BODY : NONE,
    responseBodyTruncated: false,
    replayOf: null,
    trace: TRACE,
  };
}

/** A UUIDv7 of that instant. */
export function idAt(at: number): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(Math.floor(at), 0, 6);
  bytes.writeUInt8(0x70 | (bytes.readUInt8(6) & 0x0f), 6);
  bytes.writeUInt8(0x80 | (bytes.readUInt8(8) & 0x3f), 8);
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
