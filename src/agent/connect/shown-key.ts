/**
 * Which key the agent showed, and whether the server took it back. A key file that a rotation replaced holds another one by then: that one is
 * tried before the agent gives up.
 */
export class ShownKey {
  readonly #read: () => Promise<string>;
  #shown: string | undefined;
  #refused: string | undefined;
  #refusal = '';

  /** `read` gives the key that is meant now; it may reject. */
  constructor(read: () => Promise<string>) {
    this.#read = read;
  }

  /** The key to show next. Undefined when there is none but the one that was taken back. Rejects when it can't be read, and none was. */
  async next(): Promise<string | undefined> {
    const key = await this.#read().catch((error: unknown) => {
      if (this.#refused === undefined) throw error;
      return this.#refused;
    });
    if (key === this.#refused) return undefined;
    this.#shown = key;
    this.#refused = undefined;
    return key;
  }

  /** The server no longer takes the key that it was shown last, and says why. */
  takenBack(refusal: string): void {
    this.#refused = this.#shown;
    this.#refusal = refusal;
  }

  /** What the server said when it took a key back. */
  get refusal(): string {
    return this.#refusal;
  }
}
