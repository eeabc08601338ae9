/**
 * What the relay of a private network is at: who carries it and which way its datagrams go, as the data node knows it, beside what the tables hold.
 */
import type { NodeControl } from '../../../plane/link.ts';
import type { RelayInfo } from '../../../plane/relays.ts';
import type { Store } from '../../db/tx.ts';
import { type Actor, allow } from '../../core/rules/actor.ts';
import { ownNetwork } from '../rows.ts';

export interface RelayView {
  /** Since the network was made; two seconds behind what has passed. */
  readonly totals: Readonly<Record<'packetsIn' | 'packetsOut' | 'bytesIn' | 'bytesOut', number>>;
  /** Null: no agent is attached. */
  readonly now: RelayInfo | null;
}

export class RelayStatus {
  readonly #store: Store;
  readonly #nodes: Pick<NodeControl, 'relay'>;

  constructor(deps: { store: Store; nodes: Pick<NodeControl, 'relay'> }) {
    this.#store = deps.store;
    this.#nodes = deps.nodes;
  }

  /** Throws `not_found`, also for another organization's network. */
  async of(actor: Actor, networkId: string): Promise<RelayView> {
    allow(actor, 'read', 'network');
    const { packetsIn, packetsOut, bytesIn, bytesOut } = ownNetwork(this.#store.db, actor.orgId, networkId);
    return { totals: { packetsIn, packetsOut, bytesIn, bytesOut }, now: (await this.#nodes.relay(networkId)) ?? null };
  }
}
