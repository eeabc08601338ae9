/**
 * Does the path of a request begin with a prefix? Asked of the path as it was sent, and of its normalized form (RFC 3986 §6.2.2:
 * percent-decoded once, dot segments and repeated slashes resolved), because services differ in which of the two they route by: whichever
 * begins with the prefix counts. The service gets the bytes as they were sent.
 */
import { HEX, QUESTION } from '../edge/chars.ts';

const PERCENT = 37;
const DOT = 46;
const SLASH = 47;
const BACKSLASH = 92;

export class PathRule {
  readonly #prefix: Buffer;

  constructor(prefix: string) {
    this.#prefix = Buffer.from(prefix);
  }

  /** Of the target `bytes[start, end)`, which begins with its path; a query is left alone. */
  matches(bytes: Uint8Array, start: number, end: number): boolean {
    const pathEnd = endOfPath(bytes, start, end);
    if (beginsWith(bytes, start, pathEnd, this.#prefix)) return true;
    if (!mayBeOther(bytes, start, pathEnd)) return false;
    const normal = normalized(bytes, start, pathEnd);
    return beginsWith(normal, 0, normal.length, this.#prefix);
  }
}

function endOfPath(bytes: Uint8Array, start: number, end: number): number {
  for (let i = start; i < end; i++) if (bytes[i] === QUESTION) return i;
  return end;
}

function beginsWith(bytes: Uint8Array, start: number, end: number, prefix: Uint8Array): boolean {
  if (end - start < prefix.length) return false;
  for (let i = 0; i < prefix.length; i++) if (bytes[start + i] !== prefix[i]) return false;
  return true;
}

/** Whether the normalized form can differ: most paths have nothing to decode or resolve, and cost no copy. */
function mayBeOther(bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) {
    const c = bytes[i];
    if (c === PERCENT || c === BACKSLASH) return true;
    if (c === SLASH && (bytes[i + 1] === SLASH || bytes[i + 1] === DOT) && i + 1 < end) return true;
  }
  return false;
}

/** The path as a service reads it that decodes once and resolves dots. A backslash counts as a slash, as it does for URL parsers of browsers and Windows. */
export function normalized(bytes: Uint8Array, start: number, end: number): Buffer {
  const decoded = decodedOnce(bytes, start, end);
  const out = Buffer.allocUnsafe(decoded.length + 1);
  let to = 0;
  let at = 0;
  while (at < decoded.length) {
    while (at < decoded.length && decoded[at] === SLASH) at++;
    let stop = at;
    while (stop < decoded.length && decoded[stop] !== SLASH) stop++;
    const isLast = stop === decoded.length;
    if (isDots(decoded, at, stop, 2)) {
      while (to > 0 && out[--to] !== SLASH);
      if (isLast) out[to++] = SLASH;
    } else if (isDots(decoded, at, stop, 1) || stop === at) {
      if (isLast) out[to++] = SLASH;
    } else {
      out[to++] = SLASH;
      to += decoded.copy(out, to, at, stop);
    }
    at = stop;
  }
  return out.subarray(0, to);
}

function isDots(bytes: Uint8Array, start: number, end: number, count: number): boolean {
  if (end - start !== count) return false;
  for (let i = start; i < end; i++) if (bytes[i] !== DOT) return false;
  return true;
}

function decodedOnce(bytes: Uint8Array, start: number, end: number): Buffer {
  const out = Buffer.allocUnsafe(end - start);
  let to = 0;
  for (let i = start; i < end; i++) {
    let c = bytes[i] as number;
    if (c === PERCENT && i + 2 < end) {
      const high = HEX[bytes[i + 1] as number] as number;
      const low = HEX[bytes[i + 2] as number] as number;
      if (high !== 255 && low !== 255) {
        c = (high << 4) | low;
        i += 2;
      }
    }
    out[to++] = c === BACKSLASH ? SLASH : c;
  }
  return out.subarray(0, to);
}
