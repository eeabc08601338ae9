/**
 * JSON set out over lines, as pieces with a kind each for their colour. It is the sender's own text: numbers, repeated names and escapes stay as they
 * came, for what is read and written again says something else (1e400, 12345678901234567890).
 */

export interface Piece {
  readonly kind: 'plain' | 'name' | 'text' | 'number' | 'word';
  readonly text: string;
}

/** Beyond these the rest is one plain piece, or left out: a page has to draw each of them. */
const MAX_PIECES = 12_000;
const MAX_CHARACTERS = 400_000;
/** What lies deeper is set no further to the right: a body of brackets alone would become gigabytes of blanks. */
const MAX_INDENT = 32;
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{},:]|[^\s[\]{},:"]+/g;

export interface SetOut {
  readonly pieces: readonly Piece[];
  /** The end was left out. */
  readonly isCut: boolean;
}

/** Undefined: it is no JSON. */
export function setOutJson(text: string): SetOut | undefined {
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  return new Setter().run(text);
}

class Setter {
  readonly #pieces: Piece[] = [];
  #plain = '';
  #length = 0;
  #depth = 0;

  run(text: string): SetOut {
    const tokens = text.matchAll(TOKEN);
    let before = '';
    let isCut = false;
    for (const { 0: token, index } of tokens) {
      if (this.#length > MAX_CHARACTERS) {
        isCut = true;
        break;
      }
      this.#put(token, before, () => isName(text, index + token.length));
      before = token;
    }
    this.#flush();
    return { pieces: this.#pieces, isCut };
  }

  #put(token: string, before: string, named: () => boolean): void {
    if (token === '}' || token === ']') {
      this.#depth--;
      // Nothing in between: it stays on its line.
      if (before !== '{' && before !== '[') this.#line();
      return this.#add('plain', token);
    }
    if (before === '{' || before === '[' || before === ',') this.#line();
    if (token === '{' || token === '[') this.#depth++;
    this.#add(kindOf(token, named), token);
    if (token === ':') this.#add('plain', ' ');
  }

  #line(): void {
    this.#add('plain', `\n${'  '.repeat(Math.min(this.#depth, MAX_INDENT))}`);
  }

  #add(kind: Piece['kind'], text: string): void {
    this.#length += text.length;
    if (kind === 'plain' || this.#pieces.length >= MAX_PIECES) {
      this.#plain += text;
      return;
    }
    this.#flush();
    this.#pieces.push({ kind, text });
  }

  #flush(): void {
    if (this.#plain !== '') this.#pieces.push({ kind: 'plain', text: this.#plain });
    this.#plain = '';
  }
}

function kindOf(token: string, named: () => boolean): Piece['kind'] {
  const [first = ''] = token;
  if (first === '"') return named() ? 'name' : 'text';
  if ('[]{},:'.includes(first)) return 'plain';
  return first === '-' || (first >= '0' && first <= '9') ? 'number' : 'word';
}

/** Does a colon follow? */
function isName(text: string, from: number): boolean {
  let at = from;
  while (at < text.length && ' \t\r\n'.includes(text[at] as string)) at++;
  return text[at] === ':';
}
