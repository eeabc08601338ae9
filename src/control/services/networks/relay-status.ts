/**
 * What the relay of a private network is at: who carries it and which way its datagrams go, as the data node knows it, beside what the tables hold. Called
 * by control/api.
 */
import { and, eq } from 'drizzle-orm';
import { AppError } from '../../../base/errors.ts';
import type { NodeControl } from '../../../plane/link.ts';
import type { RelayInfo } from '../../../plane/relays.ts';
import { privateNetworks } from '../../db/schema.ts';
import type { Store } from '../../db/tx.ts';
import { type Actor, allow } from '../actor.ts';

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
  of(actor: Actor, networkId: string): RelayView {
    allow(actor, 'read', 'network');
    const { id, orgId, packetsIn, packetsOut, bytesIn, bytesOut } = privateNetworks;
    const totals = this.#store.db
      .select({ packetsIn, packetsOut, bytesIn, bytesOut })
      .from(privateNetworks)
      .where(and(eq(id, networkId), eq(orgId, actor.orgId)))
      .get();
    if (totals === undefined) throw new AppError('not_found', 'No such private network in your organization.');
    return { totals, now: this.#nodes.relay(networkId) ?? null };
  }
}
