/**
 * What the networks of a node share: how many flows they may have together, and how many device keys their handshakes may be compared with.
 * When the flows are used up, the network with the most unproven ones gives one of them up, for that is where somebody forges addresses. A
 * network has its first few whatever the others have, so that nobody who fills the node with clients keeps another network's owner out.
 */
import { Allowance } from '../../base/allowance.ts';
import type { Flows } from './flows.ts';

/** A node of one core is busy long before it has so many. */
export const MAX_FLOWS_OF_NODE = 16_384;
export const OWN_FLOWS = 16;
/** Under a tenth of a core: each takes 0.4 to 0.8 us. At once no more than 20 ms of it. Beyond what each network has for itself. */
const COMPARISONS = { perSecond: 100_000, burst: 25_000 };

export class FlowBudget {
  /** Comparisons of a handshake with a device's key. */
  readonly comparisons: Allowance;
  readonly #networks = new Set<Flows>();
  readonly #most: number;
  #used = 0;

  /** `nowMs`: monotonic. */
  constructor(nowMs: number, most: number = MAX_FLOWS_OF_NODE) {
    this.#most = most;
    this.comparisons = new Allowance(COMPARISONS, nowMs);
  }

  /** Flows of all networks; at most `most`, and 16 for each network beyond it. */
  get used(): number {
    return this.#used;
  }

  /** Room for one more flow of `flows`. False: there is none. */
  take(flows: Flows): boolean {
    if (this.#used >= this.#most && flows.size >= OWN_FLOWS && !this.#mostUnproven()?.displace()) return false;
    this.#networks.add(flows);
    this.#used++;
    return true;
  }

  /** A flow of `flows` has gone. */
  giveBack(flows: Flows): void {
    this.#used--;
    if (flows.size === 0) this.#networks.delete(flows);
  }

  /** Looks at each network that has flows: when the budget is used up, and for new flows alone, of which a network has 100 a second. */
  #mostUnproven(): Flows | undefined {
    let most: Flows | undefined;
    for (const flows of this.#networks) if (flows.unproven > (most?.unproven ?? 0)) most = flows;
    return most;
  }
}
