/**
 * Requests for the scenario `search`: JSON of 200 bytes to 4 KB, a fifth of the responses compressed. One in RARE_EVERY has the rare word, about
 * half have the common one, none has the missing one. Each has a trace id of its own, and comes from one of many addresses.
 */
import { gzipSync } from 'node:zlib';
import type { InspectedRequest } from '../../../src/plane/inspection.ts';
import { idAt, TRACE } from '../recorded.ts';

export const RARE_EVERY = 20_000;
export const WORDS = { rare: 'order-rare-4711', common: 'pending', missing: 'no-such-word' } as const;
/** Of different bodies: each is in many records. */
const POOL = 2_000;
const SMALLEST = 200;
const LARGEST = 4_000;
const VOCABULARY =
  'invoice customer shipping address warehouse delayed express refund partial carrier parcel label pickup return reason damaged color size quantity currency discount voucher loyalty account created updated shipped delivered cancelled'.split(
    ' ',
  );
const METHODS = ['GET', 'GET', 'GET', 'POST', 'PUT'];
const PATHS = ['/api/orders', '/api/customers', '/api/parcels/track', '/hooks/stripe', '/api/search?q=shoes'];
const STATUSES = [200, 200, 200, 200, 201, 204, 304, 404, 422, 500];

interface Body {
  readonly plain: Buffer;
  readonly packed: Buffer;
}

export interface Owner {
  readonly orgId: string;
  readonly tunnelIds: readonly string[];
}

export class SearchRecords {
  readonly #owner: Owner;
  readonly #pool: readonly Body[];
  readonly #rare: Body;

  constructor(owner: Owner) {
    this.#owner = owner;
    this.#pool = Array.from({ length: POOL }, (_, i) => makeBody(i, i % 2 === 0 ? WORDS.common : 'shipped'));
    this.#rare = makeBody(POOL, WORDS.rare);
  }

  /** The record with this number, made at `at` (milliseconds since the epoch). */
  record(number: number, at: number): InspectedRequest {
    // No property goes with another.
    const mixed = Math.imul(number, 0x9e3779b1) >>> 0;
    const method = METHODS[(mixed >>> 3) % METHODS.length] ?? 'GET';
    const target = PATHS[(mixed >>> 7) % PATHS.length] ?? '/';
    const status = STATUSES[(mixed >>> 11) % STATUSES.length] ?? 200;
    const isPacked = (mixed >>> 15) % 5 === 0;
    // Neighbours differ in size.
    const answered = number % RARE_EVERY === 0 ? this.#rare : this.#body(number * 31);
    const responseBody = isPacked ? answered.packed : answered.plain;
    const requestBody = method === 'GET' ? NONE : this.#body(number * 17 + 1).plain.subarray(0, 1_500);
    const remoteIp = `198.51.${(mixed >>> 5) % 200}.${(mixed >>> 13) % 250}`;
    return {
      id: idAt(at),
      tunnelId: this.#owner.tunnelIds[(mixed >>> 19) % this.#owner.tunnelIds.length] ?? '',
      orgId: this.#owner.orgId,
      at,
      method,
      target,
      status,
      latencyMs: 2 + (number % 97) * 3,
      requestSize: requestBody.length,
      responseSize: responseBody.length,
      remoteIp,
      requestHead: requestHead({ method, target, remoteIp, number }),
      responseHead: isPacked ? PACKED_HEAD : PLAIN_HEAD,
      requestBody,
      requestBodyTruncated: false,
      responseBody,
      responseBodyTruncated: false,
      replayOf: null,
      trace: TRACE,
    };
  }

  #body(number: number): Body {
    return this.#pool[number % POOL] ?? this.#rare;
  }
}

const NONE = Buffer.alloc(0);

/** Sizes are spread evenly over their logarithm: as many of 200 to 400 bytes as of 2 to 4 KB. */
function makeBody(number: number, word: string): Body {
  const size = SMALLEST * (LARGEST / SMALLEST) ** ((number % 100) / 99);
  const lines: object[] = [];
  const text = (): string => JSON.stringify({ id: number, status: word, total: (number * 37) % 10_000, lines });
  for (let i = 0; text().length < size; i++) {
    const words = [1, 5, 11].map((step) => VOCABULARY[(number * 13 + i * step + step) % VOCABULARY.length]);
    lines.push({
      sku: `A-${(number * 7919 + i * 104_729) % 1_000_000}`,
      note: words.join(' '),
      price: (i * 499) % 5000,
    });
  }
  const plain = Buffer.from(text());
  return { plain, packed: gzipSync(plain) };
}

/** The trace id of this record, as a search has it. */
export function traceIdOf(number: number): string {
  return `4bf92f3577b34da6a3ce${number.toString(16).padStart(12, '0')}`;
}

function requestHead(of: { method: string; target: string; remoteIp: string; number: number }): Buffer {
  return Buffer.from(
    [
      `${of.method} ${of.target} HTTP/1.1`,
      'Host: shop.example.com',
      'User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36',
      'Accept: application/json',
      'Accept-Language: de-CH,de;q=0.9,en;q=0.8',
      'Accept-Encoding: gzip, deflate, br, zstd',
      'Content-Type: application/json',
      `traceparent: 00-${traceIdOf(of.number)}-00f067aa0ba902b7-01`,
      `X-Forwarded-For: ${of.remoteIp}`,
      'X-Forwarded-Proto: https',
      'X-Forwarded-Host: shop.example.com',
      '',
      '',
    ].join('\r\n'),
  );
}

function responseHead(...more: readonly string[]): Buffer {
  return Buffer.from(
    [
      'HTTP/1.1 200 OK',
      'Content-Type: application/json; charset=utf-8',
      'Cache-Control: no-store',
      'Strict-Transport-Security: max-age=31536000',
      'Date: Sun, 22 Nov 2026 10:00:00 GMT',
      ...more,
      '',
      '',
    ].join('\r\n'),
  );
}

const PLAIN_HEAD = responseHead();
const PACKED_HEAD = responseHead('Content-Encoding: gzip', 'Vary: Accept-Encoding');
