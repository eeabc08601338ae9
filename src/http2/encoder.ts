/**
 * Encoder of HPACK (RFC 7541 §6) for responses: from the bytes of the service's head straight into the out-buffer. What comes again is indexed: its
 * second time costs a byte or two, and 20 ns to find. No Huffman code (huffman.ts says why).
 */
import type { Head } from '../http1/head.ts';
import { copy, isSame, writeInteger } from './primitives.ts';
import { RepeatedResponse } from './repeated-response.ts';
import { LOWER, type ResponseName, responseName, SAY } from './response-name.ts';
import { ResponseLines } from './response-head.ts';
import { LAST_STATIC, STATIC_FIELDS } from './static-table.ts';
import { END, NAME_END, START, Table, TABLE_BYTES } from './table.ts';

const COLON = 58;
const SPACE = 32;
const TAB = 9;
const CR = 13;
const LF = 10;
const ZERO = 48;

/** A field's line and its literal: the same length or less, with a byte more for each 127 of a string. Beside them, a status and two size updates. */
const BOUND_SHIFT = 6;
const BOUND_BYTES = 24;
/** What an entry costs beside its name and value (RFC 7541 §4.1). */
const ENTRY_BYTES = 32;
/** Of `name: value CRLF`, what is neither. */
const LINE_BYTES = 4;

/** Statuses of the static table, by their numbers. */
const STATUSES = new Map(
  STATIC_FIELDS.flatMap(({ name, value }, i) => (name === ':status' ? [[Number(value), i + 1]] : [])),
);
const STATUS_LINE = Buffer.from(':status: 000');
const STATUS_NAME_END = 7;
const STATUS_DIGITS = 9;

/** One head at a time in a process. */
const lines = new ResponseLines();
/** Where a line is written for the table, which takes none that is longer. */
const scratch = Buffer.allocUnsafeSlow(TABLE_BYTES);

export class Encoder {
  /** Bytes that the lines of the last block have in HTTP/1.1. */
  counted = 0;
  readonly #table = new Table();
  #repeated: RepeatedResponse | null = null;
  /** The smallest limit since the last block; Infinity: there was none. */
  #lowest = Number.POSITIVE_INFINITY;

  /** SETTINGS_HEADER_TABLE_SIZE of the peer. The next block says so; twice, when it went down and up (RFC 7541 §4.2). */
  limit(max: number): void {
    const next = Math.min(TABLE_BYTES, max);
    if (next === this.#table.max) return;
    this.#lowest = Math.min(this.#lowest, next);
    this.#table.resize(next);
  }

  /**
   * The block of a response, of `head` parsed from `bytes`, with `added` lines, into `out[at, stop)`. Answers where it ends; -1: it may not fit, and
   * nothing has changed.
   */
  response(bytes: Buffer, head: Head, added: Buffer, out: Buffer, at: number, stop: number): number {
    const length = (head.lines[head.lineCount] as number) - (head.lines[0] as number) + added.length;
    if (boundOf(length) > stop - at) return -1;
    // Its length would be that of a body which is not sent.
    const isEmpty = head.status === 205;
    const to = this.#head(bytes, head, out, this.#begin(out, at), isEmpty);
    return added.length === 0 ? to : this.#lines(added, out, to, isEmpty);
  }

  #head(bytes: Buffer, head: Head, out: Buffer, at: number, isEmpty: boolean): number {
    const repeated = (this.#repeated ??= new RepeatedResponse());
    const { version } = this.#table;
    if (repeated.isAgain(bytes, head, version)) {
      this.counted = repeated.counted;
      return repeated.write(out, at);
    }
    let to = this.#status(head.status, out, at);
    lines.begin(bytes, head);
    while (lines.next()) to = this.#line(lines.from, lines.start, lines.end, out, to, isEmpty);
    if (!repeated.isNew && this.#table.version === version)
      repeated.keep(bytes, head, version, out.subarray(at, to), this.counted);
    return to;
  }

  /** The block of an answer of the edge itself; `fields` as `Name: value`, a character per byte. */
  answer(status: number, fields: readonly string[], out: Buffer, at: number, stop: number): number {
    let length = 0;
    for (const field of fields) length += field.length + 2;
    if (boundOf(length) > stop - at) return -1;
    let to = this.#begin(out, at);
    to = this.#status(status, out, to);
    for (const field of fields) {
      const text = Buffer.from(field, 'latin1');
      to = this.#line(text, 0, text.length, out, to, false);
    }
    return to;
  }

  /** The block of trailers, each line with its CR LF; an empty one is passed by. */
  trailers(trailers: Buffer, out: Buffer, at: number, stop: number): number {
    if (boundOf(trailers.length) > stop - at) return -1;
    return this.#lines(trailers, out, this.#begin(out, at), false);
  }

  #begin(out: Buffer, at: number): number {
    this.counted = 0;
    if (this.#lowest === Number.POSITIVE_INFINITY) return at;
    const { max } = this.#table;
    const to = this.#lowest < max ? writeInteger(out, at, 0x20, 5, this.#lowest) : at;
    this.#lowest = Number.POSITIVE_INFINITY;
    return writeInteger(out, to, 0x20, 5, max);
  }

  #status(status: number, out: Buffer, to: number): number {
    const known = STATUSES.get(status);
    if (known !== undefined) return writeInteger(out, to, 0x80, 7, known);
    STATUS_LINE[STATUS_DIGITS] = ZERO + Math.trunc(status / 100);
    STATUS_LINE[STATUS_DIGITS + 1] = ZERO + (Math.trunc(status / 10) % 10);
    STATUS_LINE[STATUS_DIGITS + 2] = ZERO + (status % 10);
    const end = this.#field(STATUS_LINE, 0, STATUS_NAME_END, STATUS_DIGITS, STATUS_LINE.length, out, to, false);
    this.counted = 0;
    return end;
  }

  #lines(from: Buffer, out: Buffer, at: number, isEmpty: boolean): number {
    let to = at;
    for (let start = 0; start < from.length; ) {
      let end = from.indexOf(CR, start);
      if (end < 0) end = from.length;
      if (end > start) to = this.#line(from, start, end, out, to, isEmpty);
      start = end + 2;
    }
    return to;
  }

