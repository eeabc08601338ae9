/**
 * The few bytes that open each data stream. The server opens the stream and writes a preamble; the agent dials the local
 * service and answers with one reply; from then on both sides carry the raw bytes of the connection.
 *
 *   preamble   0        1          2         4        5                        5+n      7+n
 *              +--------+----------+---------+--------+------------------------+--------+
 *              | magic  | version  | slot    | family | address, n = 0, 4, 16  | port   |   all numbers big-endian
 *              | 0xC7   | 1        | uint16  | 0,4,6  |                        | uint16 |   port is absent if family is 0
 *              +--------+----------+---------+--------+------------------------+--------+
 *   reply      | status | length   | text, UTF-8 (`length` bytes; 0 when status is 0)     |
 *
 * `slot` is the number that the server gave the tunnel in `bound`. The address is the visitor's; HTTP tunnels leave it out,
 * because one stream serves many visitors there. Family 1 stands for a route of an HTTP tunnel instead: one byte follows, its place in the
 * claim's `routes`. Only an agent that claims routes gets it. The reply never delays anything: the server writes the request behind the
 * preamble at once, and the agent's reply travels ahead of the first response bytes.
 */

export const PREAMBLE_MAGIC = 0xc7;
export const PREAMBLE_VERSION = 1;
/** In place of an address family: the next byte is the number of a route. */
const ROUTE = 1;
/** Longest preamble: 5 + 16 + 2. */
export const PREAMBLE_MAX = 23;

/** First byte of the agent's reply. */
export const REPLY = {
  connected: 0,
  refused: 1,
  timeout: 2,
  unknownSlot: 3,
  failed: 4,
  draining: 5,
  /** The service was spoken to in plain, and speaks TLS. An older server takes it for a bad response. */
  speaksTls: 6,
  /** It was spoken to in HTTP/1.1, and speaks HTTP/2 alone. As above. */
  speaksHttp2: 7,
} as const;
export type ReplyCode = (typeof REPLY)[keyof typeof REPLY];

export interface VisitorAddress {
  readonly family: 4 | 6;
  readonly bytes: Uint8Array;
  readonly port: number;
}

export interface Preamble {
  readonly slot: number;
  readonly visitor: VisitorAddress | undefined;
  /** Place in the claim's `routes`; undefined: the tunnel has none. */
  readonly route?: number;
  /** How many bytes the preamble took. */
  readonly size: number;
}

/** The preamble of a stream to `slot`. Made once per tunnel where there is no visitor address. */
export function encodePreamble(slot: number, visitor?: VisitorAddress): Buffer {
  const addressBytes = visitor === undefined ? 0 : visitor.bytes.length;
  const out = Buffer.allocUnsafe(5 + addressBytes + (visitor === undefined ? 0 : 2));
  out[0] = PREAMBLE_MAGIC;
  out[1] = PREAMBLE_VERSION;
  out.writeUInt16BE(slot, 2);
  out[4] = visitor === undefined ? 0 : visitor.family;
  if (visitor !== undefined) {
    out.set(visitor.bytes, 5);
    out.writeUInt16BE(visitor.port, 5 + addressBytes);
  }
  return out;
}

/** The preamble of a stream to a route of the tunnel in `slot`. */
export function encodeRoutePreamble(slot: number, route: number): Buffer {
  return Buffer.from([PREAMBLE_MAGIC, PREAMBLE_VERSION, slot >> 8, slot & 0xff, ROUTE, route]);
}

/** Reads a preamble from the first `end` bytes of `bytes`: the preamble, `'more'` when it is cut short, `'bad'` when it is none. */
export function decodePreamble(bytes: Uint8Array, start: number, end: number): Preamble | 'more' | 'bad' {
  const have = end - start;
  if (have >= 1 && bytes[start] !== PREAMBLE_MAGIC) return 'bad';
  if (have >= 2 && bytes[start + 1] !== PREAMBLE_VERSION) return 'bad';
  if (have < 5) return 'more';
  const slot = ((bytes[start + 2] as number) << 8) | (bytes[start + 3] as number);
  const family = bytes[start + 4];
  if (family === 0) return { slot, visitor: undefined, size: 5 };
  if (family === ROUTE)
    return have < 6 ? 'more' : { slot, visitor: undefined, route: bytes[start + 5] as number, size: 6 };
  if (family !== 4 && family !== 6) return 'bad';
  const length = family === 4 ? 4 : 16;
  const size = 5 + length + 2;
  if (have < size) return 'more';
  // A copy: `bytes` is a read buffer, which is used again while the service is dialled. (`slice` of a Buffer copies nothing.)
  const address = Uint8Array.from(bytes.subarray(start + 5, start + 5 + length));
  const portAt = start + 5 + length;
  return {
    slot,
    visitor: { family, bytes: address, port: ((bytes[portAt] as number) << 8) | (bytes[portAt + 1] as number) },
    size,
  };
}

/** The one-byte reply of a stream that reached the service. */
export const CONNECTED_REPLY = Buffer.from([REPLY.connected, 0]);

/** A refusal: `text` says why in words for the visitor's error page; cut to 255 bytes. */
export function encodeReply(status: ReplyCode, text: string): Buffer {
  const words = Buffer.from(text, 'utf8').subarray(0, 255);
  return Buffer.concat([Buffer.from([status, words.length]), words]);
}
