/**
 * Schedule of the searches for filters that only the server can evaluate: one at a time, with a pause before each, and none while the page is
 * hidden. Used by live-requests.ts. No DOM: tested without one.
 */

/** Before each search. */
export const BETWEEN_SEARCHES_MS = 3_000;

interface SearchDeps {
  /** Looks no further back than `from`. Never rejects. */
  readonly search: (from: string) => Promise<void>;
  readonly isHidden: () => boolean;
}

export class SearchPace {
  readonly #deps: SearchDeps;
  /** Of the first request that was not searched yet. */
  #from: string | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isSearching = false;

  constructor(deps: SearchDeps) {
    this.#deps = deps;
  }

  /** A request came at `from`. */
  want(from: string): void {
    this.#from ??= from;
    this.plan();
  }

  /** Also when the page comes into sight. */
  readonly plan = (): void => {
    if (this.#from === undefined || this.#timer !== undefined || this.#isSearching || this.#deps.isHidden()) return;
    this.#timer = setTimeout(() => void this.#search(), BETWEEN_SEARCHES_MS);
  };

  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#from = undefined;
  }

  async #search(): Promise<void> {
    this.#timer = undefined;
    const from = this.#from;
    if (from === undefined || this.#deps.isHidden()) return;
    this.#from = undefined;
    this.#isSearching = true;
    try {
      await this.#deps.search(from);
    } finally {
      this.#isSearching = false;
      this.plan();
    }
  }
}
