/**
 * HPACK (RFC 7541) in its plainest form, to write blocks of any shape and to read those of a server. It shares nothing with the code under test:
 * strings instead of bytes, one bit at a time.
 */

export type Field = readonly [name: string, value: string];

const STATIC: readonly Field[] = (
  ':authority|:method GET|:method POST|:path /|:path /index.html|:scheme http|:scheme https|:status 200|:status 204|' +
  ':status 206|:status 304|:status 400|:status 404|:status 500|accept-charset|accept-encoding gzip, deflate|' +
  'accept-language|accept-ranges|accept|access-control-allow-origin|age|allow|authorization|cache-control|' +
  'content-disposition|content-encoding|content-language|content-length|content-location|content-range|content-type|' +
  'cookie|date|etag|expect|expires|from|host|if-match|if-modified-since|if-none-match|if-range|if-unmodified-since|' +
  'last-modified|link|location|max-forwards|proxy-authenticate|proxy-authorization|range|referer|refresh|retry-after|' +
  'server|set-cookie|strict-transport-security|transfer-encoding|user-agent|vary|via|www-authenticate'
)
  .split('|')
  .map((entry) => {
    const [name = '', ...value] = entry.split(' ');
    return [name, value.join(' ')];
  });

/** Each entry costs so much more than its text (§4.1). */
const ENTRY_BYTES = 32;
const DEFAULT_TABLE = 4_096;
const END_OF_STRING = 256;

/** Bits per symbol (Appendix B), in base 36. The code is canonical: symbols of one length have consecutive codes. */
const LENGTHS: readonly number[] = Array.from(
  'dnsssssssoussussssssssusssssssss6aacd68baa8b8666555666666678f6ca' +
    'd67777777777777777777777878djde6f56565666577666567655677777fbeds' +
    'kmkkmmmnmnnnnnonoomnonnnnlmnmnnomlkmmnnlnmmolmnnllmlnmnnkmmmnmmn' +
    'qqkjmnmpqqqrrqopjlqrrqrollqqsrrrkoklmllnmmppooqnqrqqrrrrrsrrrrrq' +
    'u',
  (digit) => Number.parseInt(digit, 36),
);

/** The bits of each symbol, and the symbol of each row of bits. */
const CODES: string[] = [];
const SYMBOLS = new Map<string, number>();
for (let length = 5, code = 0; length <= 30; length++, code *= 2) {
  for (let symbol = 0; symbol <= END_OF_STRING; symbol++) {
    if (LENGTHS[symbol] !== length) continue;
    const bits = (code++).toString(2).padStart(length, '0');
    CODES[symbol] = bits;
    SYMBOLS.set(bits, symbol);
  }
}

/** A decoding error. */
export class HpackError extends Error {}

// ------------------------------------------------------------------ writing

/** An integer behind `first`, whose lowest `bits` bits are free for it (§5.1). */
export function integer(first: number, bits: number, value: number): Buffer {
  const most = 2 ** bits - 1;
  if (value < most) return Buffer.of(first | value);
  const bytes = [first | most];
  let rest = value - most;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  return Buffer.from([...bytes, rest]);
}

/** The code of a latin1 string; `padding` completes its last byte. */
export function huffmanCode(text: string, padding = '1'): Buffer {
  return fromBits(Array.from(Buffer.from(text, 'latin1'), (byte) => CODES[byte]).join(''), padding);
}

export function fromBits(bits: string, padding = '1'): Buffer {
  const whole = bits.padEnd(Math.ceil(bits.length / 8) * 8, padding);
  return Buffer.from(Array.from(whole.match(/.{8}/g) ?? [], (byte) => Number.parseInt(byte, 2)));
}

/** A string literal, plain or in Huffman's code (§5.2). */
export function string(text: string, isHuffman = false): Buffer {
  const bytes = isHuffman ? huffmanCode(text) : Buffer.from(text, 'latin1');
  return Buffer.concat([integer(isHuffman ? 128 : 0, 7, bytes.length), bytes]);
}

/** A string literal in Huffman's code, whatever `code` holds. */
export function codedString(code: Buffer): Buffer {
  return Buffer.concat([integer(128, 7, code.length), code]);
}

export function indexed(index: number): Buffer {
  return integer(0x80, 7, index);
}

