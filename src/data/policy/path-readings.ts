/**
 * The ways in which services read one path. They agree on what browsers send; on dot segments beside encoded or repeated slashes, backslashes
 * and parameters they don't, and a rule that knew one way alone could be walked around by another. Pure; used by path-rule.ts.
 */
import { HEX } from '../edge/chars.ts';

const PERCENT = 37;
const DOT = 46;
const SLASH = 47;
const SEMICOLON = 59;
const BACKSLASH = 92;
/** What all readers take for itself, as a table. */
const ORDINARY = new Uint8Array(256).fill(1);
for (const c of [PERCENT, SLASH, SEMICOLON, BACKSLASH]) ORDINARY[c] = 0;

interface Reading {
  /** `%2f` parts segments, and where a backslash does `%5c` too. */
  readonly encodedSlash: boolean;
  readonly backslash: boolean;
  /** `//` is `/`. Otherwise there is an empty segment between them. */
  readonly merges: boolean;
  /** Which segments mean "here" and "up": none, those of plain dots, or also those with `%2e`. */
  readonly dots: 'none' | 'plain' | 'all';
  /** What follows `;` in a segment is not of the path. */
  readonly parameters: boolean;
  /** What follows `//` at the start is a host. */
  readonly host: boolean;
}

const PLAIN: Reading = {
  encodedSlash: false,
  backslash: false,
  merges: false,
  dots: 'all',
  parameters: false,
  host: false,
};

/** Decoded once, then dots and repeated slashes resolved, a backslash taken for a slash. */
const NORMAL: Reading = { ...PLAIN, encodedSlash: true, backslash: true, merges: true };

const OTHERS: readonly Reading[] = [
  // URL parsers of browsers and of JavaScript (WHATWG), also given a path to resolve.
  { ...PLAIN, backslash: true },
  { ...PLAIN, backslash: true, host: true },
  // RFC 3986 §5.2.4 before anything is decoded, and behind it.
  { ...PLAIN, dots: 'plain' },
  { ...PLAIN, encodedSlash: true },
  // Servers that merge slashes: with `%2f` decoded, and left alone.
  { ...PLAIN, encodedSlash: true, merges: true },
  { ...PLAIN, merges: true },
  // Servlet containers.
  { ...PLAIN, merges: true, parameters: true },
  { ...NORMAL, parameters: true },
  // Frameworks that decode and route what they have then.
  { ...PLAIN, encodedSlash: true, dots: 'none' },
];

/** How the path is read beside its bytes: in one other way, in many, or in none. */
export type Variety = 'none' | 'one' | 'many';

/** Most paths have nothing to decode or resolve, and those that are merely encoded are read alike by all. */
export function varietyOf(bytes: Uint8Array, start: number, end: number): Variety {
  let isEncoded = false;
  for (let i = start; i < end; i++) {
    const c = bytes[i] as number;
    if (c === BACKSLASH || c === SEMICOLON) return 'many';
    if (c === SLASH && i + 1 < end && (bytes[i + 1] === SLASH || bytes[i + 1] === DOT)) return 'many';
    if (c !== PERCENT) continue;
    const decoded = decodedAt(bytes, i, end);
    if (decoded === SLASH || decoded === BACKSLASH || decoded === DOT) return 'many';
    isEncoded = true;
  }
  return isEncoded ? 'one' : 'none';
}

/** Longer paths are not read in many ways, which would be work for nothing: no browser sends one that needs it. */
const MAX_READ_BYTES = 2_048;

/** Whether in one of these readings the path begins with `prefix`; true, too, where that would take too long to find out. */
export function isReadAs(prefix: Uint8Array, variety: Variety, bytes: Uint8Array, start: number, end: number): boolean {
  if (variety === 'none') return false;
  if (variety === 'many' && end - start > MAX_READ_BYTES) return true;
  const out = Buffer.allocUnsafe(end - start + 1);
  if (begins(out, read(bytes, start, end, NORMAL, out), prefix)) return true;
  if (variety === 'one') return false;
  return OTHERS.some((reading) => begins(out, read(bytes, start, end, reading, out), prefix));
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
      isCut ||= how.parameters && bytes[i] === SEMICOLON;
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
