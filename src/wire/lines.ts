/**
 * Cuts a byte stream into the lines of the control stream. Bounded: a line over the limit is an error, not a longer wait.
 */
import { isTooDeep } from '../base/json-depth.ts';
import { MAX_MESSAGE_BYTES } from './messages.ts';

const LF = 10;

/** The first part of a line that comes in parts; doubled as it grows. */
const FIRST_BYTES = 1_024;

export class LineReader {
  /** The line so far, joined: its parts may be single bytes. Let go of with the line. */
  #line: Buffer | null = null;
  #size = 0;
  readonly #onLine: (line: string) => void;
  #stopped = false;

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  /** Called while a line is handed over: `feed` returns behind it. */
  stop(): void {
    this.#stopped = true;
  }

  /**
   * Feeds `bytes[start, end)`, which may be reused afterwards. Returns up to where it has read: `end`, unless it was stopped; or -1 when a
   * line is too long or nested too deep: cut the peer off.
   */
  feed(bytes: Buffer, start: number, end: number): number {
    let from = start;
    this.#stopped = false;
    while (from < end && !this.#stopped) {
      // Not in all of the buffer: behind `end` there may be 256 KB of other streams, looked through for each byte that comes.
      const at = bytes.subarray(from, end).indexOf(LF);
      const to = at < 0 ? end : from + at;
      if (this.#size + (to - from) > MAX_MESSAGE_BYTES) return -1;
      if (to === end) {
        this.#keep(bytes, from, to);
        return end;
      }
      const whole = this.#whole(bytes, from, to);
      if (isTooDeep(whole)) return -1;
      this.#onLine(whole.toString('utf8'));
      from = to + 1;
    }
    return from;
  }

  #whole(bytes: Buffer, from: number, to: number): Buffer {
    if (this.#line === null) return bytes.subarray(from, to);
    this.#keep(bytes, from, to);
    const whole = this.#line.subarray(0, this.#size);
    this.#line = null;
    this.#size = 0;
    return whole;
  }

  #keep(bytes: Buffer, from: number, to: number): void {
    const size = this.#size + (to - from);
    if (this.#line === null || size > this.#line.length) {
      const grown = Buffer.allocUnsafeSlow(Math.min(MAX_MESSAGE_BYTES, Math.max(size, 2 * this.#size, FIRST_BYTES)));
      this.#line?.copy(grown, 0, 0, this.#size);
      this.#line = grown;
    }
    bytes.copy(this.#line, this.#size, from, to);
    this.#size = size;
  }
}

/** One message as the bytes of one line. JSON.stringify never emits a raw LF. */
export function encodeLine(message: object): Buffer {
  return Buffer.from(`${JSON.stringify(message)}\n`, 'utf8');
}
