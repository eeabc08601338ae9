/**
 * The beginning of one body, copied while it passes, and its true size. What passes is never held: bytes are copied or let go.
 * Filled by stream-tap.ts, read by request-view.ts and replay.ts.
 */

/** Of one body. More is rarely looked at, and a record has two. */
export const MAX_BODY_BYTES = 65_536;
const FIRST_BYTES = 1_024;
const EMPTY = Buffer.alloc(0);

export class BodyCapture {
  /** Payload bytes that have passed. */
  size = 0;
  #room: Buffer = EMPTY;
  #length = 0;
  #closed = false;

  /** What is kept. Never changed again, but longer at the next call while the body is under way. */
  get bytes(): Buffer {
    return this.#room.subarray(0, this.#length);
  }

  /** More has passed than is kept. */
  get truncated(): boolean {
    return this.size > this.#length;
  }

  /** Memory that it holds. */
  get held(): number {
    return this.#room.length;
  }

  /** `bytes[start, end)` of the payload pass. */
  add(bytes: Buffer, start: number, end: number): void {
    const isGap = this.truncated || this.#closed;
    this.size += end - start;
    // Behind a gap nothing is kept: the copy is the body's beginning.
    if (isGap) return;
    const take = Math.min(end - start, MAX_BODY_BYTES - this.#length);
    if (this.#length + take > this.#room.length) this.#grow(this.#length + take);
    bytes.copy(this.#room, this.#length, start, start + take);
    this.#length += take;
  }

  /** No more is kept, and room that was not needed is given back. */
  close(): void {
    this.#closed = true;
    if (this.#room.length > this.#length) this.#room = Buffer.from(this.bytes);
  }

  /** Nothing is kept any more; what passes is only counted. */
  drop(): void {
    this.#closed = true;
    this.#room = EMPTY;
    this.#length = 0;
  }

  #grow(need: number): void {
    // Small bodies out of a pool would pin a pool each.
    const room = Buffer.allocUnsafeSlow(Math.min(MAX_BODY_BYTES, Math.max(FIRST_BYTES, need, this.#room.length * 2)));
    this.#room.copy(room, 0, 0, this.#length);
    this.#room = room;
  }
}
