/**
 * `header_set` and `response_header_set`: the lines that are added to a head, and the ones of the same names that are left out of it. Names
 * and values were checked by the control plane: no control characters, no field that frames or routes a message.
 */
import type { HeaderAction } from '../../plane/policy.ts';
import { COLON, FOLD } from '../../http1/chars.ts';
import type { Head } from '../../http1/head.ts';

export class HeaderRule {
  /** What is added, each line with its CR LF. */
  readonly lines: Buffer;
  /** Lower case, `_` as `-`. */
  readonly #names: readonly Buffer[];
  /** The same as text. */
  readonly #known: ReadonlySet<string>;

  /** Of several actions for one name the last counts. `dropped`: names, lower case, that are left out without one in their place. */
  constructor(actions: readonly HeaderAction[], dropped: readonly string[] = []) {
    const last = new Map(actions.map((action) => [action.name.toLowerCase(), action]));
    this.lines = Buffer.from([...last.values()].map(({ name, value }) => `${name}: ${value}\r\n`).join(''));
    this.#known = new Set([...last.keys(), ...dropped].map((name) => name.replaceAll('_', '-')));
    this.#names = [...this.#known].map((name) => Buffer.from(name));
  }

  /**
   * Marks the lines of a parsed head that this overwrites as left out. A name that differs by `_` for `-` goes too: services behind CGI read
   * both as one, and what the edge says must not be said by a visitor.
   */
  dropFrom(bytes: Buffer, head: Head): void {
    for (let l = 0; l < head.lineCount; l++) {
      const line = head.lines[l] as number;
      if (!this.isNamed(bytes, line) || isDropped(head, line)) continue;
      head.drop(line, head.lines[l + 1] as number);
    }
  }

  /** Whether it concerns this name, in lower case. */
  has(name: string): boolean {
    return this.#known.has(name);
  }

  /** Whether the line that begins at `bytes[line]` has one of the names. */
  isNamed(bytes: Buffer, line: number): boolean {
    for (const name of this.#names) {
      let i = 0;
      while (i < name.length && FOLD[bytes[line + i] as number] === name[i]) i++;
      if (i === name.length && bytes[line + i] === COLON) return true;
    }
    return false;
  }
}

/** Is this line left out already? */
export function isDropped(head: Head, line: number): boolean {
  for (let d = 0; d < head.dropCount; d++) if (head.drops[2 * d] === line) return true;
  return false;
}
