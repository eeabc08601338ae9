/**
 * A quick look at heads of requests that are not kept: most have no body, and most answers have a short one whose length they say. For these it
 * finds the end, at a third of what the parser costs; for everything else it says nothing, and the parser looks. What it takes for plain the
 * parser takes for the same, or refuses. Used by stream-tap.ts beyond the allowance.
 */
import { COLON, CR, LF, SPACE } from '../../../http1/chars.ts';

// Small letters.
const C = 99;
const L = 108;
const N = 110;
const T = 116;
const U = 117;
/** The bit that makes a letter small. */
const LOWER = 32;
/** The first byte of an answer: `HTTP/1.1 200`. */
const CAPITAL_H = 72;
/** Of answers: `HTTP/1.1 200`. */
const STATUS_AT = 9;
const MAX_LENGTH_DIGITS = 9;

/** Where a request's head ends that has no body and asks for no other protocol; 0: it is not whole, or the parser must look. */
export function plainRequestEnd(bytes: Buffer, start: number, end: number): number {
  let i = nextLine(bytes, start, end);
  while (i + 1 < end) {
    const first = (bytes[i] as number) | LOWER;
    if (bytes[i] === CR) return bytes[i + 1] === LF ? i + 2 : 0;
    // Content-…, Trans…, Upgrade: by the letters that tell them from what is common.
    if (first === C && isLetter(bytes[i + 3], T)) return 0;
    if (first === T && isLetter(bytes[i + 3], N)) return 0;
    if (first === U && bytes[i + 7] === COLON) return 0;
    i = nextLine(bytes, i, end);
  }
  return 0;
}

/** What a plain answer says. One object is reused. */
export class PlainAnswer {
  status = 0;
  /** Where its body ends, too. */
  end = 0;

  /** Reads an answer that lies in `bytes[start, end)` with all of its body; false: it does not, or the parser must look. */
  read(bytes: Buffer, start: number, end: number, isHead: boolean): boolean {
    if (end - start < STATUS_AT + 4 || bytes[start] !== CAPITAL_H || bytes[start + STATUS_AT - 1] !== SPACE)
      return false;
    this.status = digits(bytes, start + STATUS_AT, start + STATUS_AT + 3);
    if (this.status < 200) return false;
    let length = -1;
    let i = nextLine(bytes, start, end);
    while (i + 1 < end && bytes[i] !== CR) {
      const first = (bytes[i] as number) | LOWER;
      const next = nextLine(bytes, i, end);
      if (first === T && isLetter(bytes[i + 3], N)) return false;
      // Content-Length: the one field of fourteen letters that begins so and goes on with an l.
      if (first === C && bytes[i + 14] === COLON && isLetter(bytes[i + 8], L) && isLetter(bytes[i + 3], T)) {
        if (length >= 0) return false;
        length = lengthIn(bytes, i + 15, next - 2);
        if (length < 0) return false;
      }
      i = next;
    }
    if (i + 1 >= end || bytes[i + 1] !== LF) return false;
    const isBodiless = isHead || this.status === 204 || this.status === 304;
    if (length < 0 && !isBodiless) return false;
    this.end = i + 2 + (isBodiless ? 0 : length);
    return this.end <= end;
  }
}

/** Behind the next line end; `end` when there is none. */
function nextLine(bytes: Buffer, from: number, end: number): number {
  let i = from;
  while (i < end && bytes[i] !== LF) i++;
  return i < end ? i + 1 : end;
}

function isLetter(byte: number | undefined, letter: number): boolean {
  return byte !== undefined && (byte | LOWER) === letter;
}

/** The number that `bytes[start, end)` holds behind spaces, or -1. */
function lengthIn(bytes: Buffer, start: number, end: number): number {
  let from = start;
  while (from < end && bytes[from] === SPACE) from++;
  return end - from > MAX_LENGTH_DIGITS || from === end ? -1 : digits(bytes, from, end);
}

function digits(bytes: Buffer, start: number, end: number): number {
  let value = 0;
  for (let i = start; i < end; i++) {
    const digit = (bytes[i] as number) - 48;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
}
