/**
 * Which browsers have come back from the identity provider and got a pass only just now: who then shows none would be sent round for ever. Read
 * and written by passes.ts.
 */
import type { VisitorTicket } from '../../../plane/visitor-tokens.ts';

/** A round takes a second or two where the provider asks nothing; who opens the site again by hand after this begins another. */
const RETURN_MS = 30_000;
/** The oldest one gives way. Its browser, if it shows no pass, goes round once more. */
const MAX_RETURNS = 10_000;

type Place = Pick<VisitorTicket, 'tunnelId' | 'version' | 'host'>;

export class RecentReturns {
  /** When, in milliseconds since the epoch. Oldest first. */
  readonly #at = new Map<string, number>();

  get size(): number {
    return this.#at.size;
  }

  add(place: Place, nonce: string, now: number): void {
    const key = keyOf(place, nonce);
    this.#at.delete(key);
    this.#at.set(key, now);
    for (const [known, at] of this.#at) {
      if (this.#at.size <= MAX_RETURNS && at + RETURN_MS > now) break;
      this.#at.delete(known);
    }
  }

  has(place: Place, nonce: string, now: number): boolean {
    const at = this.#at.get(keyOf(place, nonce));
    return at !== undefined && at + RETURN_MS > now;
  }

  clear(): void {
    this.#at.clear();
  }
}

function keyOf({ tunnelId, version, host }: Place, nonce: string): string {
  return `${tunnelId} ${version} ${host} ${nonce}`;
}