export function tableSize(bytes: number): Buffer {
  return integer(0x20, 5, bytes);
}

/** How a literal treats the table: added, not added, never to be added (§6.2). */
export type Indexing = 'add' | 'none' | 'never';
const LITERAL: Readonly<Record<Indexing, readonly [first: number, bits: number]>> = {
  add: [0x40, 6],
  none: [0, 4],
  never: [0x10, 4],
};

/** A literal field; `name` is an index or a text. */
export function literal(indexing: Indexing, name: number | string, value: string, isHuffman = false): Buffer {
  const [first, bits] = LITERAL[indexing];
  const head = typeof name === 'number' ? [integer(first, bits, name)] : [Buffer.of(first), string(name, isHuffman)];
  return Buffer.concat([...head, string(value, isHuffman)]);
}

/** Where the static table has this name first; 0: it has not. */
export function staticName(name: string): number {
  return STATIC.findIndex(([known]) => known === name) + 1;
}

// ------------------------------------------------------------------ reading

/** The decoder of one connection. */
export class Decoder {
  readonly #table: Field[] = [];
  #bytes = 0;
  #most = DEFAULT_TABLE;
  #block: Buffer = Buffer.alloc(0);
  #at = 0;

  decode(block: Buffer): Field[] {
    this.#block = block;
    this.#at = 0;
    const fields: Field[] = [];
    while (this.#at < block.length) {
      const first = block[this.#at] as number;
      if (first >= 0x80) fields.push(this.#entry(this.#integer(7)));
      else if (first >= 0x40) fields.push(this.#add(this.#literal(6)));
      else if (first < 0x20) fields.push(this.#literal(4));
      else if (fields.length > 0) throw new HpackError('a table size behind a field');
      else this.#resize(this.#integer(5));
    }
    return fields;
  }

  #literal(bits: number): Field {
    const index = this.#integer(bits);
    const name = index === 0 ? this.#string() : this.#entry(index)[0];
    return [name, this.#string()];
  }

  #entry(index: number): Field {
    const field = index <= STATIC.length ? STATIC[index - 1] : this.#table[index - STATIC.length - 1];
    if (field === undefined) throw new HpackError(`index ${index}`);
    return field;
  }

  #add(field: Field): Field {
    this.#table.unshift(field);
    this.#bytes += costOf(field);
    this.#evict();
    return field;
  }

  #resize(most: number): void {
    if (most > DEFAULT_TABLE) throw new HpackError(`a table of ${most}`);
    this.#most = most;
    this.#evict();
  }

  #evict(): void {
    while (this.#bytes > this.#most) this.#bytes -= costOf(this.#table.pop() as Field);
  }

  #byte(): number {
    const byte = this.#block[this.#at++];
    if (byte === undefined) throw new HpackError('the block ends early');
    return byte;
  }

  #integer(bits: number): number {
    const most = 2 ** bits - 1;
    const value = this.#byte() & most;
    return value < most ? value : most + this.#more();
  }

  #more(): number {
    for (let value = 0, scale = 1; ; scale *= 128) {
      const byte = this.#byte();
      value += (byte & 127) * scale;
      if (value > 2 ** 31) throw new HpackError('an integer too large');
      if (byte < 128) return value;
    }
  }

  #string(): string {
    const isHuffman = (this.#block[this.#at] ?? 0) >= 128;
    const length = this.#integer(7);
    const bytes = this.#block.subarray(this.#at, this.#at + length);
    if (bytes.length < length) throw new HpackError('the block ends early');
    this.#at += length;
    return isHuffman ? unhuffman(bytes) : bytes.toString('latin1');
  }
}

function costOf([name, value]: Field): number {
  return name.length + value.length + ENTRY_BYTES;
}

function unhuffman(bytes: Buffer): string {
  let text = '';
  let bits = '';
  for (const byte of bytes) {
    for (let i = 7; i >= 0; i--) {
      bits += (byte >> i) & 1;
      const symbol = SYMBOLS.get(bits);
      if (symbol === undefined) continue;
      if (symbol === END_OF_STRING) throw new HpackError('the end-of-string symbol');
      text += String.fromCharCode(symbol);
      bits = '';
    }
  }
  if (bits.length > 7 || bits.includes('0')) throw new HpackError('padding');
  return text;
}
