/**
 * The order in which streams send their bodies (RFC 9218): the most urgent first. Of one urgency, those whose parts are of no use by themselves go one
 * after the other as they were asked for, the others a frame each in turn; where there are both, they take turns by frames.
 */
import type { Outgoing } from './outgoing.ts';

const URGENCIES = 8;
/** One that is longer lets all others go first: it may be without an end. */
const LONG_BYTES = 1 << 20;

/** The lanes of an urgency: `2 * urgency` for those that go one after the other, the next for the others. */
export class Schedule {
  readonly #first: Array<Outgoing | null> = new Array<Outgoing | null>(2 * URGENCIES).fill(null);
  readonly #last: Array<Outgoing | null> = new Array<Outgoing | null>(2 * URGENCIES).fill(null);
  /** A bit for each lane that has streams. */
  #lanes = 0;
  /** By urgency: which of its two lanes is next, where both have streams. */
  #turns = 0;

  get isEmpty(): boolean {
    return this.#lanes === 0;
  }

  /** Whose turn it is. */
  get next(): Outgoing | null {
    if (this.#lanes === 0) return null;
    // The lowest bit that is set.
    const lowest = 31 - Math.clz32(this.#lanes & -this.#lanes);
    const lane = lowest & ~1;
    const both = 3 << lane;
    return this.#first[(this.#lanes & both) === both ? lane | ((this.#turns >>> lane) & 1) : lowest] as Outgoing;
  }

  /** Behind the others of its lane; one that is not incremental where its number belongs, in front of those that are long. */
  add(stream: Outgoing): void {
    if (stream.lane >= 0) return;
    const { urgency, isIncremental } = stream.priority;
    const lane = 2 * urgency + (isIncremental ? 1 : 0);
    let before = this.#last[lane] as Outgoing | null;
    if (!isIncremental && !stream.isLong)
      while (before !== null && (before.isLong || before.id > stream.id)) before = before.previous;
    this.#insert(stream, lane, before);
  }

  remove(stream: Outgoing): void {
    const { lane, previous, next } = stream;
    if (lane < 0) return;
    if (previous === null) this.#first[lane] = next;
    else previous.next = next;
    if (next === null) this.#last[lane] = previous;
    else next.previous = previous;
    if (this.#first[lane] === null) this.#lanes &= ~(1 << lane);
    stream.lane = -1;
    stream.previous = stream.next = null;
  }

  /** The stream whose turn it was has sent a frame of `bytes`, and has more. */
  sent(stream: Outgoing, bytes: number): void {
    const { lane } = stream;
    this.#turns ^= 1 << (lane & ~1);
    stream.turnBytes += bytes;
    if ((lane & 1) === 0) {
      if (stream.turnBytes < LONG_BYTES) return;
      stream.isLong = true;
    }
    stream.turnBytes = 0;
    if (stream.next === null) return;
    this.remove(stream);
    this.#insert(stream, lane, this.#last[lane] as Outgoing | null);
  }

  /** Its priority has changed. */
  moved(stream: Outgoing): void {
    if (stream.lane < 0) return;
    this.remove(stream);
    this.add(stream);
  }

  clear(): void {
    for (let lane = 0; lane < 2 * URGENCIES; lane++)
      for (let each = this.#first[lane] ?? null; each !== null; each = this.#first[lane] ?? null) this.remove(each);
  }

  #insert(stream: Outgoing, lane: number, before: Outgoing | null): void {
    const after = before === null ? (this.#first[lane] as Outgoing | null) : before.next;
    stream.lane = lane;
    stream.previous = before;
    stream.next = after;
    if (before === null) this.#first[lane] = stream;
    else before.next = stream;
    if (after === null) this.#last[lane] = stream;
    else after.previous = stream;
    this.#lanes |= 1 << lane;
  }
}
