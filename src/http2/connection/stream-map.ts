/**
 * The open streams of a connection by number. Numbers rise, and few are open at once: nearly always each has a slot of its own in a small ring, which
 * is five times as fast as a Map with its entries that come and go.
 */
import type { Http2ServerStream } from './stream.ts';

const FEWEST_SLOTS = 16;
const MOST_SLOTS = 256;

export class StreamMap {
  size = 0;
  #slots: Array<Http2ServerStream | null> = newSlots(FEWEST_SLOTS);
  /** Those whose slot was taken by one that has been open for long. */
  #others: Map<number, Http2ServerStream> | null = null;

  get(id: number): Http2ServerStream | undefined {
    const stream = this.#slots[this.#slotOf(id)] as Http2ServerStream | null;
    if (stream !== null && stream.id === id) return stream;
    return this.#others?.get(id);
  }

  add(stream: Http2ServerStream): void {
    this.size++;
    const slot = this.#slotOf(stream.id);
    if (this.#slots[slot] === null) this.#slots[slot] = stream;
    else if (this.size > this.#slots.length / 2 && this.#slots.length < MOST_SLOTS) this.#grow(stream);
    else (this.#others ??= new Map<number, Http2ServerStream>()).set(stream.id, stream);
  }

  /** False: it was not there. */
  delete(stream: Http2ServerStream): boolean {
    const slot = this.#slotOf(stream.id);
    if (this.#slots[slot] === stream) this.#slots[slot] = null;
    else if (this.#others?.delete(stream.id) !== true) return false;
    this.size--;
    return true;
  }

  all(): Http2ServerStream[] {
    const all = this.#slots.filter((stream) => stream !== null);
    if (this.#others !== null) all.push(...this.#others.values());
    return all;
  }

  /** As small as at first, when it is empty. */
  trim(): void {
    if (this.size > 0) return;
    this.#others = null;
    if (this.#slots.length > FEWEST_SLOTS) this.#slots = newSlots(FEWEST_SLOTS);
  }

  /** Those of clients are odd. */
  #slotOf(id: number): number {
    return (id >>> 1) & (this.#slots.length - 1);
  }

  #grow(more: Http2ServerStream): void {
    const all = this.all();
    this.#slots = newSlots(4 * this.#slots.length);
    this.#others = null;
    this.size = 0;
    for (const stream of all) this.add(stream);
    this.add(more);
  }
}

function newSlots(count: number): Array<Http2ServerStream | null> {
  return new Array<Http2ServerStream | null>(count).fill(null);
}
