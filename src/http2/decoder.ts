/**
 * Decoder of HPACK (RFC 7541 §3, §6): a block of fields goes as lines into the head scratch (request-head.ts), without a string or an object.
 * Errors here are of the connection (COMPRESSION_ERROR); what is wrong with a head is the scratch's to say, and the table is kept in step all the
 * same. A small head takes 0.3 µs, a browser's 0.9, a block of 64 KB that names one entry again and again 1 ms.
 */
import { KIND, type Kind, lineKind, nameKind } from './field-kind.ts';
import { decodeHuffman } from './huffman.ts';
import { copy } from './primitives.ts';
import type { HeadScratch } from './request-head.ts';
import { RepeatedRequest } from './repeated-request.ts';
import { isWorthKeeping, MIN_FIELDS, Row } from './row.ts';
import { LAST_STATIC, STATIC_KINDS, STATIC_LINES, STATIC_NAME_END, STATIC_START } from './static-table.ts';
import { END, NAME_END, START, TAG, Table, TABLE_BYTES } from './table.ts';

/** Forms of a field by its first byte (RFC 7541 §6), and the bits that are left of that for an integer. */
const INDEXED = 0x80;
const INDEXING = 0x40;
const SIZE_UPDATE = 0x20;
const HUFFMAN = 0x80;
const INDEXED_BITS = 7;
const INDEXING_BITS = 6;
const SIZE_BITS = 5;
const LITERAL_BITS = 4;
const LENGTH_BITS = 7;
/** An integer has four bytes behind its first one at most: 2^28 is beyond all that is true. */
const MAX_SHIFT = 21;

export class Decoder {
  readonly #table = new Table();
  #row: Row | null = null;
  #repeated: RepeatedRequest | null = null;
  #at = 0;

