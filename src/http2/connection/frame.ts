/**
 * The HTTP/2 frame header (RFC 9113 §4.1), all numbers big-endian:
 *
 *   0        3      4       5           9
 *   +--------+------+-------+-----------+
 *   | length | type | flags | stream id |
 *   +--------+------+-------+-----------+
 */
export const HEADER_BYTES = 9;
/** Longest payload that either side sends here: SETTINGS_MAX_FRAME_SIZE as it begins, which is also its least. */
export const MAX_PAYLOAD = 16_384;
export const MAX_NUMBER = 0x7fff_ffff;

export const TYPE = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goAway: 7,
  window: 8,
  continuation: 9,
  priorityUpdate: 16,
} as const;

export const FLAG = { endStream: 1, ack: 1, endHeaders: 4, padded: 8, priority: 32 } as const;

/** What a client sends first (RFC 9113 §3.4). */
export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');

/** Copying a few bytes in JavaScript is cheaper than a call into the runtime. */
const SHORT_BYTES = 16;

/** Writes a header into `bytes` at `at`. Plain arguments: one call per frame must not allocate. */
export function writeHeader(
  bytes: Uint8Array,
  at: number,
  type: number,
  flags: number,
  id: number,
  length: number,
): void {
  bytes[at] = length >>> 16;
  bytes[at + 1] = length >>> 8;
  bytes[at + 2] = length;
  bytes[at + 3] = type;
  bytes[at + 4] = flags;
  writeUint32(bytes, at + 5, id);
}

export function writeUint32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 24;
  bytes[at + 1] = value >>> 16;
  bytes[at + 2] = value >>> 8;
  bytes[at + 3] = value;
}

/** The number that four bytes make, without the checks of Buffer's own reader. */
export function readUint32(bytes: Uint8Array, at: number): number {
  return readNumber(bytes, at) + ((bytes[at] as number) >>> 7) * 0x8000_0000;
}

/** The same without the first bit, which is reserved in stream ids and window sizes. */
export function readNumber(bytes: Uint8Array, at: number): number {
  return (
    (((bytes[at] as number) & 0x7f) << 24) |
    ((bytes[at + 1] as number) << 16) |
    ((bytes[at + 2] as number) << 8) |
    (bytes[at + 3] as number)
  );
}

export function readLength(bytes: Uint8Array, at: number): number {
  return ((bytes[at] as number) << 16) | ((bytes[at + 1] as number) << 8) | (bytes[at + 2] as number);
}

/** Copies `bytes[start, end)` to `out` at `at`. */
export function copyInto(out: Uint8Array, at: number, bytes: Uint8Array, start: number, end: number): void {
  if (end - start <= SHORT_BYTES) {
    for (let i = start, o = at; i < end; i++, o++) out[o] = bytes[i] as number;
  } else {
    (bytes as Buffer).copy(out, at, start, end);
  }
}
