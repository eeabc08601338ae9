/** Tells a service that speaks HTTP/2 alone by its first bytes. */

const SETTINGS = 4;
const HEADER_BYTES = 9;
/** Fewer show no type. */
const MIN_BYTES = 4;

/**
 * Whether `bytes[start, end)`, a service's first, begin with a SETTINGS frame (RFC 9113 §3.4), which servers send before they have read anything.
 * Neither HTTP/1.1 nor TLS begins with a zero.
 */
export function beginsHttp2(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start < MIN_BYTES || bytes[start] !== 0 || bytes[start + 3] !== SETTINGS) return false;
  // No flags, and the stream of the connection.
  for (let i = start + MIN_BYTES; i < Math.min(end, start + HEADER_BYTES); i++) if (bytes[i] !== 0) return false;
  return true;
}
