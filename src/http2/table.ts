/**
 * Dynamic table of one direction of a connection (RFC 7541 §2.3.2, §4). It holds whole lines `name: value CRLF` in bytes, so that an indexed field
 * is one copy. Made when the first entry comes: a connection that adds none has no memory for it; one of a browser takes 2 to 9 KB.
 */
import { copy } from './primitives.ts';

/** Without a word of the peer (RFC 9113 §6.5.2), and the most that we take part in. */
export const TABLE_BYTES = 4_096;
/** What an entry costs beside its name and value (RFC 7541 §4.1). Our lines have 4 bytes more than these. */
const ENTRY_BYTES = 32;
const LINE_BYTES = 4;
/** Room for entries: at first, and the most that can be in 4,096 bytes. */
const FEW = 32;
const MOST = TABLE_BYTES / ENTRY_BYTES;
/** Room for lines: at first, and the most: twice what can be alive, so that moving them costs no more than writing them did. */
const LITTLE_ROOM = 1_024;
const MOST_ROOM = 2 * TABLE_BYTES;

const NO_BYTES = Buffer.alloc(0);
const NO_ENTRIES = new Uint16Array(0);

/** What `entries` has of each from its place on: where its line begins, its name and its line end in `bytes`, and what it was added with. */
export const START = 0;
export const NAME_END = 1;
export const END = 2;
export const TAG = 3;
const PLACES = 4;

export class Table {
  /** Rises with all that changes what an index means. */
  version = 0;
  /** Entries that are in it. */
  length = 0;
  /** Where the lines are; good until the next `add`. */
  bytes: Buffer = NO_BYTES;
  /** A ring, the newest at `#newest` and older ones before it: four numbers of each. */
  entries = NO_ENTRIES;
  #max = TABLE_BYTES;
  #size = 0;
  #newest = 0;
  #free = 0;

  /** As RFC 7541 counts, of which `size` is in use. */
  get max(): number {
    return this.#max;
  }

  get size(): number {
    return this.#size;
  }

  /** Where the entry `number` is in `entries`: 0 is the newest. Good until the next `add`. */
  placeOf(number: number): number {
    return (this.#newest - number * PLACES) & (this.entries.length - 1);
  }

  /** The newest entry with this tag, from `number` on; or -1. */
  find(tag: number, number: number): number {
    for (let n = number; n < this.length; n++) if (this.entries[this.placeOf(n) + TAG] === tag) return n;
    return -1;
  }

  resize(max: number): void {
    this.#max = max;
    this.version++;
    while (this.#size > max) this.#evict();
  }

  /** Adds the line `from[start, end)`, whose name ends at `nameEnd`; one that is longer than the table empties it (RFC 7541 §4.4). */
  add(from: Buffer, start: number, nameEnd: number, end: number, tag: number): void {
    this.version++;
    const length = end - start;
    const cost = length - LINE_BYTES + ENTRY_BYTES;
    while (this.#size > 0 && this.#size + cost > this.#max) this.#evict();
    if (cost > this.#max) return;
    if ((this.length + 1) * PLACES > this.entries.length) this.#growEntries();
    if (this.#free + length > this.bytes.length) this.#makeRoom(length);
    this.length++;
    this.#newest = (this.#newest + PLACES) & (this.entries.length - 1);
    const place = this.#newest;
    const at = this.#free;
    this.#free = copy(from, start, end, this.bytes, at);
    this.entries[place + START] = at;
    this.entries[place + NAME_END] = at + nameEnd - start;
    this.entries[place + END] = this.#free;
    this.entries[place + TAG] = tag;
    this.#size += cost;
  }

  #evict(): void {
    const oldest = this.placeOf(--this.length);
    const bytes = (this.entries[oldest + END] as number) - (this.entries[oldest + START] as number);
    this.#size -= bytes - LINE_BYTES + ENTRY_BYTES;
    if (this.length === 0) this.#free = 0;
  }

  #growEntries(): void {
    const entries = new Uint16Array(PLACES * (this.entries.length === 0 ? FEW : MOST));
    for (let number = 0; number < this.length; number++) {
      const place = this.placeOf(number);
      entries.set(this.entries.subarray(place, place + PLACES), (this.length - 1 - number) * PLACES);
    }
    this.entries = entries;
    this.#newest = this.length === 0 ? 0 : (this.length - 1) * PLACES;
  }

  /** Moves the lines to the start of the buffer, or of a longer one. */
  #makeRoom(length: number): void {
    const from = this.length === 0 ? this.#free : (this.entries[this.placeOf(this.length - 1) + START] as number);
    const used = this.#free - from;
    let room = Math.max(LITTLE_ROOM, this.bytes.length);
    while (room < MOST_ROOM && (used + length) * 2 > room) room *= 2;
    const target = room > this.bytes.length ? Buffer.allocUnsafeSlow(room) : this.bytes;
    this.bytes.copy(target, 0, from, this.#free);
    this.bytes = target;
    this.#free = used;
    for (let number = 0; number < this.length; number++) {
      const place = this.placeOf(number);
      for (let p = place; p < place + TAG; p++) this.entries[p] = (this.entries[p] as number) - from;
    }
  }
}
