/**
 * Lines that are to be looked at, and whose turn it is: organizations go in turn, so that the fifty receivers of one stand behind the one of
 * another and not before it. Made by forwarder.ts. As large as there are receivers.
 */
import { FairQueue } from '../../base/limits/fair-queue.ts';
import type { Line } from './forward-rows.ts';

/** The queue of receivers, fair to organizations. */
export class ForwardQueue {
  readonly #lines = new FairQueue<Line>();
  /** Receivers whose line is in it. */
  readonly #receivers = new Set<string>();

  /** Lines that wait for their turn. */
  get size(): number {
    return this.#lines.size;
  }

  /** At the end of those of its organization; one that is there keeps its place. */
  add({ receiverId, orgId }: Line): void {
    if (this.#receivers.has(receiverId)) return;
    this.#receivers.add(receiverId);
    this.#lines.push([orgId], { receiverId, orgId });
  }

  /**
   * Takes out whose turn it is, one after the other, until there is none that may go. An organization that had its turn is the last of the next
   * round; one that may not go keeps its place. `mayGo` is asked again for each line, for what is done with one changes the answer.
   */
  *take(mayGo: (orgId: string) => boolean): Generator<Line> {
    for (let line = this.#lines.shift(mayGo); line !== undefined; line = this.#lines.shift(mayGo)) {
      this.#receivers.delete(line.receiverId);
      yield line;
    }
  }
}
