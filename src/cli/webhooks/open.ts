/**
 * Followed deliveries without a final state: they are requested again, the oldest first, for they go to the
 * tunnel in their order. Called by follow.ts.
 */
import { type Delivery, isOpen } from './items.ts';

/** As many as a mailbox keeps: when there are more, the oldest of them is gone from it. */
const MAX_OPEN = 10_000;
/** Asked for at once while many are decided; one that waits is asked for alone, for its body comes along. */
const MAX_LIMIT = 100;

interface Open {
  readonly id: string;
  /** Behind which it is: undefined for the first of the mailbox. */
  readonly behind: string | undefined;
}

/** Deliveries behind this one, oldest first. */
type Read = (query: { after: string | undefined; limit: number }) => Promise<readonly Delivery[]>;

export class OpenDeliveries {
  readonly #read: Read;
  /** Oldest first. */
  readonly #open: Open[] = [];

  constructor(read: Read) {
    this.#read = read;
  }

  get size(): number {
    return this.#open.length;
  }

  /** A delivery as it was shown; one that is decided is not kept. */
  add(one: Delivery, behind: string | undefined): void {
    if (!isOpen(one)) return;
    this.#open.push({ id: one.id, behind });
    if (this.#open.length > MAX_OPEN) this.#open.shift();
  }

  /** Those with a final state, up to the first without. Deleted deliveries are left out. Throws what `read` throws. */
  async *decided(): AsyncGenerator<Delivery> {
    for (let limit = 1; this.#open.length > 0; limit = Math.min(2 * limit, MAX_LIMIT)) {
      const page = await this.#read({ after: this.#open[0]?.behind, limit });
      const found = new Map(page.map((one) => [one.id, one]));
      // What stands behind its predecessor is the first of the page, if it is there still.
      if (!found.has(this.#open[0]?.id ?? '')) this.#open.shift();
      for (;;) {
        const one = found.get(this.#open[0]?.id ?? '');
        if (one === undefined) break;
        if (isOpen(one)) return;
        this.#open.shift();
        yield one;
      }
    }
  }
}
