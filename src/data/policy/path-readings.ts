/**
 * The ways in which services read one path. They agree on what browsers send; on dot segments beside encoded or repeated slashes, backslashes
 * and parameters they don't, and a rule that knew one way alone could be walked around by another. Pure; used by path-rule.ts.
 */
import { HEX } from '../../http1/chars.ts';

const PERCENT = 37;
const DOT = 46;
const SLASH = 47;
const SEMICOLON = 59;
const BACKSLASH = 92;
/** What all readers take for itself, as a table. */
const ORDINARY = new Uint8Array(256).fill(1);
for (const c of [PERCENT, SLASH, SEMICOLON, BACKSLASH]) ORDINARY[c] = 0;
/** What stands beside a dot of a segment of dots; the letter is the end of `%2e`. */
const BESIDE_DOTS = new Uint8Array(256);
for (const c of Buffer.from('./\\;%eE')) BESIDE_DOTS[c] = 1;

/** What of a path some read in one way and some in another. */
const HAS = {
  encoded: 1,
  backslash: 2,
  encodedSlash: 4,
  /** Two slashes in a row, of any kind, or what may come to that. */
  empty: 8,
  dots: 16,
  encodedDots: 32,
  parameters: 64,
  encodedParameters: 128,
  /** Two slashes at the start. */
  host: 256,
} as const;

interface Reading {
  /** `%2f` parts segments, and where a backslash does `%5c` too. */
  readonly encodedSlash: boolean;
  readonly backslash: boolean;
  /** `//` is `/`. Otherwise there is an empty segment between them. */
  readonly merges: boolean;
  /** Which segments mean "here" and "up": none, those of plain dots, or also those with `%2e`. */
  readonly dots: 'none' | 'plain' | 'all';
  /** What follows `;`, or `%3b` as well, in a segment is not of the path. */
  readonly parameters: 'none' | 'plain' | 'all';
  /** What follows `//` at the start is a host. */
  readonly host: boolean;
  /** What a path must have, or this reading is the same as another one. */
  readonly needs: number;
}

/** Decoded once, then dots and repeated slashes resolved, a backslash taken for a slash. */
const NORMAL: Reading = {
  ...{ encodedSlash: true, backslash: true, merges: true, dots: 'all', parameters: 'none', host: false },
  needs: HAS.encoded,
};

/**
 * All of them. Among these are URL parsers of browsers and JavaScript (a backslash is a slash, `%2f` is none, `//` begins a host), RFC 3986 before
 * and behind decoding, servers that merge slashes, servlet containers, and frameworks that decode and resolve nothing.
 */
const READINGS: readonly Reading[] = [false, true].flatMap((encodedSlash) =>
  [false, true].flatMap((backslash) =>
    [false, true].flatMap((merges) =>
      (['none', 'plain', 'all'] as const).flatMap((dots) =>
        (['none', 'plain', 'all'] as const).flatMap((parameters) =>
          (merges || encodedSlash || parameters !== 'none' ? [false] : [false, true]).map((host) => {
            const needs =
              (encodedSlash ? HAS.encodedSlash : 0) |
              (backslash ? HAS.backslash : 0) |
              (merges ? HAS.empty : 0) |
              { none: 0, plain: HAS.dots, all: HAS.encodedDots }[dots] |
              { none: 0, plain: HAS.parameters, all: HAS.encodedParameters }[parameters] |
              (host ? HAS.host : 0);
            return { encodedSlash, backslash, merges, dots, parameters, host, needs };
          }),
        ),
      ),
    ),
  ),
);

/** Bytes that are read for one answer. Honest paths need less: with all there is they have 400 bytes, with dots alone 16,000. */
const MAX_READ_BYTES = 32_768;

/** What the path has, of HAS; 0 for most, which are read as they are. */
export function varietyOf(bytes: Uint8Array, start: number, end: number): number {
  let has = 0;
  for (let i = start; i < end; i++) {
    const c = bytes[i] as number;
    if (c === BACKSLASH) has |= HAS.backslash | HAS.empty;
    else if (c === SEMICOLON) has |= HAS.parameters | HAS.empty;
    else if (c === DOT) has |= isDotted(bytes, i, start, end) ? HAS.dots : 0;
    else if (c === SLASH) has |= i > start && bytes[i - 1] === SLASH ? HAS.empty : 0;
    else if (c === PERCENT) has |= encodedAt(bytes, i, end);
  }
  if ((has & (HAS.empty | HAS.backslash)) !== 0 && start + 1 < end && isSlash(bytes[start + 1])) has |= HAS.host;
  return has;
}

function encodedAt(bytes: Uint8Array, i: number, end: number): number {
  switch (decodedAt(bytes, i, end)) {
    case PERCENT_AS_IS:
      return 0;
    case SLASH:
      return HAS.encoded | HAS.encodedSlash | HAS.empty;
    case BACKSLASH:
      return HAS.encoded | HAS.encodedSlash | HAS.backslash | HAS.empty;
    case DOT:
      return HAS.encoded | HAS.dots | HAS.encodedDots;
    case SEMICOLON:
      return HAS.encoded | HAS.encodedParameters | HAS.empty;
    default:
      return HAS.encoded;
  }
}

/** Can the dot be of a segment of dots? One inside of a name is not. */
function isDotted(bytes: Uint8Array, i: number, start: number, end: number): boolean {
  const isFirst = i === start || BESIDE_DOTS[bytes[i - 1] as number] === 1;
  return isFirst && (i + 1 === end || BESIDE_DOTS[bytes[i + 1] as number] === 1);
}

