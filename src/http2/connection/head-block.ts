/** A block of fields that comes in several frames (RFC 9113 §6.10), put together in a buffer that connections have only meanwhile. */
import { copyInto } from './frame.ts';
import type { BufferPool } from './sending/out-buffer.ts';

const MAX_BYTES = 65_536;
const MAX_CONTINUATIONS = 8;
const NONE = Buffer.alloc(0);

export class HeadBlock {
  readonly #pool: BufferPool;
  #bytes: Buffer | null = null;
  #continuations = 0;
  length = 0;
  /** The stream whose block is not whole yet; 0: none. */
  id = 0;
  /** Of its HEADERS frame. */
  flags = 0;

  constructor(pool: BufferPool) {
    this.#pool = pool;
  }

  get bytes(): Buffer {
    return this.#bytes ?? NONE;
  }

  begin(id: number, flags: number): void {
    this.id = id;
    this.flags = flags;
    this.length = this.#continuations = 0;
    this.#bytes ??= this.#pool.takePiece(MAX_BYTES);
  }

  /** The next part. False: it is too much. */
  add(bytes: Buffer, start: number, end: number): boolean {
    if (this.length + end - start > MAX_BYTES || this.#continuations++ > MAX_CONTINUATIONS) return false;
    copyInto(this.bytes, this.length, bytes, start, end);
    this.length += end - start;
    return true;
  }

  close(): void {
    if (this.#bytes !== null) this.#pool.givePiece(this.#bytes);
    this.#bytes = null;
    this.id = 0;
  }
}
