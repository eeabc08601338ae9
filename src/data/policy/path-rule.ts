/**
 * Does the path of a request begin with a prefix? Asked of the path as it was sent, of its normalized form (RFC 3986 §6.2.2:
 * percent-decoded once, dot segments and repeated slashes resolved), and of the other forms in which services read it: whichever
 * begins with the prefix counts. The service gets the bytes as they were sent.
 */
import { QUESTION } from '../edge/chars.ts';
import { isReadAs, varietyOf } from './path-readings.ts';

const SLASH = 47;

export class PathRule {
  readonly #prefix: Buffer;

  constructor(prefix: string) {
    this.#prefix = Buffer.from(prefix);
  }

  /** Of the target `bytes[start, end)`: its path, or nothing where an absolute target has none, or `*`; a query is left alone. */
  matches(bytes: Uint8Array, start: number, end: number): boolean {
    const pathEnd = endOfPath(bytes, start, end);
    // What has no path is sent with `/`, and `*` is about the whole service.
    if (start === pathEnd || bytes[start] !== SLASH) return this.#prefix.length === 1;
    if (beginsWith(bytes, start, pathEnd, this.#prefix)) return true;
    return isReadAs(this.#prefix, varietyOf(bytes, start, pathEnd), bytes, start, pathEnd);
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
