/**
 * A head that the end of a read has cut, while its rest is awaited. What comes is added without reading all of it again: byte by byte, 32 KB cost
 * two seconds of processor time otherwise, at an attacker's will. Used by visitor.ts and response.ts, which make one when they
 * first need it.
 */

const LF = 10;
const CR = 13;
const MIN_ROOM = 512;

export class CutHead {
  readonly #limit: number;
  readonly #until: 'line' | 'empty line';
  /** What `held` lies at the start of. */
  #room: Buffer | null = null;
  #held: Buffer | null = null;

  /** `limit`: bytes of a head; with more it has to be looked at, as when a line has ended, or only when an empty one has come. */
  constructor(limit: number, until: 'line' | 'empty line' = 'line') {
    this.#limit = limit;
    this.#until = until;
  }

  /** A copy of `bytes[start, end)`, the beginning of a head. */
  keep(bytes: Buffer, start: number, end: number): Buffer {
    this.#room = Buffer.allocUnsafeSlow(Math.max(MIN_ROOM, 2 * (end - start)));
    bytes.copy(this.#room, 0, start, end);
    this.#held = this.#room.subarray(0, end - start);
    return this.#held;
  }

  /**
   * `held`, which `keep` or this has returned, and `bytes[start, end)` behind it. Null, and all is forgotten: it may be whole now, or is too
   * long; or `held` is something else.
   */
  add(held: Buffer, bytes: Buffer, start: number, end: number): Buffer | null {
    const length = held.length + end - start;
    const isOwn = held === this.#held && this.#room !== null;
    if (!isOwn || length > this.#limit || this.#mayEnd(held, bytes.subarray(start, end))) {
      this.#room = this.#held = null;
      return null;
    }
    if (length > (this.#room as Buffer).length) return this.#grow(held, bytes.subarray(start, end));
    const room = this.#room as Buffer;
    bytes.copy(room, held.length, start, end);
    this.#held = room.subarray(0, length);
    return this.#held;
  }

  #mayEnd(held: Buffer, more: Buffer): boolean {
    const isBlank = this.#until === 'empty line';
    for (let at = more.indexOf(LF); at >= 0; at = more.indexOf(LF, at + 1)) {
      if (!isBlank) return true;
      // LF behind LF, or behind CR behind LF: some of it may lie in what is held.
      const before = (back: number): number | undefined =>
        at - back >= 0 ? more[at - back] : held[held.length + at - back];
      if (before(1) === LF || (before(1) === CR && before(2) === LF)) return true;
    }
    return false;
  }

  #grow(held: Buffer, more: Buffer): Buffer {
    const length = held.length + more.length;
    const room = Buffer.allocUnsafeSlow(2 * length);
    held.copy(room);
    more.copy(room, held.length);
    this.#room = room;
    this.#held = room.subarray(0, length);
    return this.#held;
  }
}
