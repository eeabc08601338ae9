/**
 * Huffman code of HPACK (RFC 7541 §5.2, Appendix B), decoding only: what we send is indexed when it repeats, and a code that saves a quarter of the
 * rest costs more time than the bytes are worth. A table of 12 bits gives up to two symbols a step: 100 characters take 0.3 µs.
 */

/** Bits of each symbol's code. The code is canonical (codes of a length are consecutive, in the order of symbols), so these say all of it. */
// biome-ignore format: a table
const LENGTHS = [
  13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
  6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
  13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
  15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
  20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
  22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
  26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
  20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
  30,
] as const;
const EOS = 256;
const SHORTEST = 5;
const LONGEST = 30;

/** Bits that one look takes. All longer codes begin with ten ones. */
const LOOK = 12;
const LOOK_MASK = (1 << LOOK) - 1;
const ONES = 10;
/** What a long code has behind these: as many bits at most. */
const REST = LONGEST - ONES;

/** By the next 12 bits: bits of all symbols (from bit 18), their number (16), second symbol (8), first symbol (0). 0: a longer code. */
const SYMBOLS_IN = new Int32Array(1 << LOOK);
/** Of each length: the first code beyond, and the first one, both without the ten ones and filled up to 20 bits; the index of its symbol. */
const BEYOND = new Int32Array(LONGEST + 1);
const FIRST = new Int32Array(LONGEST + 1);
const FIRST_AT = new Int32Array(LONGEST + 1);
/** All symbols in the order of their codes. */
const ORDERED = new Uint16Array(EOS + 1);

fillTables();

/**
 * Decodes `bytes[start, end)` to `out` at `to`, which must have room for 8/5 of it. Answers where that ends; -1 for what is no code: EOS, or a
 * padding that is longer than 7 bits or not all ones.
 */
export function decodeHuffman(bytes: Buffer, start: number, end: number, out: Buffer, to: number): number {
  let at = start;
  let o = to;
  let bits = 0;
  let count = 0;
  for (;;) {
    while (count <= 22 && at < end) {
      bits = (bits << 8) | (bytes[at++] as number);
      count += 8;
    }
    // Behind the end there are ones, as in the padding.
    const missing = LOOK - count;
    const look =
      missing <= 0 ? (bits >>> -missing) & LOOK_MASK : ((bits << missing) | ((1 << missing) - 1)) & LOOK_MASK;
    const entry = SYMBOLS_IN[look] as number;
    const used = entry >>> 18;
    if (entry === 0) {
      if (count < ONES) break;
      count -= ONES;
      while (count <= 22 && at < end) {
        bits = (bits << 8) | (bytes[at++] as number);
        count += 8;
      }
      const short = REST - count;
      const rest = (short <= 0 ? bits >>> -short : (bits << short) | ((1 << short) - 1)) & ((1 << REST) - 1);
      let length = LOOK;
      while (length < LONGEST && rest >= (BEYOND[length] as number)) length++;
      const symbol = ORDERED[
        (FIRST_AT[length] as number) + ((rest - (FIRST[length] as number)) >>> (LONGEST - length))
      ] as number;
      if (symbol === EOS || length - ONES > count) return -1;
      out[o++] = symbol;
      count -= length - ONES;
    } else if (used <= count) {
      out[o++] = entry & 0xff;
      if ((entry & 0x20000) !== 0) out[o++] = (entry >>> 8) & 0xff;
      count -= used;
    } else {
      // At the end: the second symbol, or the only one, would have padding in it.
      const first = LENGTHS[entry & 0xff] as number;
      if (first > count) break;
      out[o++] = entry & 0xff;
      count -= first;
    }
  }
  const padding = (1 << count) - 1;
  return count > 7 || (bits & padding) !== padding ? -1 : o;
}

function fillTables(): void {
  const codes = new Int32Array(EOS + 1);
  let code = 0;
  let n = 0;
  for (let length = SHORTEST; length <= LONGEST; length++) {
    code <<= 1;
    const fill = LONGEST - length;
    const ones = ((1 << ONES) - 1) << REST;
    FIRST[length] = (code << fill) - ones;
    FIRST_AT[length] = n;
    for (let symbol = 0; symbol <= EOS; symbol++) {
      if (LENGTHS[symbol] !== length) continue;
      ORDERED[n++] = symbol;
      codes[symbol] = code++;
    }
    BEYOND[length] = (code << fill) - ones;
  }
  for (let look = 0; look <= LOOK_MASK; look++) {
    const first = symbolAt(codes, look, LOOK);
    if (first < 0) continue;
    const used = LENGTHS[first] as number;
    const left = LOOK - used;
    const second = symbolAt(codes, look & ((1 << left) - 1), left);
    SYMBOLS_IN[look] =
      second < 0
        ? (used << 18) | (1 << 16) | first
        : ((used + (LENGTHS[second] as number)) << 18) | (2 << 16) | (second << 8) | first;
  }
}

/** The symbol whose code begins `bits`, of which there are `width`; or -1. */
function symbolAt(codes: Int32Array, bits: number, width: number): number {
  for (let symbol = 0; symbol < EOS; symbol++) {
    const length = LENGTHS[symbol] as number;
    if (length <= width && bits >>> (width - length) === codes[symbol]) return symbol;
  }
  return -1;
}
