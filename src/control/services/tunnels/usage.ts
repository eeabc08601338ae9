/**
 * Event batches of data nodes into rows: counters of tunnels, what keys have spent, agents that came and left. One transaction per batch; a batch that comes
 * again is dropped by (node, sequence). Called by control/link.ts.
 */
import { and, eq, isNull, sql } from 'drizzle-orm';
import type { EventBatch, PlaneEvent } from '../../../plane/events.ts';
import type { NodeControl } from '../../../plane/link.ts';
import { nodeCursors, tunnels } from '../../db/schema.ts';
import type { Store, Tx } from '../../db/tx.ts';
import type { Spend } from '../tokens/spend.ts';

export class Usage {
  readonly #store: Store;
  readonly #nodes: NodeControl;
  readonly #spend: Spend;

  constructor(deps: { store: Store; nodes: NodeControl; spend: Spend }) {
    this.#store = deps.store;
    this.#nodes = deps.nodes;
    this.#spend = deps.spend;
  }

  /** Stores a batch. False when it was stored before. */
  storeBatch(batch: EventBatch): boolean {
    // Relaxed: the last seconds of counters are worth no wait for the disk.
    return this.#store.inTx(
      (tx) => {
        const cursor = tx.db.select().from(nodeCursors).where(eq(nodeCursors.node, batch.node)).get();
        if (cursor !== undefined && batch.sequence <= cursor.sequence) return false;
        for (const event of batch.events) this.#storeOne(tx, event);
        this.#charge(tx, batch.events);
        const at = { sequence: batch.sequence, updatedAt: tx.now };
        tx.db
          .insert(nodeCursors)
          .values({ node: batch.node, ...at })
          .onConflictDoUpdate({ target: nodeCursors.node, set: at })
          .run();
        return true;
      },
      { relaxed: true },
    );
  }

  /** Once per token and not per tunnel: a batch may hold a thousand tunnels of one key. */
  #charge(tx: Tx, events: readonly PlaneEvent[]): void {
    const byToken = new Map<string, { bytes: number; requests: number }>();
    for (const event of events) {
      if (event.kind !== 'usage' || event.tokenId === null) continue;
      const { bytes, requests } = byToken.get(event.tokenId) ?? { bytes: 0, requests: 0 };
      byToken.set(event.tokenId, {
        bytes: bytes + event.bytesIn + event.bytesOut,
        requests: requests + event.requests,
      });
    }
    for (const [tokenId, traffic] of byToken) this.#spend.add(tx, tokenId, traffic);
  }

  #storeOne(tx: Tx, event: PlaneEvent): void {
    switch (event.kind) {
      case 'usage':
        tx.db
          .update(tunnels)
          .set({
            bytesIn: sql`${tunnels.bytesIn} + ${event.bytesIn}`,
            bytesOut: sql`${tunnels.bytesOut} + ${event.bytesOut}`,
            totalRequests: sql`${tunnels.totalRequests} + ${event.requests}`,
          })
          .where(eq(tunnels.id, event.tunnelId))
          .run();
        return;
      case 'agent': {
        const live = and(eq(tunnels.id, event.tunnelId), isNull(tunnels.deletedAt));
        // Left, but another agent has taken over since: the tunnel is as active as before.
        const online = event.online || this.#nodes.isOnline(event.tunnelId);
        const status = online ? ('active' as const) : ('inactive' as const);
        const allowed = online ? and(live, eq(tunnels.stopped, false), eq(tunnels.expired, false)) : live;
        tx.db.update(tunnels).set({ status, touchedAt: tx.now }).where(allowed).run();
        return;
      }
      default:
        event satisfies never;
    }
  }
}
