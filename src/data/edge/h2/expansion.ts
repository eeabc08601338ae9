/**
 * How much longer the heads of one connection are than what came for them: with HPACK a byte may stand for 4 KB. A visitor is charged for what came
 * over the wire, and its service's agent is sent the rest, so a connection whose heads expand further than any client needs is ended.
 */

/**
 * Text that one head may add beyond its wire bytes: all of the dynamic table once (4,096 bytes, RFC 9113 §6.5.2), and static fields. A
 * client names no entry twice in one head; a bomb does.
 */
const HEAD_BYTES = 6_144;
/** Text per wire byte of a literal: Huffman's shortest code has 5 bits, and decoding adds line ends. */
const LITERAL_FACTOR = 2;
/** What a connection may be ahead. */
const BURST_BYTES = 131_072;

export class Expansion {
  #left = BURST_BYTES;

  /** A head of `text` bytes came in `wire` bytes, or trailers. False: they have expanded too far. */
  add(text: number, wire: number): boolean {
    this.#left = Math.min(BURST_BYTES, this.#left + HEAD_BYTES + LITERAL_FACTOR * wire - text);
    return this.#left >= 0;
  }
}