  /** The line `from[start, end)`, without blanks around its value: to others they would be part of it (RFC 9113 §8.2.1). */
  #line(from: Buffer, start: number, end: number, out: Buffer, to: number, isEmpty: boolean): number {
    let nameEnd = start;
    while (from[nameEnd] !== COLON) nameEnd++;
    let value = nameEnd + 1;
    let valueEnd = end;
    while (value < valueEnd && isBlank(from[value])) value++;
    while (valueEnd > value && isBlank(from[valueEnd - 1])) valueEnd--;
    return this.#field(from, start, nameEnd, value, valueEnd, out, to, isEmpty);
  }

  #field(
    from: Buffer,
    start: number,
    nameEnd: number,
    value: number,
    valueEnd: number,
    out: Buffer,
    to: number,
    isEmpty: boolean,
  ): number {
    const length = nameEnd - start + valueEnd - value;
    const tag = tagOf(from, start, nameEnd, value, valueEnd);
    const found = this.#find(tag, from, start, nameEnd, value, valueEnd);
    if (found >= 0) {
      this.counted += length + LINE_BYTES;
      return writeInteger(out, to, 0x80, 7, LAST_STATIC + 1 + found);
    }
    const name = responseName(from, start, nameEnd);
    if (name.say === SAY.leftOut || (isEmpty && name.say === SAY.length)) return to;
    this.counted += length + LINE_BYTES;
    // One that takes most of the table would push out the rest with each other of its kind.
    const isAdded = name.say === SAY.indexed && 4 * (length + ENTRY_BYTES) <= 3 * this.#table.max;
    if (isAdded) this.#add(from, start, nameEnd, value, valueEnd, tag);
    return literal(name, isAdded, from, start, nameEnd, value, valueEnd, out, to);
  }

  /** The number of the entry that is this field, or -1. */
  #find(tag: number, from: Buffer, start: number, nameEnd: number, value: number, valueEnd: number): number {
    const table = this.#table;
    const nameLength = nameEnd - start;
    const valueLength = valueEnd - value;
    for (let n = table.find(tag, 0); n >= 0; n = table.find(tag, n + 1)) {
      const place = table.placeOf(n);
      const at = table.entries[place + START] as number;
      const isLike =
        (table.entries[place + NAME_END] as number) - at === nameLength &&
        (table.entries[place + END] as number) - at === nameLength + valueLength + LINE_BYTES;
      if (
        isLike &&
        isName(from, start, nameEnd, table.bytes, at) &&
        isSame(from, value, table.bytes, at + nameLength + 2, valueLength)
      )
        return n;
    }
    return -1;
  }

  #add(from: Buffer, start: number, nameEnd: number, value: number, valueEnd: number, tag: number): void {
    let to = writeName(from, start, nameEnd, scratch, 0);
    const end = to;
    scratch[to++] = COLON;
    scratch[to++] = SPACE;
    to = copy(from, value, valueEnd, scratch, to);
    scratch[to++] = CR;
    scratch[to++] = LF;
    this.#table.add(scratch, 0, end, to, tag);
  }
}

/** The most that lines of so many bytes take in a block. */
function boundOf(length: number): number {
  return length + (length >>> BOUND_SHIFT) + BOUND_BYTES;
}

/** A literal with incremental indexing, without it or never indexed (RFC 7541 §6.2). */
function literal(
  name: ResponseName,
  isAdded: boolean,
  from: Buffer,
  start: number,
  nameEnd: number,
  value: number,
  valueEnd: number,
  out: Buffer,
  at: number,
): number {
  let to = isAdded
    ? writeInteger(out, at, 0x40, 6, name.index)
    : writeInteger(out, at, name.say === SAY.never ? 0x10 : 0, 4, name.index);
  if (name.index === 0) {
    to = writeInteger(out, to, 0, 7, nameEnd - start);
    to = writeName(from, start, nameEnd, out, to);
  }
  to = writeInteger(out, to, 0, 7, valueEnd - value);
  return copy(from, value, valueEnd, out, to);
}

/** Of a field, for finding it: its name, and of its value the length and three bytes. */
function tagOf(from: Buffer, start: number, nameEnd: number, value: number, valueEnd: number): number {
  let hash = valueEnd - value;
  for (let i = start; i < nameEnd; i++) hash = (Math.imul(hash, 31) + (LOWER[from[i] as number] as number)) | 0;
  if (valueEnd > value) {
    hash = Math.imul(hash, 31) + (from[value] as number);
    hash = Math.imul(hash, 31) + (from[valueEnd - 1] as number);
    hash = Math.imul(hash, 31) + (from[(value + valueEnd) >>> 1] as number);
  }
  return (hash ^ (hash >>> 16)) & 0xffff;
}

function isName(from: Buffer, start: number, end: number, name: Buffer, at: number): boolean {
  let to = at;
  for (let i = start; i < end; i++) if (LOWER[from[i] as number] !== name[to++]) return false;
  return true;
}

function writeName(from: Buffer, start: number, end: number, out: Buffer, at: number): number {
  let to = at;
  for (let i = start; i < end; i++) out[to++] = LOWER[from[i] as number] as number;
  return to;
}

function isBlank(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB;
}
