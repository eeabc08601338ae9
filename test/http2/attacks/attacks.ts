/**
 * The attacks: what each sends first, what it sends for as long as it is taken, and how the edge answers it. `cpuMs` and `growth` bound what one
 * connection may cost; they are several times what was measured on a busy machine.
 */
import type { DropReason } from '../../../src/data/faults/drops.ts';
import { FLAG, FRAME, type Fields, frame, indexedLiteral, literals, request } from '../../harness/h2-frames.ts';
import { continuation, data, headers, OPEN, ping, priority, reset, windowUpdate } from '../conformance/case.ts';
import { codedString, fromBits, indexed, literal, string } from '../hpack.ts';
import { SETTING, settingsFrame } from '../raw-client.ts';

export interface Attack {
  readonly name: string;
  /** Sent once. */
  readonly first?: Buffer;
  /** A round, from a stream number on: its bytes, and the number for the next one. */
  readonly more: (stream: number) => readonly [bytes: Buffer, next: number];
  /** It reads nothing of what the server sends. */
  readonly isDeaf?: true;
  /** The drop reasons of which one is counted when the connection is ended. */
  readonly reasons: readonly DropReason[];
  readonly cpuMs?: number;
}

const MADE_RESETS: readonly DropReason[] = ['h2_made_resets'];
const GET = literals(request());
const NEVER = literals(request('GET', '/never'));
const LARGE = literals(request('GET', '/large'));
const UPLOAD: Fields = request('POST', '/never');
/** Of the dynamic table, the newest entry. */
const NEWEST = indexed(62);

function many(count: number, make: (index: number) => Buffer): Buffer {
  return Buffer.concat(Array.from({ length: count }, (_, index) => make(index)));
}

/** Rounds of `count` new streams. */
function streams(count: number, make: (stream: number) => Buffer): Attack['more'] {
  return (stream) => [many(count, (i) => make(stream + 2 * i)), stream + 2 * count];
}

/** Rounds of the same bytes. */
function same(bytes: Buffer): Attack['more'] {
  return (stream) => [bytes, stream];
}

/** A whole head of more than one frame's bytes. */
function longHead(stream: number, block: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < block.length; at += 16_000) parts.push(block.subarray(at, at + 16_000));
  const last = parts.length - 1;
  return Buffer.concat(
    parts.map((part, i) => {
      const end = i === last ? FLAG.endHeaders : 0;
      return i === 0 ? headers(stream, part, end | FLAG.endStream) : continuation(stream, part, end);
    }),
  );
}

/** An entry of 4,000 bytes, named 12,000 times. */
const BOMB = Buffer.concat([GET, indexedLiteral('x', 'a'.repeat(3_900)), many(12_000, () => NEWEST)]);
/** Entries that push one another out of the table. */
const THRASH = Buffer.concat([
  GET,
  many(3_000, (i) => literal('add', String.fromCharCode(97 + (i % 26)), String.fromCharCode(97 + (i % 25)))),
]);
/** 12,000 bytes of codes of 5 bits, and of 28. */
const SHORT_CODES = Buffer.concat([GET, Buffer.of(0), string('x'), codedString(Buffer.alloc(12_000))]);
const LONG_CODE = '1111111111111111111111101010';
const LONG_CODES = Buffer.concat([GET, Buffer.of(0), string('x'), codedString(fromBits(LONG_CODE.repeat(3_428)))]);
const MANY_FIELDS = Buffer.concat([GET, literals(Array.from({ length: 3_000 }, (_, i) => [`x-${i}`, 'a']))]);
const LARGE_FIELDS = Buffer.concat([GET, literals(Array.from({ length: 6 }, (_, i) => [`x-${i}`, 'a'.repeat(9_000)]))]);

