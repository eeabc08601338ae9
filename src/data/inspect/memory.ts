/**
 * What records may take of the process's memory, from their beginning until they are stored. One per node. What finds no room is not recorded;
 * room comes back as requests end and the control plane stores. An organization may hold no more than is free then: one alone has half of all,
 * several get less each, and one that holds nothing finds room, however many requests of others stand still.
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

  /** Whether there is room for so much more of the organization. */
  has(org: MemoryShare, bytes: number): boolean {
    return org.heldBytes + bytes <= this.#maxBytes - this.#held;
  }

  /** False, and nothing is taken, when there is no room. */
  take(org: MemoryShare, bytes: number): boolean {
    if (!this.has(org, bytes)) return false;
    this.#held += bytes;
    org.heldBytes += bytes;
    return true;
  }

  give(org: MemoryShare, bytes: number): void {
    this.#held -= bytes;
    org.heldBytes -= bytes;
  }
}

/** What one organization holds. */
export interface MemoryShare {
  heldBytes: number;
}
