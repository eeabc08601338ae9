/**
 * One at a time per key: what asks a provider and then stores the answer must not overtake another that asked later.
 */
import { AppError } from '../../base/errors.ts';

/** Beyond this a caller gets a retry: each turn takes as long as a provider does. */
const MAX_QUEUED = 10;

interface Line {
  last: Promise<unknown>;
  length: number;
}

/** A queue for each key. */
export class ProviderQueue {
  readonly #lines = new Map<string, Line>();

  /** Runs `work` once everything that came before with this key has ended. Throws `unavailable` at ten in line, and what `work` throws. */
  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const line = this.#lines.get(key) ?? { last: Promise.resolve(), length: 0 };
    if (line.length >= MAX_QUEUED) {
      throw new AppError(
        'unavailable',
        'Another billing request of this organization is in progress. Try again in a few seconds.',
      );
    }
    line.length += 1;
    this.#lines.set(key, line);
    const turn = line.last.then(work);
    const leave = (): void => {
      line.length -= 1;
      if (line.length === 0) this.#lines.delete(key);
    };
    line.last = turn.then(leave, leave);
    return turn;
  }
}
