/**
 * Whatever runs closers at its end: a test's context, or a script's `Ending`. Closers run last given first, each awaited.
 */
export interface Ends {
  after(close: () => unknown): void;
}

/** The end of a script: what it started is closed in reverse, all of it, even where one closer fails. */
export class Ending implements Ends {
  readonly #closers: (() => unknown)[] = [];

  after(close: () => unknown): void {
    this.#closers.unshift(close);
  }

  async run(): Promise<void> {
    for (const close of this.#closers.splice(0)) {
      try {
        await close();
      } catch (error) {
        console.error('while cleaning up:', error);
      }
    }
  }
}

/** A context as node:test gives it runs its hooks first given first: this turns the order round. */
export function inReverse(t: Ends): Ends {
  const ending = new Ending();
  t.after(() => ending.run());
  return ending;
}
