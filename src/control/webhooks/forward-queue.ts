/**
 * Lines that are to be looked at, and whose turn it is: organizations go in turn, so that the fifty receivers of one stand behind the one of
 * another and not before it. Made by forwarder.ts. As large as there are receivers.
 */
import type { Line } from './forward-rows.ts';

/** The queue of receivers, fair to organizations. */
export class ForwardQueue {
  /** Receivers by organization, both in the order in which they are looked at. */
  readonly #byOrg = new Map<string, Set<string>>();
  #size = 0;

  /** Lines that wait for their turn. */
  get size(): number {
    return this.#size;
  }

  /** At the end of those of its organization; one that is there keeps its place. */
  add({ receiverId, orgId }: Line): void {
    const own = this.#byOrg.get(orgId);
    if (own?.has(receiverId)) return;
    this.#size++;
    if (own === undefined) this.#byOrg.set(orgId, new Set([receiverId]));
    else own.add(receiverId);
  }

  /**
   * Takes out whose turn it is, one after the other, until there is none that may go. An organization that had its turn is the last of the next
   * round; one that may not go keeps its place. `mayGo` is asked again for each line, for what is done with one changes the answer.
   */
  *take(mayGo: (orgId: string) => boolean): Generator<Line> {
    // A map is walked to what is put at its end meanwhile: round after round.
    for (const [orgId, own] of this.#byOrg) {
      if (!mayGo(orgId)) continue;
      const [receiverId] = own;
      this.#byOrg.delete(orgId);
      if (receiverId === undefined) continue;
      own.delete(receiverId);
      this.#size--;
      if (own.size > 0) this.#byOrg.set(orgId, own);
      yield { receiverId, orgId };
    }
  }
}
