/**
 * Numbers of the tunnels and private networks of one agent session. A number that was given back is the last to be given again: a stream that was
 * opened for the old tunnel, and a line about it, may still be under way, and must not meet another tunnel under its number.
 */

const SLOTS = 0x1_0000;

export class SlotMap<T> {
  readonly #bySlot = new Map<number, T>();
  #next = 0;

  get size(): number {
    return this.#bySlot.size;
  }

  /** The next free number. The caller keeps `size` below 65,536. */
  take<Kind extends T>(make: (slot: number) => Kind): Kind {
    while (this.#bySlot.has(this.#next)) this.#next = (this.#next + 1) % SLOTS;
    const slot = this.#next;
    this.#next = (slot + 1) % SLOTS;
    const value = make(slot);
    this.#bySlot.set(slot, value);
    return value;
  }

  get(slot: number): T | undefined {
    return this.#bySlot.get(slot);
  }

  /** Gives the number back, if `value` still has it. */
  free(slot: number, value: T): boolean {
    return this.#bySlot.get(slot) === value && this.#bySlot.delete(slot);
  }

  values(): IterableIterator<T> {
    return this.#bySlot.values();
  }
}
