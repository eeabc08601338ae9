/**
 * Finds the line on which each key of a TOML text stands. The TOML parser gives positions for syntax errors only, and a person with a
 * wrong value wants the line too. Called by load.ts after the text has parsed without error: this walk trusts the syntax and never throws.
 */

/** Path of a key as one string, for use in a map. */
export function pathKey(path: readonly PropertyKey[]): string {
  return JSON.stringify(path.map(String));
}

/** Lines by path: `lines.get(pathKey(['edge', 'tls', 'mode']))`. Tables and array items have lines too. */
export type KeyLines = ReadonlyMap<string, number>;

/** The line of the path, or of its nearest parent that stands in the text; undefined when none does. */
export function lineOf(lines: KeyLines, path: readonly PropertyKey[]): number | undefined {
  for (let length = path.length; length > 0; length--) {
    const line = lines.get(pathKey(path.slice(0, length)));
    if (line !== undefined) return line;
  }
  return undefined;
}

/** The line of each key in a valid TOML text, counted from 1. The first mention counts. */
export function locateKeys(text: string): KeyLines {
  return new Walk(text).run();
}

const SPACE = /[ \t\r\n]/;
const BARE = /[^\s=.,#[\]{}]/;

class Walk {
  readonly #text: string;
  readonly #lines = new Map<string, number>();
  readonly #arrayLengths = new Map<string, number>();
  #at = 0;
  #line = 1;
  #table: string[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  run(): KeyLines {
    for (;;) {
      this.#skipBlank();
      if (this.#at >= this.#text.length) return this.#lines;
      const before = this.#at;
      if (this.#peek() === '[') this.#header();
      else this.#pair(this.#table);
      if (this.#at === before) this.#step(); // Not TOML: go on, for an answer without a line is better than none.
    }
  }

  #peek(ahead = 0): string {
    return this.#text[this.#at + ahead] ?? '';
  }

  #step(count = 1): void {
    for (let i = 0; i < count; i++) {
      if (this.#text[this.#at] === '\n') this.#line++;
      this.#at++;
    }
  }

  #skipBlank(): void {
    for (;;) {
      if (SPACE.test(this.#peek())) this.#step();
      else if (this.#peek() === '#') while (this.#at < this.#text.length && this.#peek() !== '\n') this.#step();
      else return;
    }
  }

  #record(base: readonly string[], path: readonly string[]): void {
    for (let length = 1; length <= path.length; length++) {
      const key = pathKey([...base, ...path.slice(0, length)]);
      if (!this.#lines.has(key)) this.#lines.set(key, this.#line);
    }
  }

  /** `[a.b]` or `[[a.b]]`: what follows belongs there. An item of an array of tables is addressed by its index. */
  #header(): void {
    const isArray = this.#peek(1) === '[';
    this.#step(isArray ? 2 : 1);
    this.#skipBlank();
    const path = this.#resolve(this.#key());
    this.#record([], path);
    this.#table = path;
    if (isArray) {
      const index = this.#arrayLengths.get(pathKey(path)) ?? 0;
      this.#arrayLengths.set(pathKey(path), index + 1);
      this.#table = [...path, String(index)];
      this.#record([], this.#table);
    }
    this.#skipBlank();
    this.#step(isArray ? 2 : 1);
  }

  /** A header under an array of tables means its last item. */
  #resolve(path: readonly string[]): string[] {
    const out: string[] = [];
    path.forEach((part, i) => {
      out.push(part);
      const length = this.#arrayLengths.get(pathKey(out));
      if (length !== undefined && i < path.length - 1) out.push(String(length - 1));
    });
    return out;
  }

  #pair(base: readonly string[]): void {
    const key = this.#key();
    this.#record(base, key);
    this.#skipBlank();
    if (this.#peek() === '=') this.#step();
    this.#skipBlank();
    this.#value([...base, ...key]);
  }

  #key(): string[] {
    const parts: string[] = [];
    for (;;) {
      this.#skipBlank();
      const quote = this.#peek();
      if (quote === '"' || quote === "'") parts.push(this.#string());
      else parts.push(this.#bare());
      this.#skipBlank();
      if (this.#peek() !== '.') return parts;
      this.#step();
    }
  }

  #bare(): string {
    const start = this.#at;
    while (BARE.test(this.#peek())) this.#step();
    return this.#text.slice(start, this.#at);
  }

  #value(path: readonly string[]): void {
    const first = this.#peek();
    if (first === '"' || first === "'") this.#string();
    else if (first === '[') this.#array(path);
    else if (first === '{') this.#inlineTable(path);
    // A number, date or boolean ends where the next item, bracket or comment begins; a date may hold a space, never a bracket.
    else while (this.#at < this.#text.length && !/[,\]}#\n]/.test(this.#peek())) this.#step();
  }

  #array(path: readonly string[]): void {
    this.#step();
    for (let index = 0; this.#at < this.#text.length; index++) {
      this.#skipBlank();
      if (this.#peek() === ']') break;
      this.#record(path, [String(index)]);
      this.#value([...path, String(index)]);
      this.#skipBlank();
      if (this.#peek() === ',') this.#step();
      else break;
    }
    this.#skipBlank();
    this.#step();
  }

  #inlineTable(path: readonly string[]): void {
    this.#step();
    for (;;) {
      this.#skipBlank();
      if (this.#at >= this.#text.length || this.#peek() === '}') break;
      this.#pair(path);
      this.#skipBlank();
      if (this.#peek() === ',') this.#step();
      else break;
    }
    this.#skipBlank();
    this.#step();
  }

  /** Any of the four kinds of string; the result is right for keys, which are never multi-line. */
  #string(): string {
    const quote = this.#peek();
    const long = this.#peek(1) === quote && this.#peek(2) === quote;
    const close = long ? quote.repeat(3) : quote;
    this.#step(close.length);
    const start = this.#at;
    while (this.#at < this.#text.length && !this.#text.startsWith(close, this.#at)) {
      this.#step(quote === '"' && this.#peek() === '\\' ? 2 : 1);
    }
    // A long string may end in up to two quotes of its own: `""""` closes one character later.
    if (long) while (this.#text[this.#at + 3] === quote) this.#step();
    const inner = this.#text.slice(start, this.#at);
    this.#step(close.length);
    return quote === '"' && !long ? unescapeKey(inner) : inner;
  }
}

function unescapeKey(text: string): string {
  const plain: Record<string, string> = { b: '\b', t: '\t', n: '\n', f: '\f', r: '\r', e: '\u001b' };
  return text.replace(/\\(?:u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|x[0-9a-fA-F]{2}|.)/g, (escape) => {
    const letter = escape.charAt(1);
    if (escape.length > 2) return String.fromCodePoint(Number.parseInt(escape.slice(2), 16));
    return plain[letter] ?? letter;
  });
}
