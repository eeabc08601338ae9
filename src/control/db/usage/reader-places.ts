/** How many may read records at once, in all and per organization. Used by usage-store.ts. */
import { AppError } from '../../../base/errors.ts';

/** Each takes the thread for some 20 ms at most. */
const MAX_READERS = 64;
const MAX_PER_ORGANIZATION = 8;

export class ReaderPlaces {
  readonly #taken = new Map<string, number>();
  waiting = 0;
  refused = 0;

  /** Returns what gives the place back. Throws `rate_limited` and `unavailable`. */
  take(orgId: string): () => void {
    const own = this.#taken.get(orgId) ?? 0;
    if (own >= MAX_PER_ORGANIZATION) {
      this.refused += 1;
      throw new AppError(
        'rate_limited',
        'This organization has too many record queries running. Try again in a second.',
        {
          retryAfterSeconds: 1,
        },
      );
    }
    if (this.waiting >= MAX_READERS) {
      this.refused += 1;
      throw new AppError(
        'unavailable',
        'Too many record queries are running on this server. Try again in a few seconds.',
        {
          retryAfterSeconds: 2,
        },
      );
    }
    this.waiting += 1;
    this.#taken.set(orgId, own + 1);
    return () => {
      this.waiting -= 1;
      const left = (this.#taken.get(orgId) ?? 1) - 1;
      if (left > 0) this.#taken.set(orgId, left);
      else this.#taken.delete(orgId);
    };
  }
}