function isSlash(c: number | undefined): boolean {
  return c === SLASH || c === BACKSLASH;
}

/**
 * Sets `found[i]` where the path, which has `variety`, begins with `prefixes[i]` in one of its readings; and all, too, where that would take too
 * long to find out. The path is read once for all prefixes.
 */
export function findReadAs(
  prefixes: readonly Uint8Array[],
  found: Uint8Array,
  path: { variety: number; bytes: Uint8Array; start: number; end: number },
): void {
  const { variety, bytes, start, end } = path;
  const out = Buffer.allocUnsafe(end - start + 1);
  if (variety === HAS.encoded) return mark(prefixes, found, out, read(bytes, start, end, NORMAL, out));
  let left = MAX_READ_BYTES;
  for (const reading of READINGS) {
    if ((reading.needs & ~variety) !== 0) continue;
    left -= end - start;
    if (left < 0) return void found.fill(1);
    mark(prefixes, found, out, read(bytes, start, end, reading, out));
  }
}

function mark(prefixes: readonly Uint8Array[], found: Uint8Array, path: Uint8Array, length: number): void {
  for (const [i, prefix] of prefixes.entries()) if (found[i] === 0 && begins(path, length, prefix)) found[i] = 1;
}

/** The path as it is read that is decoded once and resolved (RFC 3986 §6.2.2). */
export function normalized(bytes: Uint8Array, start: number, end: number): Buffer {
  const out = Buffer.allocUnsafe(end - start + 1);
  return out.subarray(0, read(bytes, start, end, NORMAL, out));
}

function begins(path: Uint8Array, length: number, prefix: Uint8Array): boolean {
  if (length < prefix.length) return false;
  for (let i = 0; i < prefix.length; i++) if (path[i] !== prefix[i]) return false;
  return true;
}

/** Writes what the path is to this reader into `out`, which has room for one byte more than the path; returns its length. */
function read(bytes: Uint8Array, start: number, end: number, how: Reading, out: Buffer): number {
  let i = how.host ? behindHost(bytes, start, end, how) : start;
  let to = 0;
  while (i < end) {
    i += slashAt(bytes, i, end, how);
    // The segment is written behind what is there, and kept or not when its end has come.
    let w = to;
    out[w++] = SLASH;
    let isPlain = true;
    let isCut = false;
    for (;;) {
      if (isCut) while (i < end && ORDINARY[bytes[i] as number] === 1) i++;
      else while (i < end && ORDINARY[bytes[i] as number] === 1) out[w++] = bytes[i++] as number;
      if (i >= end || slashAt(bytes, i, end, how) > 0) break;
      const c = decodedAt(bytes, i, end);
      isCut ||= (how.parameters !== 'none' && bytes[i] === SEMICOLON) || (how.parameters === 'all' && c === SEMICOLON);
      // A slash that parts nothing here stays as it was written.
      const isEncoded = bytes[i] === PERCENT && c !== PERCENT_AS_IS && c !== SLASH && c !== BACKSLASH;
      if (!isCut) out[w++] = isEncoded ? c : (bytes[i] as number);
      if (isEncoded && c === DOT) isPlain = false;
      i += isEncoded ? 3 : 1;
    }
    to = resolved(out, to, w, i >= end, isPlain ? how.dots !== 'none' : how.dots === 'all', how.merges);
  }
  if (to === 0) out[to++] = SLASH;
  return to;
}

/** Length of the path with its newest segment `out[to, w)`, which begins with its slash. Plain arguments: this is per segment. */
function resolved(out: Buffer, to: number, w: number, isLast: boolean, knowsDots: boolean, merges: boolean): number {
  const length = w - to - 1;
  if (length === 0) return !merges ? w : isLast ? slashed(out, to) : to;
  if (!knowsDots || length > 2 || out[to + 1] !== DOT || out[to + length] !== DOT) return w;
  let left = to;
  if (length === 2) while (left > 0 && out[--left] !== SLASH);
  return isLast ? slashed(out, left) : left;
}

function slashed(out: Buffer, to: number): number {
  out[to] = SLASH;
  return to + 1;
}

/** Bytes of the slash at `i`, as this reader knows slashes; 0: there is none. */
function slashAt(bytes: Uint8Array, i: number, end: number, how: Reading): number {
  const c = bytes[i];
  if (c === SLASH || (how.backslash && c === BACKSLASH)) return 1;
  if (!how.encodedSlash || c !== PERCENT) return 0;
  const decoded = decodedAt(bytes, i, end);
  return decoded === SLASH || (how.backslash && decoded === BACKSLASH) ? 3 : 0;
}

function behindHost(bytes: Uint8Array, start: number, end: number, how: Reading): number {
  if (slashAt(bytes, start, end, how) === 0 || slashAt(bytes, start + 1, end, how) === 0) return start;
  let i = start + 2;
  // Slashes before a host are as many as there are.
  while (i < end && slashAt(bytes, i, end, how) > 0) i++;
  while (i < end && slashAt(bytes, i, end, how) === 0) i++;
  return i;
}

/** No byte: a percent sign that begins no escape. */
const PERCENT_AS_IS = -1;

function decodedAt(bytes: Uint8Array, i: number, end: number): number {
  if (bytes[i] !== PERCENT || i + 2 >= end) return PERCENT_AS_IS;
  const high = HEX[bytes[i + 1] as number] as number;
  const low = HEX[bytes[i + 2] as number] as number;
  return high === 255 || low === 255 ? PERCENT_AS_IS : (high << 4) | low;
}
