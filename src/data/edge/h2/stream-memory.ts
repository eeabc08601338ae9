/**
 * What waits in this process for visitors of HTTP/2 and for services that are slow to take their requests: each stream has its windows, and a
 * connection has a hundred of those, so the sum has a bound of its own. At the bound the connections that hold more than their share
 * are ended, not those that happen to ask next.
 */
import { SLAB_BYTES } from '../../../base/bytes/slab.ts';
import { INITIAL_WINDOW } from '../../../mux/frame.ts';

/** So many slabs a connection holds for its visitor, beyond that bytes are copied: visitors that take nothing would keep a slab for each answer. */
export const MAX_HELD = 8;

/**
 * What a connection may hold in any case: one answer that a visitor does not take holds its window, and up to so many slabs, each counted as a
 * whole though it is shared with others. As many connections of HTTP/1.1 could hold no less.
 */
export const ALWAYS_BYTES = MAX_HELD * SLAB_BYTES + INITIAL_WINDOW;

export class StreamMemory {
  readonly #limit: number;
  #total = 0;
  /** Connections that hold anything. */
  #holders = 0;

  /** `limit`: bytes, of all connections. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Bytes that are held now, as far as reported. */
  get total(): number {
    return this.#total;
  }

  /** A connection that held `before` bytes holds `now`. False when it must give way. */
  changed(before: number, now: number): boolean {
    this.#total += now - before;
    if (before === 0 && now > 0) this.#holders++;
    else if (before > 0 && now === 0) this.#holders--;
    return this.#total <= this.#limit || now <= Math.max(ALWAYS_BYTES, this.#limit / this.#holders);
  }
}
