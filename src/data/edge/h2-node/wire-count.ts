/**
 * Request bytes of one HTTP/2 connection as they came over the wire, beside what HPACK makes of them. A reference of one byte may stand for 4 KB,
 * so a head is counted by its wire bytes, and a connection whose heads expand further than any client needs is ended. nghttp2 reports no size per
 * head, only the connection has one. So a head counts as its text, or as what came that nothing else has been counted for, whichever is less:
 * never more than over HTTP/1.1, and all heads of a connection together never more than it sent.
 */

/**
 * Text that one head may add beyond its wire bytes: all of the dynamic table once (4,096 bytes, RFC 7540 §6.5.2), and static fields. A
 * client names no entry twice in one head; a bomb does.
 */
const HEAD_BYTES = 6_144;
/** Text per wire byte of a literal: Huffman's shortest code has 5 bits, and decoding adds line ends. */
const LITERAL_FACTOR = 2;
/** What a connection may be ahead: the wire bytes of heads that came in one read are counted for the first of them. */
const BURST_BYTES = 131_072;

export class WireCount {
  /** Bytes of all that came that are counted for a body or a head. */
  #used = 0;
  #left = BURST_BYTES;

  /** `bytes` of a body came. */
  body(bytes: number): void {
    this.#used += bytes;
  }

  /**
   * A head of `text` bytes came, or trailers; `read`: bytes that the connection has brought so far. Answers its wire bytes, or -1 once the
   * connection's heads have expanded too far.
   */
  head(text: number, read: number): number {
    const wire = Math.min(text, Math.max(0, read - this.#used));
    this.#used += wire;
    this.#left = Math.min(BURST_BYTES, this.#left + HEAD_BYTES + LITERAL_FACTOR * wire - text);
    return this.#left < 0 ? -1 : wire;
  }
}

/** Bytes of fields as HTTP/1.1 has them: `Name: value` and a line end each. `raw`: names and values in turn. */
export function textBytes(raw: readonly string[]): number {
  let bytes = 0;
  for (let i = 0; i < raw.length; i++) bytes += (raw[i] as string).length + 2;
  return bytes;
}
