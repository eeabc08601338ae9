/**
 * Cookies that a tunnel's service may not set: those of the server itself, and those that browsers would send to other tunnels too. Tunnels of
 * strangers are neighbours under one domain, so `Domain=<that domain>` or a parent of it is taken out of the line: the cookie becomes one of
 * the tunnel's own host, and the site goes on working. Read as browsers do (RFC 6265 §5.2), over bytes: a line without Domain makes no string.
 * `Clear-Site-Data: "cookies"` takes away those of the whole domain, whichever host says it: it may clear what is left of its list.
 */
import { FOLD, HOST, SPACE, TAB } from '../../../http1/chars.ts';
import { equalsFolded, word } from '../../../http1/fields.ts';
import type { Head } from '../../../http1/head.ts';
import { VISITOR_COOKIES } from '../../policy/visitor-login/cookies.ts';

/** Of the API's log-in, and of visitor gates. */
const RESERVED = [word('qnt_refresh'), word('__host-qnt_bind'), ...VISITOR_COOKIES];
const W_DOMAIN = word('domain');
const SEMICOLON = 59;
const EQUALS = 61;
const DOT = 46;
const COMMA = 44;
const QUOTE = 34;
/** Of the two names, Clear-Site-Data begins with it. */
const LETTER_C = 99;
const W_COOKIES = word('cookies');
const W_ALL = word('*');

/** One field line, CR LF included, and its value. */
interface Line {
  readonly line: number;
  readonly lineEnd: number;
  readonly value: number;
  readonly end: number;
}

export class CookieGuard {
  readonly #domain: string;

  /** `domain`: under which the tunnels are. */
  constructor(domain: string) {
    this.#domain = domain.toLowerCase();
  }

  /** Marks what is left out of a response's head that has such lines. */
  dropFrom(bytes: Buffer, head: Head): void {
    for (let c = 0; c < head.cookieCount; c++) {
      const index = head.cookieLines[c] as number;
      const line = head.lines[index] as number;
      const lineEnd = head.lines[index + 1] as number;
      const value = bytes.indexOf(58, line) + 1;
      const end = lineEnd - 2;
      if (FOLD[bytes[line] as number] === LETTER_C) dropCookies(bytes, { line, lineEnd, value, end }, head);
      else if (isReserved(bytes, value, end)) head.drop(line, lineEnd);
      else this.#dropDomain(bytes, { line, lineEnd, value, end }, head);
    }
  }

  /** One span per line is what a head has room for: a line that asks for the domain twice goes whole. */
  #dropDomain(bytes: Buffer, { line, lineEnd, value, end }: Line, head: Head): void {
    let from = -1;
    let to = -1;
    let i = attributeEnd(bytes, value, end);
    while (i < end) {
      const next = attributeEnd(bytes, i + 1, end);
      if (this.#isShared(bytes, i + 1, next)) {
        if (from >= 0) return head.drop(line, lineEnd);
        from = i;
        to = next;
      }
      i = next;
    }
    if (from >= 0) head.drop(from, to);
  }

  /** Is the attribute `bytes[start, end)` a Domain that other tunnels are in? */
  #isShared(bytes: Buffer, start: number, end: number): boolean {
    const from = skipBlank(bytes, start, end);
    let equals = from;
    while (equals < end && bytes[equals] !== EQUALS) equals++;
    if (equals === end || !equalsFolded(bytes, from, trimmed(bytes, from, equals), W_DOMAIN)) return false;
    let first = skipBlank(bytes, equals + 1, end);
    if (bytes[first] === DOT && first < end) first++;
    let last = trimmed(bytes, first, end);
    // A visitor may ask for a host with its final dot, whose parent has one too.
    if (last > first && bytes[last - 1] === DOT) last--;
    if (last === first) return false;
    // What is in no name of a host some browsers map to what is: percent signs, letters of other widths.
    for (let i = first; i < last; i++) if (HOST[bytes[i] as number] === 0) return true;
    return this.#isDomainOrParent(bytes.toString('latin1', first, last).toLowerCase());
  }

  #isDomainOrParent(name: string): boolean {
    return name === this.#domain || this.#domain.endsWith(`.${name}`);
  }
}

/** Leaves out the cookies of Clear-Site-Data; the line, where nothing else is in it, and where it means all. */
function dropCookies(bytes: Buffer, { line, lineEnd, value, end }: Line, head: Head): void {
  let from = -1;
  let to = -1;
  for (let i = value; i < end; ) {
    let next = i;
    while (next < end && bytes[next] !== COMMA) next++;
    const isAll = isElement(bytes, i, next, W_ALL);
    if (isAll || isElement(bytes, i, next, W_COOKIES)) {
      if (isAll || from >= 0) return head.drop(line, lineEnd);
      // With the comma before it, or behind it where it is the first.
      from = i === value ? i : i - 1;
      to = i === value ? Math.min(next + 1, end) : next;
    }
    i = next + 1;
  }
  if (from < 0) return;
  if (from === value && to === end) head.drop(line, lineEnd);
  else head.drop(from, to);
}

/** Is the element this word, in quotes or without? */
function isElement(bytes: Buffer, start: number, end: number, wanted: Uint8Array): boolean {
  let from = skipBlank(bytes, start, end);
  let to = trimmed(bytes, from, end);
  if (from < to && bytes[from] === QUOTE) from++;
  if (from < to && bytes[to - 1] === QUOTE) to--;
  return equalsFolded(bytes, from, to, wanted);
}

/** Also without a name, as in `=name=value`: browsers send that as `name=value`. */
function isReserved(bytes: Buffer, start: number, end: number): boolean {
  let from = start;
  while (from < end && (isBlank(bytes[from]) || bytes[from] === EQUALS)) from++;
  let to = from;
  while (to < end && bytes[to] !== EQUALS && bytes[to] !== SEMICOLON) to++;
  to = trimmed(bytes, from, to);
  for (const name of RESERVED) if (equalsFolded(bytes, from, to, name)) return true;
  return false;
}

function attributeEnd(bytes: Buffer, start: number, end: number): number {
  let i = start;
  while (i < end && bytes[i] !== SEMICOLON) i++;
  return i;
}

function skipBlank(bytes: Buffer, start: number, end: number): number {
  let i = start;
  while (i < end && isBlank(bytes[i])) i++;
  return i;
}

/** Where `bytes[start, end)` ends without the blanks at its end. */
function trimmed(bytes: Buffer, start: number, end: number): number {
  let i = end;
  while (i > start && isBlank(bytes[i - 1])) i--;
  return i;
}

function isBlank(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB;
}
