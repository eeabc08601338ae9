/**
 * The cookies of visitor gates in a request's head: read there, and left out of what the service gets. Split as browsers join them (RFC 6265
 * §5.4), at each semicolon, whatever quotes say.
 */
import { randomBytes } from 'node:crypto';
import { SPACE, TAB } from '../../../http1/chars.ts';
import { equalsFolded, word } from '../../../http1/fields.ts';
import type { Head } from '../../../http1/head.ts';
import { isDropped } from '../header-rule.ts';
import type { PolicyRequest } from '../step.ts';

/** The name of a cookie, and as the bytes of a head are compared with it. */
export interface CookieName {
  readonly text: string;
  readonly folded: Uint8Array;
}

export const PASS_COOKIE = cookieName('culvert_visitor');
/**
 * What ties a sign-in to the browser that began it. `__Host-`: no neighbour under the same domain can set it; browsers take the prefix over https
 * alone.
 */
export const NONCE_COOKIE = { https: cookieName('__Host-culvert_nonce'), http: cookieName('culvert_nonce') } as const;
/**
 * What a pass counts beside, in a browser: made with it and for as long. Not the nonce, whose hash is in addresses on the way to the provider,
 * where others may read it.
 */
export const BROWSER_COOKIE = {
  https: cookieName('__Host-culvert_browser'),
  http: cookieName('culvert_browser'),
} as const;

/** Lower case: services that do not mind case get none of them either. */
export const VISITOR_COOKIES = [
  PASS_COOKIE,
  ...[NONCE_COOKIE, BROWSER_COOKIE].flatMap(({ https, http }) => [https, http]),
].map(({ folded }) => folded);

/** As `newRandom` makes them. */
const RANDOM = /^[\w-]{22}$/;
const FIELD_BYTES = 'cookie:'.length;
/** In each of their names. */
const MARK = word('culvert_');
const MARK_END = 95;
/** By the byte that stands where MARK might end: how much further the next place is at which it might. Its last letter is in it once. */
const SKIP = Uint8Array.from({ length: 256 }, (_, c) => {
  const at = MARK.lastIndexOf(c >= 65 && c <= 90 ? c + 32 : c, MARK.length - 2);
  return MARK.length - 1 - at;
});
const SEMICOLON = 59;
const EQUALS = 61;
const NOTHING = Buffer.alloc(0);

/**
 * The values of the cookies of this name, which is compared exactly, in their order. All of them: neighbours can plant some for each part of the
 * path and each domain above, and browsers show these first. A head holds no more than edge.limits.max_head_bytes of them.
 */
export function cookiesNamed(bytes: Buffer, head: Head, { text, folded }: CookieName): readonly string[] {
  const values: string[] = [];
  for (let c = 0; c < head.cookieCount; c++) {
    const l = head.cookieLines[c] as number;
    const end = (head.lines[l + 1] as number) - 2;
    let at = (head.lines[l] as number) + FIELD_BYTES;
    while (at < end) {
      const from = skipBlank(bytes, at, end);
      at = pairEnd(bytes, from, end) + 1;
      const equals = nameEnd(bytes, from, at - 1);
      if (!equalsFolded(bytes, from, equals, folded)) continue;
      const pair = bytes.toString('latin1', from, at - 1).trimEnd();
      if (pair.startsWith(text) && pair[text.length] === '=') values.push(pair.slice(text.length + 1));
    }
  }
  return values;
}

/** What this browser shows under one of the two names, if the edge can have made it. */
export function randomsIn(
  { bytes, head, isHttps }: PolicyRequest,
  names: Readonly<Record<'https' | 'http', CookieName>>,
): readonly string[] {
  return cookiesNamed(bytes, head, isHttps ? names.https : names.http).filter((value) => RANDOM.test(value));
}

/** A value for one of them. */
export function newRandom(): string {
  return randomBytes(16).toString('base64url');
}

/** Whether a Cookie line may hold one of the gates' cookies: asked of each request that has cookies, and reads an eighth of their bytes. */
export function showsVisitorCookies(bytes: Buffer, head: Head): boolean {
  for (let c = 0; c < head.cookieCount; c++) {
    const l = head.cookieLines[c] as number;
    const end = head.lines[l + 1] as number;
    let at = (head.lines[l] as number) + FIELD_BYTES + MARK.length - 1;
    while (at < end) {
      const byte = bytes[at] as number;
      if (byte === MARK_END && equalsFolded(bytes, at + 1 - MARK.length, at + 1, MARK)) return true;
      at += SKIP[byte] as number;
    }
  }
  return false;
}

/**
 * Marks the Cookie lines as left out when one of the gates' cookies is in them, and returns the line that takes their place, with its CR LF:
 * all other cookies as they were sent, in their order. Empty when nothing takes it.
 */
export function withoutVisitorCookies(bytes: Buffer, head: Head): Buffer {
  const kept: Buffer[] = [];
  let isChanged = false;
  for (let c = 0; c < head.cookieCount; c++) {
    const l = head.cookieLines[c] as number;
    const line = head.lines[l] as number;
    if (isDropped(head, line)) continue;
    isChanged = keepOthers(bytes, line + FIELD_BYTES, (head.lines[l + 1] as number) - 2, kept) || isChanged;
  }
  if (!isChanged) return NOTHING;
  for (let c = 0; c < head.cookieCount; c++) {
    const l = head.cookieLines[c] as number;
    const line = head.lines[l] as number;
    if (!isDropped(head, line)) head.drop(line, head.lines[l + 1] as number);
  }
  if (kept.length === 0) return NOTHING;
  const parts = kept.flatMap((pair, at) => [Buffer.from(at === 0 ? 'Cookie: ' : '; '), pair]);
  return Buffer.concat([...parts, Buffer.from('\r\n')]);
}

/** Adds the pairs of `bytes[start, end)` that are not ours. True when one is. */
function keepOthers(bytes: Buffer, start: number, end: number, kept: Buffer[]): boolean {
  let found = false;
  let at = start;
  while (at < end) {
    const from = skipBlank(bytes, at, end);
    const to = pairEnd(bytes, from, end);
    at = to + 1;
    if (isOurs(bytes, from, to)) found = true;
    else if (to > from) kept.push(bytes.subarray(from, to));
  }
  return found;
}

/** Also without a name, as in `=name=value`, which some services read as `name=value`. */
function isOurs(bytes: Buffer, start: number, end: number): boolean {
  let from = start;
  while (from < end && (bytes[from] === EQUALS || isBlank(bytes[from]))) from++;
  const to = nameEnd(bytes, from, end);
  for (const name of VISITOR_COOKIES) if (equalsFolded(bytes, from, to, name)) return true;
  return false;
}

function cookieName(text: string): CookieName {
  return { text, folded: word(text.toLowerCase()) };
}

/** Where the name of the pair `bytes[start, end)` ends, blanks before its `=` left out. */
function nameEnd(bytes: Buffer, start: number, end: number): number {
  let i = start;
  while (i < end && bytes[i] !== EQUALS) i++;
  while (i > start && isBlank(bytes[i - 1])) i--;
  return i;
}

function pairEnd(bytes: Buffer, start: number, end: number): number {
  let i = start;
  while (i < end && bytes[i] !== SEMICOLON) i++;
  return i;
}

function skipBlank(bytes: Buffer, start: number, end: number): number {
  let i = start;
  while (i < end && isBlank(bytes[i])) i++;
  return i;
}

function isBlank(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB;
}
