/**
 * A value that must not appear in a log, an error, a heap of JSON or a screen. Made where a secret enters (config, environment,
 * token file), opened with `reveal()` at the one place that needs the text.
 */
import { inspect } from 'node:util';

const MASK = '[secret]';

export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
    Object.freeze(this);
  }

  /** The text itself. Never pass the result to a logger or into an error message. */
  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return MASK;
  }

  toJSON(): string {
    return MASK;
  }

  [Symbol.toPrimitive](): string {
    return MASK;
  }

  [inspect.custom](): string {
    return MASK;
  }
}
