/**
 * Requests that are held until something happens to what they ask about, by its key. In memory alone: a wait that is lost is asked again.
 */

export interface WaitLimits {
  /** Held at once. Beyond it a request is answered without a wait, and its sender asks again. */
  readonly total: number;
  readonly perKey: number;
}

export class Waits {
  readonly #limits: WaitLimits;
  readonly #byKey = new Map<string, Set<() => void>>();
  #count = 0;
  #isOver = false;

  constructor(limits: WaitLimits) {
    this.#limits = limits;
  }

  /** Resolves when `wake` is called for the key, when `ms` have passed, when `gone` fires, or at `end`: whichever comes first. */
  until(key: string, ms: number, gone: AbortSignal): Promise<void> {
    const ofKey = this.#byKey.get(key) ?? new Set();
    const isFull = this.#count >= this.#limits.total || ofKey.size >= this.#limits.perKey;
    if (this.#isOver || gone.aborted || isFull) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#byKey.set(key, ofKey);
    this.#count += 1;
    const finish = (): void => {
      clearTimeout(timer);
      gone.removeEventListener('abort', finish);
      if (!ofKey.delete(finish)) return;
      this.#count -= 1;
      if (ofKey.size === 0 && this.#byKey.get(key) === ofKey) this.#byKey.delete(key);
      resolve();
    };
    const timer = setTimeout(finish, ms);
    gone.addEventListener('abort', finish);
    ofKey.add(finish);
    return promise;
  }

  /** Ends the waits for this key. */
  wake(key: string): void {
    for (const finish of [...(this.#byKey.get(key) ?? [])]) finish();
  }

  /** Ends all waits, and lets none begin: the server stops. */
  end(): void {
    this.#isOver = true;
    for (const key of [...this.#byKey.keys()]) this.wake(key);
  }

  /** How many are held now. */
  get size(): number {
    return this.#count;
  }
}
