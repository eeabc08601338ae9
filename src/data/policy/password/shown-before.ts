/**
 * The Authorization line that last allowed a visitor's connection, so that the same bytes again cost a comparison and no hashing: a
 * browser sends them with every request. One per connection; a step looks here after what must be asked each time.
 *
 * The line is kept in clear, as the buffer that it was read into has it, until the connection ends or shows another one.
 */
import type { Head } from '../../../http1/head.ts';

/** A longer line is decided by its hash each time: a connection is worth no more memory than this. */
const MAX_BYTES = 2_048;
const NOTHING = Buffer.alloc(0);

export class ShownBefore {
  #by: object | null = null;
  #line = NOTHING;
  #untilMs = 0;
  #isOwn = false;

  /**
   * Is line `l` of the head the one that this very step allowed? A changed gate or policy is another step. Compared in constant time:
   * behind a proxy a connection has many visitors.
   */
  isKnown(by: object, bytes: Buffer, head: Head, l: number, nowMs: number): boolean {
    if (this.#by !== by || nowMs >= this.#untilMs) return false;
    const line = this.#line;
    const start = head.lines[l] as number;
    if ((head.lines[l + 1] as number) - start !== line.length) return false;
    let differs = 0;
    for (let i = 0; i < line.length; i++) differs |= (line[i] as number) ^ (bytes[start + i] as number);
    return differs === 0;
  }

  /** Whether the line that is known holds a token to this server itself. */
  get isOwn(): boolean {
    return this.#isOwn;
  }

  /** The step has let line `l` in, and would for so long. */
  keep(
    by: object,
    bytes: Buffer,
    head: Head,
    l: number,
    of: { readonly untilMs: number; readonly isOwn: boolean },
  ): void {
    const start = head.lines[l] as number;
    const end = head.lines[l + 1] as number;
    if (end - start > MAX_BYTES) return;
    this.#by = by;
    this.#line = Buffer.from(bytes.subarray(start, end));
    this.#untilMs = of.untilMs;
    this.#isOwn = of.isOwn;
  }
}
