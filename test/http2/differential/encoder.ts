/** Writes header blocks in all the ways that HPACK has, by chance: indices, literals of each kind, Huffman or not, table sizes. */
import { type Field, type Indexing, indexed, literal, staticName, tableSize } from '../hpack.ts';

const STATIC_ENTRIES = 61;
const DEFAULT_TABLE = 4_096;
const ENTRY_BYTES = 32;
const INDEXINGS: readonly Indexing[] = ['add', 'add', 'none', 'never'];
const SIZES = [0, 40, 200, 1_000, DEFAULT_TABLE];
/** In the static table with a value. */
const WHOLE_ENTRIES: Readonly<Record<string, number>> = {
  ':method GET': 2,
  ':method POST': 3,
  ':path /': 4,
  ':scheme http': 6,
  ':scheme https': 7,
  'accept-encoding gzip, deflate': 16,
};

export type Pick = (below: number) => number;

/** The encoder of one connection: it knows what the table of its peer holds. */
export class RandomEncoder {
  readonly #pick: Pick;
  readonly #table: Field[] = [];
  #most = DEFAULT_TABLE;

  constructor(pick: Pick) {
    this.#pick = pick;
  }

  encode(fields: readonly Field[]): Buffer {
    const sizes: Buffer[] = [];
    while (this.#pick(30) === 0) sizes.push(this.#resize(SIZES[this.#pick(SIZES.length)] as number));
    return Buffer.concat([...sizes, ...fields.map((field) => this.#one(field))]);
  }

  #one(field: Field): Buffer {
    const [name, value] = field;
    const whole = WHOLE_ENTRIES[`${name} ${value}`];
    if (whole !== undefined && this.#pick(3) > 0) return indexed(whole);
    const known = this.#table.findIndex((entry) => entry[0] === name && entry[1] === value);
    if (known >= 0 && this.#pick(4) > 0) return indexed(STATIC_ENTRIES + 1 + known);
    const indexing = INDEXINGS[this.#pick(INDEXINGS.length)] as Indexing;
    const bytes = literal(indexing, this.#nameOf(name), value, this.#pick(2) === 0);
    if (indexing === 'add') this.#table.unshift(field);
    this.#evict();
    return bytes;
  }

  #nameOf(name: string): number | string {
    if (this.#pick(4) === 0) return name;
    const index = staticName(name);
    if (index > 0) return index;
    const known = this.#table.findIndex((entry) => entry[0] === name);
    return known < 0 ? name : STATIC_ENTRIES + 1 + known;
  }

  #resize(most: number): Buffer {
    this.#most = most;
    this.#evict();
    return tableSize(most);
  }

  #evict(): void {
    const bytes = (): number =>
      this.#table.reduce((sum, [name, value]) => sum + name.length + value.length + ENTRY_BYTES, 0);
    while (bytes() > this.#most) this.#table.pop();
  }
}