  /** Decodes the block of a request's head and finishes it. `isWhole`: no body follows. False as below. */
  request(bytes: Buffer, start: number, end: number, isWhole: boolean, into: HeadScratch): boolean {
    const repeated = (this.#repeated ??= new RepeatedRequest());
    const { version } = this.#table;
    if (repeated.isAgain(bytes, start, end, isWhole, version, into)) return true;
    if (!this.decode(bytes, start, end, into)) return false;
    into.finish(isWhole, end - start);
    if (this.#table.version === version) repeated.keep(bytes, start, end, isWhole, version, into);
    return true;
  }

  /** Decodes the block `bytes[start, end)`. False: the connection is broken (COMPRESSION_ERROR). */
  decode(bytes: Buffer, start: number, end: number, into: HeadScratch): boolean {
    this.#at = start;
    into.begin(end - start);
    while (this.#at < end && ((bytes[this.#at] as number) & 0xe0) === SIZE_UPDATE) {
      const max = this.#integer(bytes, end, SIZE_BITS);
      if (max < 0 || max > TABLE_BYTES) return false;
      this.#table.resize(max);
    }
    while (this.#at < end) {
      const first = bytes[this.#at] as number;
      if (first >= INDEXED) {
        if (!this.#indexedRow(bytes, end, into)) return false;
      } else if (first >= INDEXING) {
        if (!this.#literal(bytes, end, INDEXING_BITS, into)) return false;
        // Size updates stand at the beginning of a block (RFC 7541 §4.2).
      } else if (first >= SIZE_UPDATE || !this.#literal(bytes, end, LITERAL_BITS, into)) return false;
    }
    return true;
  }

  /** Indexed fields, as long as they come. */
  #indexedRow(bytes: Buffer, end: number, into: HeadScratch): boolean {
    let rowAt = this.#at;
    let rowLines = into.end;
    let fields = 0;
    while (this.#at < end) {
      const at = this.#at;
      const first = bytes[at] as number;
      if (first < INDEXED) break;
      if (fields === 0 && this.#row !== null && this.#repeats(bytes, end, into)) {
        rowAt = this.#at;
        rowLines = into.end;
        continue;
      }
      const lines = into.end;
      let index = first & 0x7f;
      if (index < 0x7f) this.#at++;
      else index = this.#integer(bytes, end, INDEXED_BITS);
      const kind = this.#indexed(index, into);
      if (kind < 0) return false;
      fields++;
      if (kind === KIND.plain) continue;
      if (fields > MIN_FIELDS) this.#keepRow(bytes, rowAt, at, into, rowLines, lines, fields - 1);
      fields = 0;
      rowAt = this.#at;
      rowLines = into.end;
    }
    if (fields >= MIN_FIELDS) this.#keepRow(bytes, rowAt, this.#at, into, rowLines, into.end, fields);
    return true;
  }

  #repeats(bytes: Buffer, end: number, into: HeadScratch): boolean {
    const row = this.#row;
    if (row === null || !row.isAt(bytes, this.#at, end, this.#table)) return false;
    if (!into.takeRow(row.lines, row.linesLength, row.fields)) return false;
    this.#at += row.length;
    return true;
  }

  /** Keeps the row `bytes[start, end)`, whose lines are at `[from, to)` in the head. */
  #keepRow(
    bytes: Buffer,
    start: number,
    end: number,
    into: HeadScratch,
    from: number,
    to: number,
    fields: number,
  ): void {
    if (into.isTooLarge || !isWorthKeeping(end - start, to - from)) return;
    const row = (this.#row ??= new Row());
    row.keep(bytes, start, end, into.bytes, from, to, this.#table);
    row.fields = fields;
  }

  /** Takes the field of an index. Answers its kind; -1: there is no such entry. */
  #indexed(index: number, into: HeadScratch): number {
    if (index <= LAST_STATIC) {
      if (index <= 0) return -1;
      const kind = (STATIC_KINDS[index] as number) & 0xff;
      const start = STATIC_START[index] as number;
      into.take(kind as Kind, STATIC_LINES, start, STATIC_NAME_END[index] as number, STATIC_START[index + 1] as number);
      return kind;
    }
    const table = this.#table;
    const number = index - LAST_STATIC - 1;
    if (number >= table.length) return -1;
    const { entries } = table;
    const place = table.placeOf(number);
    const kind = (entries[place + TAG] as number) & 0xff;
    const start = entries[place + START] as number;
    into.take(kind as Kind, table.bytes, start, entries[place + NAME_END] as number, entries[place + END] as number);
    return kind;
  }

  /** A literal: written where the head goes on, and to the table if it is to be indexed. */
  #literal(bytes: Buffer, end: number, bits: number, into: HeadScratch): boolean {
    const out = into.bytes;
    const at = into.end;
    const index = this.#integer(bytes, end, bits);
    if (index < 0) return false;
    let kind: Kind;
    let to = at;
    if (index === 0) {
      to = this.#string(bytes, end, out, at);
      if (to < 0) return false;
      kind = nameKind(out, at, to);
    } else if (index <= LAST_STATIC) {
      to = copy(STATIC_LINES, STATIC_START[index] as number, STATIC_NAME_END[index] as number, out, at);
      kind = ((STATIC_KINDS[index] as number) >>> 8) as Kind;
    } else {
      const number = index - LAST_STATIC - 1;
      if (number >= this.#table.length) return false;
      const { bytes: lines, entries } = this.#table;
      const place = this.#table.placeOf(number);
      to = copy(lines, entries[place + START] as number, entries[place + NAME_END] as number, out, at);
      kind = ((entries[place + TAG] as number) >>> 8) as Kind;
    }
    const nameEnd = to;
    out[to++] = 58;
    out[to++] = 32;
    const value = to;
    to = this.#string(bytes, end, out, to);
    if (to < 0) return false;
    const line = lineKind(kind, out, value, to);
    out[to++] = 13;
    out[to++] = 10;
    if (bits === INDEXING_BITS) this.#table.add(out, at, nameEnd, to, line | (kind << 8));
    into.take(line, out, at, nameEnd, to);
    return true;
  }

  /** Decodes a string to `out` at `to`. Answers where it ends there, or -1. */
  #string(bytes: Buffer, end: number, out: Buffer, to: number): number {
    if (this.#at >= end) return -1;
    const isHuffman = (bytes[this.#at] as number) >= HUFFMAN;
    const length = this.#integer(bytes, end, LENGTH_BITS);
    const start = this.#at;
    if (length < 0 || length > end - start) return -1;
    this.#at = start + length;
    return isHuffman ? decodeHuffman(bytes, start, this.#at, out, to) : copy(bytes, start, this.#at, out, to);
  }

  /** The integer in the last `bits` of the next byte and what follows it (RFC 7541 §5.1), or -1. */
  #integer(bytes: Buffer, end: number, bits: number): number {
    const mask = (1 << bits) - 1;
    let value = (bytes[this.#at++] as number) & mask;
    if (value < mask) return value;
    for (let shift = 0; shift <= MAX_SHIFT; shift += 7) {
      if (this.#at >= end) return -1;
      const byte = bytes[this.#at++] as number;
      value += (byte & 127) << shift;
      if (byte < 128) return value;
    }
    return -1;
  }
}