export const ATTACKS: readonly Attack[] = [
  {
    name: 'rapid reset (CVE-2023-44487)',
    more: streams(200, (stream) => Buffer.concat([headers(stream, GET), reset(stream)])),
    reasons: ['h2_reset_flood', 'h2_overhead'],
  },
  {
    name: 'rapid reset of 64 KB answers',
    more: streams(200, (stream) => Buffer.concat([headers(stream, LARGE), reset(stream)])),
    reasons: ['h2_reset_flood', 'h2_overhead'],
  },
  {
    name: 'made to reset by WINDOW_UPDATE of 0 (CVE-2025-8671)',
    more: streams(200, (stream) => Buffer.concat([headers(stream, NEVER), windowUpdate(stream, 0)])),
    reasons: MADE_RESETS,
  },
  {
    name: 'made to reset by PRIORITY of a wrong length (CVE-2025-8671)',
    more: streams(200, (stream) => Buffer.concat([headers(stream, NEVER), priority(stream, Buffer.alloc(4))])),
    reasons: MADE_RESETS,
  },
  {
    name: 'made to reset by DATA beyond its content-length (CVE-2025-8671)',
    more: streams(200, (stream) =>
      Buffer.concat([headers(stream, [...UPLOAD, ['content-length', '1']], OPEN), data(stream, 'xx')]),
    ),
    reasons: MADE_RESETS,
  },
  {
    name: 'CONTINUATION without bytes',
    first: headers(1, GET, FLAG.endStream),
    more: same(many(1_000, () => continuation(1, Buffer.alloc(0), 0))),
    reasons: ['h2_continuation'],
  },
  {
    name: 'CONTINUATION of 16 KB (CVE-2024-27316)',
    first: headers(1, GET, FLAG.endStream),
    more: same(many(8, () => continuation(1, literal('none', 'x', 'a'.repeat(16_370)), 0))),
    reasons: ['h2_continuation'],
  },
  {
    name: 'HPACK bomb: one entry named 12,000 times',
    more: streams(4, (stream) => headers(stream, BOMB)),
    reasons: ['h2_overhead', 'h2_expansion', 'h2_headers'],
  },
  {
    name: 'HPACK table thrash: 3,000 new entries a block',
    more: streams(4, (stream) => headers(stream, THRASH)),
    reasons: ['h2_overhead', 'h2_headers'],
    cpuMs: 500,
  },
  {
    name: 'Huffman: short codes',
    more: streams(4, (stream) => headers(stream, SHORT_CODES)),
    reasons: ['h2_overhead', 'h2_headers', 'h2_protocol'],
    cpuMs: 500,
  },
  {
    name: 'Huffman: long codes',
    more: streams(4, (stream) => headers(stream, LONG_CODES)),
    reasons: ['h2_overhead', 'h2_headers'],
    cpuMs: 500,
  },
  {
    name: 'heads of 3,000 fields',
    more: streams(4, (stream) => longHead(stream, MANY_FIELDS)),
    reasons: ['h2_overhead', 'h2_headers', 'h2_continuation'],
    cpuMs: 500,
  },
  {
    name: 'heads of 54 KB',
    more: streams(4, (stream) => longHead(stream, LARGE_FIELDS)),
    reasons: ['h2_overhead', 'h2_headers', 'h2_continuation'],
    cpuMs: 500,
  },
  {
    name: 'SETTINGS',
    more: same(many(1_000, () => settingsFrame())),
    reasons: ['h2_settings', 'h2_pings'],
  },
  {
    name: 'SETTINGS that open and close the windows of 100 streams',
    first: Buffer.concat([settingsFrame([SETTING.window, 0]), many(100, (i) => headers(2 * i + 1, LARGE))]),
    more: same(
      many(500, () => Buffer.concat([settingsFrame([SETTING.window, 1]), settingsFrame([SETTING.window, 0])])),
    ),
    reasons: ['h2_settings', 'h2_pings'],
  },
  { name: 'PING', more: same(many(1_000, () => ping())), reasons: ['h2_pings'] },
  { name: 'PING, with nothing read', more: same(many(1_000, () => ping())), isDeaf: true, reasons: ['h2_pings'] },
  {
    name: 'DATA without bytes (CVE-2019-9518)',
    first: headers(1, UPLOAD, OPEN),
    more: same(many(1_000, () => data(1, '', 0))),
    reasons: ['h2_overhead', 'h2_protocol'],
  },
  {
    name: 'DATA of one byte',
    first: headers(1, UPLOAD, OPEN),
    more: same(many(1_000, () => data(1, 'x', 0))),
    reasons: ['h2_overhead', 'h2_protocol'],
    // Four times as many pass as of other floods (TINY_DATA_COST), and each byte goes on to the agent.
    cpuMs: 1_000,
  },
  {
    name: 'DATA of padding alone',
    first: headers(1, UPLOAD, OPEN),
    more: same(many(500, () => frame(FRAME.data, FLAG.padded, 1, Buffer.concat([Buffer.of(255), Buffer.alloc(255)])))),
    reasons: ['h2_overhead', 'h2_made_resets'],
    cpuMs: 500,
  },
  {
    name: 'WINDOW_UPDATE of one byte',
    more: same(many(1_000, () => windowUpdate(0, 1))),
    reasons: ['h2_overhead'],
  },
  { name: 'PRIORITY', more: same(many(1_000, () => priority(3))), reasons: ['h2_overhead'] },
  { name: 'frames of an unknown type', more: same(many(1_000, () => frame(99, 0, 0))), reasons: ['h2_overhead'] },
  {
    name: 'frames for a stream that is gone',
    first: Buffer.concat([headers(1, NEVER), reset(1)]),
    more: same(many(1_000, () => reset(1))),
    reasons: ['h2_overhead', 'h2_protocol', 'h2_reset_flood'],
  },
];
