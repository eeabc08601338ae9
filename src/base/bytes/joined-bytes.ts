/**
 * Bytes that wait, joined as they come. They may come one by one, and an object for each of them would take a hundred times their memory, and a
 * queue of those a hundred microseconds for each that is taken out.
 */

/** Bytes are joined in pieces of this size. */
const PIECE_BYTES = 16_384;

export class JoinedBytes {
  #full: Buffer[] = [];
  #last: Buffer | null = null;
  /** Bytes of `#last` that are filled. */
  #used = 0;
  /** Bytes of the oldest piece that were dropped. */
  #dropped = 0;

  /** What it takes of the memory. */
  get heldBytes(): number {
    return (this.#full.length + (this.#last === null ? 0 : 1)) * PIECE_BYTES;
  }

  /** The oldest bytes, as far as they lie in one piece; undefined: there are none. */
  get first(): Buffer | undefined {
    return (this.#full[0] ?? this.#last?.subarray(0, this.#used))?.subarray(this.#dropped);
  }

  /** Copies `bytes[start, end)`. */
  add(bytes: Uint8Array, start: number, end: number): void {
    for (let from = start; from < end; ) {
      if (this.#last !== null && this.#used === PIECE_BYTES) {
        this.#full.push(this.#last);
        this.#last = null;
      }
      if (this.#last === null) {
        this.#last = Buffer.allocUnsafeSlow(PIECE_BYTES);
        this.#used = 0;
      }
      const taken = Math.min(end - from, PIECE_BYTES - this.#used);
      this.#last.set(bytes.subarray(from, from + taken), this.#used);
      this.#used += taken;
      from += taken;
    }
  }

  /** Forgets the first `count` bytes of `first`. */
  drop(count: number): void {
    this.#dropped += count;
    const oldest = this.#full[0];
    if (this.#dropped < (oldest === undefined ? this.#used : oldest.length)) return;
    this.#dropped = 0;
    if (oldest === undefined) this.#last = null;
    else this.#full.shift();
  }

  /** All of it, piece by piece; nothing is left. */
  takeAll(): Buffer[] {
    const pieces: Buffer[] = [];
    for (let first = this.first; first !== undefined; first = this.first) {
      pieces.push(first);
      this.drop(first.length);
    }
    return pieces;
  }

  clear(): void {
    this.#full = [];
    this.#last = null;
    this.#dropped = 0;
  }
}
