/**
 * What records may take of the process's memory, from their beginning until they are stored. One per node. What finds no room is not recorded,
 * first come, first recorded: room comes back as the control plane stores.
 */
export class RecordMemory {
  readonly #maxBytes: number;
  #held = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get heldBytes(): number {
    return this.#held;
  }

  /** Whether there is room for so much more. */
  has(bytes: number): boolean {
    return this.#held + bytes <= this.#maxBytes;
  }

  /** False, and nothing is taken, when there is no room. */
  take(bytes: number): boolean {
    if (!this.has(bytes)) return false;
    this.#held += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#held -= bytes;
  }
}
