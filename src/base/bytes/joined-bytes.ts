/**
 * Bytes that wait, joined as they come. They may come one by one, and an object for each of them would take a hundred times their memory, and a
 * queue of those a hundred microseconds for each that is taken out.
 */

/** Bytes are joined in pieces of this size. */
const PIECE_BYTES = 16_384;

/** Where pieces come from, and go when they are empty. */
export interface PieceSource {
  takePiece(size: number): Buffer;
  givePiece(piece: Buffer): void;
}

export class JoinedBytes {
  readonly #source: PieceSource | null;
  #full: Buffer[] = [];
  #last: Buffer | null = null;
  /** Bytes of `#last` that are filled. */
  #used = 0;
  /** Bytes of the oldest piece that were dropped. */
  #dropped = 0;

  /** `source`: for bytes that come and go all the time. Without one each piece is made for its bytes. */
  constructor(source: PieceSource | null = null) {
    this.#source = source;
  }

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
        this.#last = this.#source?.takePiece(PIECE_BYTES) ?? Buffer.allocUnsafeSlow(PIECE_BYTES);
        this.#used = 0;
      }
      const taken = Math.min(end - from, PIECE_BYTES - this.#used);
      this.#last.set(bytes.subarray(from, from + taken), this.#used);
      this.#used += taken;
      from += taken;
    }
  }

  /** Forgets the first `count` bytes of `first`, whose memory is used for others. */
  drop(count: number): void {
    const empty = this.#pass(count);
    if (empty !== null) this.#source?.givePiece(empty);
  }

  /** All of it, piece by piece, which are the caller's; nothing is left. */
  takeAll(): Buffer[] {
    const pieces: Buffer[] = [];
    for (let first = this.first; first !== undefined; first = this.first) {
      pieces.push(first);
      this.#pass(first.length);
    }
    return pieces;
  }

  clear(): void {
    if (this.#source !== null) {
      for (const piece of this.#full) this.#source.givePiece(piece);
      if (this.#last !== null) this.#source.givePiece(this.#last);
    }
    this.#full = [];
    this.#last = null;
    this.#dropped = 0;
  }

  /** Answers the piece that is empty by it. */
  #pass(count: number): Buffer | null {
    this.#dropped += count;
    const oldest = this.#full[0] ?? this.#last;
    if (oldest === null || this.#dropped < (oldest === this.#last ? this.#used : oldest.length)) return null;
    this.#dropped = 0;
    if (oldest === this.#last) this.#last = null;
    else this.#full.shift();
    return oldest;
  }
}
