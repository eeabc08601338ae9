/**
 * Requests that are held until a device code is approved. In memory alone: a wait that is lost is asked again. Used by device-logins.ts.
 */

/**
 * Waits at once. The limit of `/auth/*` lets one address hold about eight of them, so that this takes many addresses. Beyond it a request is
 * answered without a wait, and its sender asks again.
 */
const MAX_WAITS = 200;

export class DeviceWaits {
  readonly #byCode = new Map<string, Set<() => void>>();
  #count = 0;
  #isOver = false;

  /** Resolves when `wake` is called for the code, when `ms` have passed, when `gone` fires, or at `end`: whichever comes first. */
  until(codeHash: string, ms: number, gone: AbortSignal): Promise<void> {
    if (this.#isOver || gone.aborted || this.#count >= MAX_WAITS) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    const ofCode = this.#byCode.get(codeHash) ?? new Set();
    this.#byCode.set(codeHash, ofCode);
    this.#count += 1;
    const finish = (): void => {
      clearTimeout(timer);
      gone.removeEventListener('abort', finish);
      if (!ofCode.delete(finish)) return;
      this.#count -= 1;
      if (ofCode.size === 0) this.#byCode.delete(codeHash);
      resolve();
    };
    const timer = setTimeout(finish, ms);
    gone.addEventListener('abort', finish);
    ofCode.add(finish);
    return promise;
  }

  /** Ends the waits for this code. */
  wake(codeHash: string): void {
    for (const finish of [...(this.#byCode.get(codeHash) ?? [])]) finish();
  }

  /** Ends all waits, and lets none begin: the server stops. */
  end(): void {
    this.#isOver = true;
    for (const codeHash of [...this.#byCode.keys()]) this.wake(codeHash);
  }

  /** How many are held now. */
  get size(): number {
    return this.#count;
  }
}
