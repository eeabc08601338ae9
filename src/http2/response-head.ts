/** The lines of a response's head, one by one and without the spans that are left out: what an encoder (encoder.ts) puts into a block. */
import type { Head } from '../http1/head.ts';

const USUAL_LINE = 1_024;

/** A line lies in `from[start, end)`, without its CR LF. One per process: read it before the next. */
export class ResponseLines {
  from: Buffer = Buffer.alloc(0);
  start = 0;
  end = 0;
  #bytes: Buffer = this.from;
  #head: Head | null = null;
  #line = 0;
  #drop = 0;
  /** Where a line is put together of which a part is left out. */
  #joined: Buffer = Buffer.allocUnsafeSlow(USUAL_LINE);

  begin(bytes: Buffer, head: Head): void {
    this.#bytes = bytes;
    this.#head = head;
    this.#line = this.#drop = 0;
  }

  /** False: there is none left. */
  next(): boolean {
    const head = this.#head as Head;
    const { drops, lines } = head;
    while (this.#line < head.lineCount) {
      const start = lines[this.#line] as number;
      const end = (lines[++this.#line] as number) - 2;
      if (this.#drop === head.dropCount || (drops[2 * this.#drop] as number) >= end) return this.#take(start, end);
      if (this.#isDropped(start, end)) continue;
      if (this.#join(start, end)) return true;
    }
    return false;
  }

  #take(start: number, end: number): true {
    this.from = this.#bytes;
    this.start = start;
    this.end = end;
    return true;
  }

  /** All of the line is left out, in one span. */
  #isDropped(start: number, end: number): boolean {
    const { drops } = this.#head as Head;
    if ((drops[2 * this.#drop] as number) > start || (drops[2 * this.#drop + 1] as number) < end) return false;
    this.#drop++;
    return true;
  }

  /** Puts together what is left of a line. False: nothing. */
  #join(start: number, end: number): boolean {
    const { drops, dropCount } = this.#head as Head;
    if (this.#joined.length < end - start) this.#joined = Buffer.allocUnsafeSlow(end - start);
    let from = start;
    let to = 0;
    while (this.#drop < dropCount && (drops[2 * this.#drop] as number) < end) {
      to += this.#bytes.copy(this.#joined, to, from, drops[2 * this.#drop]);
      from = drops[2 * this.#drop + 1] as number;
      this.#drop++;
    }
    if (from < end) to += this.#bytes.copy(this.#joined, to, from, end);
    this.from = this.#joined;
    this.start = 0;
    this.end = to;
    return to > 0;
  }
}
