/**
 * The requests that the list shows: newest first, each once, and never more than `MAX_ROWS`. While the reader looks at older ones, or has paused,
 * new ones are counted and wait. Filled by live-requests.ts from history and the live feed; drawn by request-list.tsx. No DOM: tested without one.
 */
import type { Item } from '../filters/filter.ts';

/** The oldest are left out beyond this: memory stays flat however long the page is open. They are in the history still. */
export const MAX_ROWS = 2000;

export interface ListView {
  /** Newest first; a new array after each change. */
  readonly rows: readonly Item[];
  /** New ones that wait until the reader wants them. */
  readonly waiting: number;
}

const NOTHING: ListView = { rows: [], waiting: 0 };

export class LiveList {
  readonly #listeners = new Set<() => void>();
  #view: ListView = NOTHING;
  /** Newest first, at most `MAX_ROWS`. */
  #waiting: readonly Item[] = [];
  /** Also of those that were pushed out of `#waiting`. */
  #waited = 0;
  /** Between those that wait and the rows some are missing. */
  #isTorn = false;
  #isHeld = false;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly view = (): ListView => this.#view;

  /** Time of the newest that is known, as the server said it. */
  get newest(): string | undefined {
    return (this.#waiting[0] ?? this.#view.rows[0])?.timestamp;
  }

  /** Another list: what matched another filter is gone. */
  reset(items: readonly Item[]): void {
    this.#waiting = [];
    this.#waited = 0;
    this.#isTorn = false;
    this.#show(merged([], items));
  }

  /**
   * The newest of the history, when more than these came since `since` (a time of `newest`): older ones would stand beside a hidden gap, and are
   * dropped; while the reader is scrolled down, that waits until they ask for the new ones.
   */
  restart(items: readonly Item[], since: string): void {
    const isLater = ({ timestamp }: Item): boolean => timestamp > since;
    if (!this.#isHeld) {
      this.#show(merged(this.#view.rows.filter(isLater), items));
      return;
    }
    const before = this.#waiting.filter(isLater);
    this.#waiting = merged(before, items);
    this.#waited += this.#waiting.length - before.length;
    this.#isTorn = true;
    this.#show(this.#view.rows);
  }

  /** New ones, in any order; those that are known already are passed over. */
  add(items: readonly Item[]): void {
    if (!this.#isHeld) {
      if (items.length > 0) this.#show(merged(this.#view.rows, items));
      return;
    }
    const known = new Set(this.#view.rows.map(({ id }) => id));
    const before = this.#waiting.length;
    const all = merged(
      this.#waiting,
      items.filter(({ id }) => !known.has(id)),
      Number.POSITIVE_INFINITY,
    );
    if (all.length === before) return;
    this.#waited += all.length - before;
    this.#waiting = all.slice(0, MAX_ROWS);
    this.#show(this.#view.rows);
  }

  /** Older ones from the history; as many as there is room for. Returns false when the list is full. */
  append(items: readonly Item[]): boolean {
    this.#show(merged(this.#view.rows, items));
    return this.#view.rows.length < MAX_ROWS;
  }

  /** True: new ones wait from now on. False: they are shown, and so is what comes. Returns whether older rows were left out by that. */
  hold(isHeld: boolean): boolean {
    if (this.#isHeld === isHeld) return false;
    this.#isHeld = isHeld;
    if (isHeld || this.#waited === 0) return false;
    const fresh = this.#waiting;
    const isTorn = this.#isTorn || this.#waited > fresh.length;
    this.#waiting = [];
    this.#waited = 0;
    this.#isTorn = false;
    // Some of the waiting ones were dropped: older ones would stand beside a gap that the list does not show.
    this.#show(isTorn ? fresh : merged(this.#view.rows, fresh));
    return isTorn;
  }

  #show(rows: readonly Item[]): void {
    this.#view = { rows, waiting: this.#waited };
    for (const listener of this.#listeners) listener();
  }
}

/** Newest first: by when its head came, and by id, which is made in order. */
function byAge(a: Item, b: Item): number {
  if (a.timestamp !== b.timestamp) return a.timestamp < b.timestamp ? 1 : -1;
  return a.id < b.id ? 1 : a.id > b.id ? -1 : 0;
}

/** Both, each request once, at most `most`. `rows` is in order already; `items` is mostly newer than all of it. */
function merged(rows: readonly Item[], items: readonly Item[], most = MAX_ROWS): readonly Item[] {
  const known = new Set(rows.map(({ id }) => id));
  const fresh = items.filter(({ id }) => !known.has(id) && known.add(id)).toSorted(byAge);
  const last = fresh.at(-1);
  const [first] = rows;
  const all = [...fresh, ...rows];
  if (last !== undefined && first !== undefined && byAge(last, first) > 0) all.sort(byAge);
  return all.slice(0, most);
}
