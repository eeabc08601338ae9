/**
 * Ids of records: UUIDv7 (RFC 9562), which rise in the order in which they are made, for lists and pages go by them. Node's own rise from one
 * millisecond to the next alone, and within one a busy node has many. So the 12 bits behind the time count (section 6.2, method 1).
 */
import { randomUUIDv7 } from 'node:crypto';

/** The time in an id's text, 48 bits; version and counter stand behind it, up to where 62 random bits begin. */
const TIME_CHARS = 13;
const RANDOM_AT = 18;
const MAX_COUNT = 0xfff;

export class RecordIds {
  readonly #make: () => string;
  #time = '';
  #count = 0;

  constructor(make: () => string = randomUUIDv7) {
    this.#make = make;
  }

  /** Where the system's clock is set back, ids go with it. */
  next(): string {
    const id = this.#make();
    const time = id.slice(0, TIME_CHARS);
    // 4,096 within a millisecond are more than a node may record by default, all of its burst at once.
    this.#count = time === this.#time ? Math.min(this.#count + 1, MAX_COUNT) : 0;
    this.#time = time;
    return `${time}-7${this.#count.toString(16).padStart(3, '0')}${id.slice(RANDOM_AT)}`;
  }
}
