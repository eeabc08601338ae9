/**
 * The yamux frame header (hashicorp's specification, version 0), all numbers big-endian:
 *
 *   0         1      2        4                8               12
 *   +---------+------+--------+----------------+----------------+
 *   | version | type | flags  | stream id      | length         |
 *   | 0       | 0..3 | uint16 | uint32         | uint32         |
 *   +---------+------+--------+----------------+----------------+
 *
 *   type 0 data           length = bytes of payload that follow
 *   type 1 window update  length = bytes added to what the receiver of this frame may send on the stream
 *   type 2 ping           length = opaque value, sent back with ACK; stream id 0
 *   type 3 go-away        length = reason (0 normal, 1 protocol error, 2 internal error); stream id 0
 *
 * SYN opens a stream, ACK accepts it, FIN ends one direction, RST both. Clients use odd stream ids, servers even ones.
 * Beside RST the high byte of the flags has the code of the reset, which yamux leaves 0: docs/decisions/0029-http2-to-services.md.
 *
 * CLEAR and STEP are ours: docs/decisions/0003-idle-streams.md. CLEAR is only sent to a peer that has asked for it.
 */
export const HEADER_BYTES = 12;

export const TYPE = { data: 0, window: 1, ping: 2, goAway: 3 } as const;
export const FLAG = { syn: 1, ack: 2, fin: 4, rst: 8, clear: 16, step: 32 } as const;
/** Where the flags of a reset have its code. */
export const RESET_CODE_BIT = 8;
export const MAX_RESET_CODE = 255;
export const GO_AWAY = { normal: 0, protocol: 1, internal: 2 } as const;

/** Both sides may send this much on a new stream before any window update. Fixed by the protocol. */
export const INITIAL_WINDOW = 262_144;

/** Writes a header into `bytes` at `at`. Plain arguments: one call per frame must not allocate. */
export function writeHeader(
  bytes: Uint8Array,
  at: number,
  type: number,
  flags: number,
  id: number,
  length: number,
): void {
  bytes[at] = 0;
  bytes[at + 1] = type;
  bytes[at + 2] = flags >>> 8;
  bytes[at + 3] = flags;
  bytes[at + 4] = id >>> 24;
  bytes[at + 5] = id >>> 16;
  bytes[at + 6] = id >>> 8;
  bytes[at + 7] = id;
  bytes[at + 8] = length >>> 24;
  bytes[at + 9] = length >>> 16;
  bytes[at + 10] = length >>> 8;
  bytes[at + 11] = length;
}

/** The number that four bytes make, without the checks of Buffer's own reader: once per frame, twice. */
export function readUint32(bytes: Uint8Array, at: number): number {
  return (
    (((bytes[at] as number) << 24) |
      ((bytes[at + 1] as number) << 16) |
      ((bytes[at + 2] as number) << 8) |
      (bytes[at + 3] as number)) >>>
    0
  );
}
