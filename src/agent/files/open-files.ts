/** How many files a folder has open at a time. A visitor that reads slowly keeps one open; beyond the limit requests wait, and then are refused. */

export interface OpenLimits {
  readonly open: number;
  readonly waiting: number;
}

export class OpenFiles {
  readonly #limits: OpenLimits;
  readonly #waiting: Array<() => void> = [];
  #open = 0;

  constructor(limits: OpenLimits) {
    this.#limits = limits;
  }

  /** Resolves with true once there is room: call `release` once then. False: too many wait already. */
  async take(): Promise<boolean> {
    if (this.#open < this.#limits.open) {
      this.#open++;
      return true;
    }
    if (this.#waiting.length >= this.#limits.waiting) return false;
    // The place of the one that leaves goes over: `#open` stays as it is.
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return true;
  }

  release(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#open--;
    else next();
  }
}
