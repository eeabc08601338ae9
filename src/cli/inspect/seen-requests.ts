/**
 * Which requests `culvert inspect --follow` has shown, or found when it began. Ids are in the order in which requests came, and records in the
 * order in which they ended: one that was under way for long has an older id than others that were there before it. Called by follow.ts.
 */

/** As many as one answer holds: what is fetched at a time, newest first. */
export const CATCH_UP = 500;
/** Ids that are kept, and how many are left when there would be more. */
const MAX_IDS = 4 * CATCH_UP;
const KEPT_IDS = 2 * CATCH_UP;

export class SeenRequests {
  #ids: Set<string>;
  /** What is fetched and not newer was there: it can be reached only because newer ones were deleted. */
  #floor: string;

  /** `before`: the newest when the command began, newest first, CATCH_UP at most. */
  constructor(before: readonly string[]) {
    this.#ids = new Set(before);
    this.#floor = before.length < CATCH_UP ? '' : (before.at(-1) ?? '');
  }

  /** Of one that was fetched. What the feed tells may be older: it tells each only once. */
  mayBeNew(id: string): boolean {
    return id > this.#floor && !this.#ids.has(id);
  }

  /** False: it was there already. */
  add(id: string): boolean {
    if (this.#ids.has(id)) return false;
    this.#ids.add(id);
    if (this.#ids.size > MAX_IDS) this.#forget();
    return true;
  }

  /** By their ids, not by when they were shown: the newest are those that are fetched again. */
  #forget(): void {
    const newest = [...this.#ids].sort().slice(-KEPT_IDS);
    this.#ids = new Set(newest);
    const [oldest = ''] = newest;
    if (oldest > this.#floor) this.#floor = oldest;
  }
}
