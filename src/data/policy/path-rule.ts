/**
 * Does the path of a request begin with a prefix? Asked of the path as it was sent, of its normalized form (RFC 3986 §6.2.2:
 * percent-decoded once, dot segments and repeated slashes resolved), and of the other forms in which services read it: whichever
 * begins with the prefix counts. The prefix counts as it was written and in its normalized form, or who writes it with an escape, as it
 * stands in a browser's address line, would keep out one spelling of many. The service gets the bytes as they were sent.
 */
import { QUESTION } from '../edge/chars.ts';
import { isReadAs, normalized, varietyOf } from './path-readings.ts';

const SLASH = 47;
/** A prefix goes on: `/.` is the beginning of `/.env`, and not `/`. */
const MORE = 'x';

export class PathRule {
  /** As it was written, and normalized where that is another one; but `//` does not mean all that there is. */
  readonly #prefixes: readonly Buffer[];

  constructor(prefix: string) {
    const written = Buffer.from(prefix + MORE);
    const forms = [written, normalized(written, 0, written.length)];
    this.#prefixes = forms
      .map((form) => form.subarray(0, -MORE.length))
      .filter((form, i, all) => i === 0 || (form.length > 1 && !form.equals(all[0] as Buffer)));
  }

  /** Of the target `bytes[start, end)`: its path, or nothing where an absolute target has none, or `*`; a query is left alone. */
  matches(bytes: Uint8Array, start: number, end: number): boolean {
    const pathEnd = endOfPath(bytes, start, end);
    const hasPath = start < pathEnd && bytes[start] === SLASH;
    const variety = hasPath ? varietyOf(bytes, start, pathEnd) : 0;
    for (const prefix of this.#prefixes) {
      // What has no path is sent with `/`, and `*` is about the whole service.
      if (!hasPath ? prefix.length === 1 : beginsWith(bytes, start, pathEnd, prefix)) return true;
      if (isReadAs(prefix, variety, bytes, start, pathEnd)) return true;
    }
    return false;
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
