/**
 * Which of a policy's prefixes does the path of a request begin with? Asked of the path as it was sent, of its normalized form (RFC 3986 §6.2.2:
 * percent-decoded once, dot segments and repeated slashes resolved), and of the other forms in which services read it: whichever
 * begins with the prefix counts. The prefix counts as it was written and in its normalized form, or who writes it with an escape, as it
 * stands in a browser's address line, would keep out one spelling of many. The service gets the bytes as they were sent.
 */
import { QUESTION } from '../../http1/chars.ts';
import { findReadAs, normalized, varietyOf } from './path-readings.ts';

const SLASH = 47;
/** A prefix goes on: `/.` is the beginning of `/.env`, and not `/`. */
const MORE = 'x';

export class PathRules {
  /** Of all rules, and whose each is. */
  readonly #prefixes: readonly Buffer[];
  readonly #owners: readonly number[];
  /** By prefix and by rule, of the path that was read last. */
  readonly #found: Uint8Array;
  readonly #matched: Uint8Array;

  constructor(prefixes: readonly string[]) {
    const all = prefixes.flatMap((prefix, owner) => formsOf(prefix).map((form) => ({ form, owner })));
    this.#prefixes = all.map(({ form }) => form);
    this.#owners = all.map(({ owner }) => owner);
    this.#found = new Uint8Array(all.length);
    this.#matched = new Uint8Array(prefixes.length);
  }

  /** Reads the target `bytes[start, end)`: its path, or nothing where an absolute target has none, or `*`; a query is left alone. */
  read(bytes: Uint8Array, start: number, end: number): void {
    const found = this.#found;
    const pathEnd = endOfPath(bytes, start, end);
    const hasPath = start < pathEnd && bytes[start] === SLASH;
    for (let i = 0; i < found.length; i++) {
      const prefix = this.#prefixes[i] as Buffer;
      // What has no path is sent with `/`, and `*` is about the whole service.
      found[i] = Number(hasPath ? beginsWith(bytes, start, pathEnd, prefix) : prefix.length === 1);
    }
    const variety = hasPath ? varietyOf(bytes, start, pathEnd) : 0;
    if (variety !== 0) findReadAs(this.#prefixes, found, { variety, bytes, start, end: pathEnd });
    this.#matched.fill(0);
    for (let i = 0; i < found.length; i++) if (found[i] === 1) this.#matched[this.#owners[i] as number] = 1;
  }

  /** Whether the path that was read begins with the prefix of this number. */
  has(rule: number): boolean {
    return this.#matched[rule] === 1;
  }
}

/** As it was written, and normalized where that is another one; but `//` does not mean all that there is. */
function formsOf(prefix: string): Buffer[] {
  const written = Buffer.from(prefix + MORE);
  const [first, other] = [written, normalized(written, 0, written.length)].map((form) =>
    form.subarray(0, -MORE.length),
  );
  const forms = [first as Buffer];
  if (other !== undefined && other.length > 1 && !other.equals(forms[0] as Buffer)) forms.push(other);
  return forms;
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
