/** Finished requests and connections, as data nodes tell of them: handed on to those who write or export them. Nothing is kept here. */
import { messageOf } from '../../../base/errors.ts';
import type { Logger } from '../../../base/log.ts';
import type { AccessBatch, AccessEntry } from '../../../plane/access-log.ts';

/** Takes entries at once, within its own bounds; never waits. */
export type AccessListener = (entries: readonly AccessEntry[]) => void;

export class AccessFeed {
  readonly #listeners = new Set<AccessListener>();
  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Returns what ends it. */
  subscribe(listener: AccessListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Never throws: a fault of one listener is none of the others. */
  publish({ entries }: AccessBatch): void {
    for (const listener of this.#listeners) {
      try {
        listener(entries);
      } catch (error) {
        this.#log.error({ error: messageOf(error) }, 'could not take entries of the access log');
      }
    }
  }
}
