/**
 * The payload of one body as far as a record keeps it: copied up to a limit, counted to its end. The readers of the body give it each piece
 * (http1/body.ts, data/edge/h2/request-body.ts); it holds none of their bytes.
 */
import type { BodyTap } from '../../http1/body.ts';

/** Grows from so much on: bodies may come byte by byte. */
const FIRST_BYTES = 256;

/** Whose body it is: draft.ts. */
export interface CaptureOwner {
  /** A record is still being made. */
  readonly isOpen: boolean;
  readonly maxBodyBytes: number;
  /** False: there is no memory for so much more, and the record is given up. */
  grow(bytes: number): boolean;
  /** A fault of the capture: the record is given up, and nothing else. */
  failed(error: unknown): void;
}

export class BodyCapture implements BodyTap {
  /** Bytes of the whole body so far. */
  size = 0;
  readonly #owner: CaptureOwner;
  #bytes: Buffer | null = null;
  #length = 0;

  constructor(owner: CaptureOwner) {
    this.#owner = owner;
  }

  get isTruncated(): boolean {
    return this.#length < this.size;
  }

  get length(): number {
    return this.#length;
  }

  payload(bytes: Buffer, start: number, end: number): void {
    const owner = this.#owner;
    if (!owner.isOpen) return;
    this.size += end - start;
    const take = Math.min(end - start, owner.maxBodyBytes - this.#length);
    if (take <= 0) return;
    try {
      const target = this.#room(this.#length + take);
      if (target === null) return;
      bytes.copy(target, this.#length, start, start + take);
      this.#length += take;
    } catch (error) {
      owner.failed(error);
    }
  }

  /** What was kept, copied to `out` at `at`; returns where it ends. */
  copyTo(out: Buffer, at: number): number {
    return this.#bytes === null ? at : at + this.#bytes.copy(out, at, 0, this.#length);
  }

  drop(): void {
    this.#bytes = null;
    this.#length = 0;
  }

  #room(length: number): Buffer | null {
    const before = this.#bytes;
    const capacity = before?.length ?? 0;
    if (before !== null && capacity >= length) return before;
    const wanted = Math.min(this.#owner.maxBodyBytes, Math.max(length, 2 * capacity, FIRST_BYTES));
    if (!this.#owner.grow(wanted - capacity)) return null;
    const bytes = Buffer.allocUnsafeSlow(wanted);
    before?.copy(bytes, 0, 0, this.#length);
    this.#bytes = bytes;
    return bytes;
  }
}
