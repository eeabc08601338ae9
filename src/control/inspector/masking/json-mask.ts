/**
 * Masks values in a JSON text, byte by byte: numbers, blanks and order stay as they were, and a text that was cut is masked as far as it goes.
 * Where it is no JSON the rest is left out, for what is masked there is unknown. Called by body-mask.ts, and by mask-frames.ts, which also has the
 * strings inside opened: SockJS sends its messages in such.
 */
import { MASK } from '../../core/rules/recorded-head.ts';
import { follow, type JsonPath, type Places, START } from './json-path.ts';

/** JSON.parse takes more; what is deeper is left out. */
const MAX_DEPTH = 200;
const MASKED = Buffer.from(JSON.stringify(MASK));

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COLON = 0x3a;
const COMMA = 0x2c;
/** Blanks of JSON, and what stands between texts of a sequence (RFC 7464). */
const BLANKS = new Set([0x20, 0x09, 0x0a, 0x0d, 0x1e]);
/** Of numbers and of true, false and null. */
const SCALAR = /[-+.0-9A-Za-z]/;
const IS_SCALAR = Array.from({ length: 256 }, (_, byte) => SCALAR.test(String.fromCharCode(byte)) && byte < 128);
const WORD = /^(true|false|null|-?\d+(\.\d+)?([eE][+-]?\d+)?)$/;
/** May begin JSON, plain or escaped. */
const BRACKET = /[[{]|\\u00[57]b/i;
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);

export interface MaskedText {
  readonly bytes: Buffer;
  /** Places in the list of paths. */
  readonly hit: ReadonlySet<number>;
  /** All of the text is JSON, and is there. */
  readonly isWhole: boolean;
  /** Some of the text was left out. */
  readonly isCut: boolean;
}

/** What becomes of a string with a bracket in it: it stays, is masked as a message, or ends the text. */
type Strings = 'kept' | 'opened' | 'left out';

/** One text, or several behind one another (NDJSON). */
export function maskJson(text: Buffer, paths: readonly JsonPath[]): MaskedText {
  return new Scan(text, paths, 'kept').run();
}

/**
 * A message: all from the first bracket on is read as JSON, and each string inside likewise as a message of its own. What has a bracket in a
 * string of such a string is left out. Undefined: there is no bracket in it.
 */
export function maskMessage(
  message: Buffer,
  paths: readonly JsonPath[],
  strings: Strings = 'opened',
): MaskedText | undefined {
  const start = bracketIn(message);
  if (start < 0) return undefined;
  const masked = new Scan(message.subarray(start), paths, strings).run();
  return { ...masked, bytes: Buffer.concat([message.subarray(0, start), masked.bytes]) };
}

function bracketIn(bytes: Buffer): number {
  return bytes.toString('latin1').search(BRACKET);
}

/** Thrown inside of a scan: the text ends here, or is no JSON from here on. */
class Stop extends Error {
  readonly keepTo: number;

  constructor(keepTo: number) {
    super();
    this.keepTo = keepTo;
  }
}

type Following = readonly Places[];

class Scan {
  readonly #text: Buffer;
  readonly #paths: readonly JsonPath[];
  readonly #none: Following;
  readonly #out: Buffer[] = [];
  readonly #hit = new Set<number>();
  readonly #strings: Strings;
  #at = 0;
  /** Inside of a value that is masked: nothing of it is shown. */
  #isHidden = false;
  /** A string inside was cut. */
  #isCut = false;
  /** From here on the text has not gone to `#out`. */
  #kept = 0;

  constructor(text: Buffer, paths: readonly JsonPath[], strings: Strings) {
    this.#text = text;
    this.#paths = paths;
    this.#strings = strings;
    this.#none = paths.map(() => []);
  }

  run(): MaskedText {
    if (this.#text.subarray(0, 3).equals(BOM)) this.#at = 3;
    let keepTo: number | undefined;
    try {
      for (this.#blanks(); this.#at < this.#text.length; this.#blanks()) {
        this.#value(
          this.#paths.map(() => START),
          0,
        );
      }
      this.#keep(this.#text.length);
    } catch (error) {
      if (!(error instanceof Stop)) throw error;
      ({ keepTo } = error);
      this.#keep(keepTo);
    }
    const isWhole = keepTo === undefined;
    const isCut = this.#isCut || (keepTo !== undefined && keepTo < this.#text.length);
    return { bytes: Buffer.concat(this.#out), hit: this.#hit, isWhole, isCut };
  }

  #value(following: Following, depth: number): void {
    this.#blanks();
    const byte = this.#text[this.#at];
    if (byte === undefined) throw new Stop(this.#at);
    if (byte === OPEN_BRACE) this.#container(following, depth + 1, CLOSE_BRACE);
    else if (byte === OPEN_BRACKET) this.#container(following, depth + 1, CLOSE_BRACKET);
    else if (byte === QUOTE) this.#stringValue();
    else this.#scalar();
  }

  #container(following: Following, depth: number, close: number): void {
    if (depth > MAX_DEPTH) throw new Stop(this.#at);
    this.#at += 1;
    this.#blanks();
    if (this.#text[this.#at] === close) {
      this.#at += 1;
      return;
    }
    for (let index = 0; ; index++) {
      const key = close === CLOSE_BRACE ? this.#key(following) : index;
      this.#member(following, key, depth);
      this.#blanks();
      const byte = this.#text[this.#at];
      if (byte !== COMMA && byte !== close) throw new Stop(this.#at);
      this.#at += 1;
      if (byte === close) return;
    }
  }

  /** The value of a name, or at an index. */
  #member(following: Following, key: string | number, depth: number): void {
    const next =
      following === this.#none
        ? following
        : following.map((places, i) => follow(this.#paths[i] as JsonPath, places, key));
    const hits = next.flatMap((places, i) => (places.includes((this.#paths[i] as JsonPath).length) ? [i] : []));
    if (hits.length === 0) {
      this.#value(next.some((places) => places.length > 0) ? next : this.#none, depth);
      return;
    }
    this.#blanks();
    if (this.#at >= this.#text.length) throw new Stop(this.#at);
    for (const hit of hits) this.#hit.add(hit);
    this.#keep(this.#at);
    this.#out.push(MASKED);
    try {
      this.#isHidden = true;
      this.#value(this.#none, depth);
      this.#isHidden = false;
      this.#kept = this.#at;
    } catch (error) {
      if (error instanceof Stop) throw new Stop(this.#kept);
      throw error;
    }
  }

  #key(following: Following): string {
    this.#blanks();
    const start = this.#at;
    if (this.#text[start] !== QUOTE) throw new Stop(start);
    this.#string();
    const end = this.#at;
    this.#blanks();
    if (this.#text[this.#at] !== COLON) throw new Stop(start);
    this.#at += 1;
    return following === this.#none ? '' : keyOf(this.#text.toString('utf8', start, end), start);
  }

  #stringValue(): void {
    const start = this.#at;
    const end = this.#stringEnd();
    const bracket = this.#strings === 'kept' || this.#isHidden ? -1 : bracketIn(this.#text.subarray(start, end));
    if (bracket >= 0 && (end === undefined || this.#strings === 'left out')) throw new Stop(start + bracket);
    if (end === undefined) throw new Stop(this.#text.length);
    this.#at = end;
    if (bracket >= 0) this.#maskString(start, start + bracket);
  }

  /** The string from `start` to here. */
  #maskString(start: number, bracket: number): void {
    const text = unquoted(this.#text.toString('utf8', start, this.#at), bracket);
    const masked = maskMessage(Buffer.from(text), this.#paths, 'left out');
    if (masked === undefined || (masked.hit.size === 0 && !masked.isCut)) return;
    for (const hit of masked.hit) this.#hit.add(hit);
    this.#isCut ||= masked.isCut;
    this.#keep(start);
    this.#out.push(Buffer.from(JSON.stringify(masked.bytes.toString())));
    this.#kept = this.#at;
  }

  #string(): void {
    const end = this.#stringEnd();
    if (end === undefined) throw new Stop(this.#text.length);
    this.#at = end;
  }

  /** Behind its closing quote; undefined: it has none. */
  #stringEnd(): number | undefined {
    const text = this.#text;
    for (let at = this.#at + 1; at < text.length; at++) {
      const byte = text[at];
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) return at + 1;
    }
    return undefined;
  }

  #scalar(): void {
    const start = this.#at;
    while (IS_SCALAR[this.#text[this.#at] ?? 0] === true) this.#at += 1;
    if (!WORD.test(this.#text.toString('latin1', start, this.#at))) throw new Stop(start);
  }

  #blanks(): void {
    while (BLANKS.has(this.#text[this.#at] as number)) this.#at += 1;
  }

  #keep(to: number): void {
    if (to > this.#kept) this.#out.push(this.#text.subarray(this.#kept, to));
    this.#kept = Math.max(this.#kept, to);
  }
}

function keyOf(quoted: string, at: number): string {
  return quoted.includes('\\') ? unquoted(quoted, at) : quoted.slice(1, -1);
}

/** Throws `Stop` at `at` where it is no string of JSON. */
function unquoted(quoted: string, at: number): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    throw new Stop(at);
  }
}
