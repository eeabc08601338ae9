/**
 * Cuts a byte stream into the lines of the control stream. Bounded: a line over the limit is an error, not a longer wait.
 */
import { isTooDeep } from '../base/json-depth.ts';
import { MAX_MESSAGE_BYTES } from './messages.ts';

const LF = 10;

export class LineReader {
  #parts: Buffer[] = [];
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
      const at = bytes.indexOf(LF, from);
      const to = at < 0 || at >= end ? end : at;
      if (this.#size + (to - from) > MAX_MESSAGE_BYTES) return -1;
      if (to > from) {
        this.#parts.push(Buffer.from(bytes.subarray(from, to)));
        this.#size += to - from;
      }
      if (to === end) return end;
      const whole = Buffer.concat(this.#parts, this.#size);
      this.#parts = [];
      this.#size = 0;
      if (isTooDeep(whole)) return -1;
      this.#onLine(whole.toString('utf8'));
      from = to + 1;
    }
    return from;
  }
}

/** One message as the bytes of one line. JSON.stringify never emits a raw LF. */
export function encodeLine(message: object): Buffer {
  return Buffer.from(`${JSON.stringify(message)}\n`, 'utf8');
}
