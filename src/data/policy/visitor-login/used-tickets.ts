/** Which tickets of visitors were used, for as long as they could be used again. Read and written by passes.ts. */

/** Tickets that were taken and have not run out: each cost a sign-in at the identity provider. */
const MAX_USED = 10_000;

export class UsedTickets {
  /** Id to expiry, milliseconds since the epoch. Oldest first. */
  readonly #used = new Map<string, number>();

  get size(): number {
    return this.#used.size;
  }

  /** `full`: so many were taken in the last minute that no other is, until the oldest has run out. */
  take(id: string, expiresAt: number, now: number): 'taken' | 'used' | 'full' {
    if (this.#used.has(id)) return 'used';
    for (const [known, until] of this.#used) {
      if (until > now) break;
      this.#used.delete(known);
    }
    if (this.#used.size >= MAX_USED) return 'full';
    this.#used.set(id, expiresAt);
    return 'taken';
  }
}
