/**
 * What can be seen of WireGuard's messages without a key (WireGuard: Next Generation Kernel Network Tunnel, 5.4), for both ends of a relay. They begin
 * with a type and three zeros; numbers are little-endian. What has another form is a datagram like any other.
 *
 *   type   bytes          4              8              then
 *   1      148            sender         ephemeral …    … mac1 at 116, mac2      handshake initiation
 *   2      92             sender         receiver       … mac1 at 60, mac2       handshake response
 *   4      32 + 16 n      receiver       counter        encrypted packet         data
 *
 * WireGuard pads data packets to 16 bytes when it sends them, and takes others too: here data is any of 32 bytes or more. Sender and receiver are
 * numbers that each side gives to a session of its own.
 */

const INITIATION = 1;
const INITIATION_BYTES = 148;
const RESPONSE = 2;
const RESPONSE_BYTES = 92;
const DATA = 4;
const MIN_DATA_BYTES = 32;
const PADDING_BYTES = 16;
/** mac1 and mac2 are last, 16 bytes each. */
export const MAC1_FROM_END = 32;

/** What `bytes[start, end)` is, by its form alone. */
export const FORM = { other: 0, initiation: 1, response: 2, data: 3 } as const;
export type Form = (typeof FORM)[keyof typeof FORM];

export function formOf(bytes: Buffer, start: number, end: number): Form {
  const size = end - start;
  if (size < MIN_DATA_BYTES || bytes[start + 1] !== 0 || bytes[start + 2] !== 0 || bytes[start + 3] !== 0)
    return FORM.other;
  const type = bytes[start];
  if (type === DATA) return FORM.data;
  if (type === INITIATION && size === INITIATION_BYTES) return FORM.initiation;
  return type === RESPONSE && size === RESPONSE_BYTES ? FORM.response : FORM.other;
}

/** A data packet as WireGuard sends it; of another protocol it is one by chance in 16 cases. */
export function isPadded(start: number, end: number): boolean {
  return (end - start) % PADDING_BYTES === 0;
}

/** The sender of a handshake message, the receiver of a data packet. */
export function firstSession(bytes: Buffer, start: number): number {
  return readUint32(bytes, start + 4);
}

/** The receiver of a handshake response. */
export function secondSession(bytes: Buffer, start: number): number {
  return readUint32(bytes, start + 8);
}

function readUint32(bytes: Buffer, at: number): number {
  return (
    ((bytes[at] as number) |
      ((bytes[at + 1] as number) << 8) |
      ((bytes[at + 2] as number) << 16) |
      ((bytes[at + 3] as number) << 24)) >>>
    0
  );
}
