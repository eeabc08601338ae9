/**
 * What the networks of a node share: flows, and device keys that handshakes are compared with. When the flows are used up, a
 * network with more unproven flows than handshakes gives one up; else the organization with most, for one below its share.
 * A network has its first few whatever the others have. Reasons: docs/decisions/0013-wireguard-relay.md.
 */
import { Allowance } from '../../base/limits/allowance.ts';

/** A node of one core is busy long before it has so many. */
export const MAX_FLOWS_OF_NODE = 16_384;
export const OWN_FLOWS = 16;
/** So many unauthenticated clients of a network are no flood: new ones come 100 a second, and prove themselves in one round trip. */
const USUAL_UNPROVEN = 128;
/** Under a tenth of a core: each takes 0.4 to 0.8 us. At once no more than 20 ms of it. Beyond what each network has for itself. */
const COMPARISONS = { perSecond: 100_000, burst: 25_000 };

/** The flows of one network (flows.ts). */
export interface FlowHolder {
  /** Whose network it is. */
  readonly orgId: string;
  readonly size: number;
  /** Flows that could be displaced. */
  readonly unproven: number;
  /** Gives up an unproven flow. False: there is none. */
  displace(): boolean;
  /** Gives up a flow, proven or not. False: there is none. */
  displaceAny(): boolean;
}

/** The networks of one organization that have flows. */
interface Share {
  readonly networks: Set<FlowHolder>;
  used: number;
}

export class FlowBudget {
  /** Comparisons of a handshake with a device's key. */
  readonly comparisons: Allowance;
  /** By organization; of those that have flows. */
  readonly #shares = new Map<string, Share>();
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
  take(flows: FlowHolder): boolean {
    if (this.#used >= this.#most && flows.size >= OWN_FLOWS && !this.#makeRoom(flows)) return false;
    const share = this.#shares.get(flows.orgId);
    if (share === undefined) this.#shares.set(flows.orgId, { networks: new Set([flows]), used: 1 });
    else {
      share.networks.add(flows);
      share.used++;
    }
    this.#used++;
    return true;
  }

  /** A flow of `flows` has gone. */
  giveBack(flows: FlowHolder): void {
    const share = this.#shares.get(flows.orgId);
    if (share === undefined) return;
    this.#used--;
    share.used--;
    if (flows.size === 0) share.networks.delete(flows);
    if (share.used === 0) this.#shares.delete(flows.orgId);
  }

  /** Looks at each network that has flows: when the budget is used up, and for new flows alone, of which a network has 300 a second. */
  #makeRoom(flows: FlowHolder): boolean {
    const own = this.#shares.get(flows.orgId);
    let flooded: FlowHolder | undefined;
    let largest: Share | undefined;
    for (const share of this.#shares.values()) {
      flooded = mostUnproven(share.networks, flooded);
      if (share.used > (largest?.used ?? 0)) largest = share;
    }
    if (flooded !== undefined && flooded.unproven > USUAL_UNPROVEN) return flooded.displace();
    // Compared after the change: two who are as large as each other take nothing from each other.
    if (own !== undefined && largest !== undefined && own.used + 1 < largest.used) return giveUp(largest);
    return mostUnproven(own?.networks ?? [])?.displace() ?? false;
  }
}

/** Of an organization that has more than its share: an unproven one, else the one whose client has been silent for longest in its largest network. */
function giveUp({ networks }: Share): boolean {
  const unproven = mostUnproven(networks);
  if (unproven !== undefined) return unproven.displace();
  let largest: FlowHolder | undefined;
  for (const flows of networks) if (flows.size > (largest?.size ?? 0)) largest = flows;
  return largest?.displaceAny() ?? false;
}

/** Undefined: none has any. `first` goes before one that has no more. */
function mostUnproven(networks: Iterable<FlowHolder>, first?: FlowHolder): FlowHolder | undefined {
  let most = first;
  for (const flows of networks) if (flows.unproven > (most?.unproven ?? 0)) most = flows;
  return most;
}
