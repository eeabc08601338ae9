/**
 * Event batches of data nodes into rows: counters of tunnels, private networks and organizations by time, what keys have spent, what tried actions would refuse, agents that came and left, and why. One transaction per batch; a
 * batch that comes again is dropped by (node, sequence). Called by control/link.ts.
 */
import { and, eq, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import type { EventBatch, PlaneEvent, UsageEvent } from '../../../plane/events.ts';
import type { NodeControl } from '../../../plane/link.ts';
import type { RelayUsageEvent } from '../../../plane/relays.ts';
import { liveTunnels } from '../../db/gone.ts';
import { nodeCursors, tunnels } from '../../db/schema.ts';
import { prepared } from '../../db/prepared.ts';
import type { Store, Tx } from '../../db/tx.ts';
import { LatencyBuckets } from '../../metrics/latency/buckets.ts';
import type { LatencyTotals } from '../../metrics/latency/totals.ts';
import { UsageBuckets } from '../../metrics/usage-buckets.ts';
import type { Spend } from '../../access-keys/spend.ts';
import { agentLeft, agentOnline, nodeReported } from '../events.ts';
import { EPHEMERAL_MS, LEFT_MS } from '../rows.ts';
import { EndedSessionRows } from '../connections/ended-sessions.ts';

export class Usage {
  readonly #store: Store;
  readonly #nodes: NodeControl;
  readonly #spend: Spend;
  readonly #buckets: UsageBuckets;
  readonly #latency: LatencyBuckets;
  readonly #ended: EndedSessionRows;

  constructor(deps: {
    store: Store;
    nodes: NodeControl;
    spend: Spend;
    latencyTotals: LatencyTotals;
  }) {
    this.#store = deps.store;
    this.#nodes = deps.nodes;
    this.#spend = deps.spend;
    const { db } = deps.store;
    this.#buckets = new UsageBuckets(db);
    this.#latency = new LatencyBuckets(db, deps.latencyTotals);
    this.#ended = new EndedSessionRows(db);
  }

  /** Stores a batch. False when it was stored before. */
  storeBatch(batch: EventBatch): boolean {
    // Relaxed: the last seconds of counters are worth no wait for the disk.
    return this.#store.inTx(
      (tx) => {
        const cursor = tx.db.select().from(nodeCursors).where(eq(nodeCursors.node, batch.node)).get();
        if (cursor !== undefined && batch.sequence <= cursor.sequence) return false;
        for (const event of batch.events) this.#storeOne(tx, event);
        tx.emit(nodeReported, batch);
        this.#charge(tx, batch.events);
        this.#buckets.add(
          tx,
          batch.events.filter((event) => event.kind === 'usage' || event.kind === 'relay_usage'),
        );
        this.#latency.add(
          tx,
          batch.events.filter((event) => event.kind === 'latency'),
        );
        this.#ended.add(batch.events.filter((event) => event.kind === 'session_end'));
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
      if (event.kind !== 'usage' && event.kind !== 'relay_usage') continue;
      const { bytes, requests } = byToken.get(event.tokenId) ?? { bytes: 0, requests: 0 };
      byToken.set(event.tokenId, {
        bytes: bytes + event.bytesIn + event.bytesOut,
        requests: requests + requestsOf(event),
      });
    }
    this.#spend.add(tx, byToken);
  }

  #storeOne(tx: Tx, event: PlaneEvent): void {
    switch (event.kind) {
      case 'usage':
        counting(tx.db).run({ ...event, now: tx.now });
        return;
      case 'agent': {
        const { tunnelId, agentId, at } = event;
        const values = { tunnelId, agentId, at, now: tx.now };
        // It stays active in the table, and so the next process knows which agents to expect.
        if (event.restarting === true) return void restarts(tx.db).run(values);
        // Left, but another agent has taken over since: the tunnel is as active as before.
        const isKept = !event.online && this.#nodes.isOnline(tunnelId);
        const gone = event.lost === true ? left : stopped;
        (event.online ? came : isKept ? kept : gone)(tx.db).run(values);
        tx.emit(event.online || isKept ? agentOnline : agentLeft, { tunnelId });
        return;
      }
      case 'session_end':
      case 'latency':
        // All of a batch at once: storeBatch.
        return;
      case 'dry_run':
      case 'relay_usage':
      case 'device':
        // Those of their owners: nodeReported.
        return;
      default:
        event satisfies never;
    }
  }
}

/** Datagrams are no requests. */
function requestsOf(event: UsageEvent | RelayUsageEvent): number {
  return event.kind === 'usage' ? event.requests : 0;
}

// There may be a thousand events in a batch.

/** Adds one event to its tunnel. */
const counting = prepared((db) => {
  const plus = (column: SQLiteColumn, name: keyof UsageEvent) => sql`${column} + ${sql.placeholder(name)}`;
  return db
    .update(tunnels)
    .set({
      bytesIn: plus(tunnels.bytesIn, 'bytesIn'),
      bytesOut: plus(tunnels.bytesOut, 'bytesOut'),
      totalRequests: plus(tunnels.totalRequests, 'requests'),
      trafficAt: given('now'),
    })
    .where(eq(tunnels.id, sql.placeholder('tunnelId')))
    .prepare();
});

/**
 * An unnamed tunnel whose agent was stopped is as good as unused for a day: it goes in LEFT_MS. One that was stopped by the API, or has expired,
 * waits for its start.
 */
const leftAt = sql<number>`${sql.placeholder('now')} - CASE
  WHEN ${tunnels.ephemeral} AND NOT ${tunnels.stopped} AND NOT ${tunnels.expired} THEN ${EPHEMERAL_MS - LEFT_MS} ELSE 0 END`;

interface Mark {
  readonly status: 'active' | 'inactive';
  /** Of the agent that the event is about; null: it has come. Omitted: another agent serves the tunnel, and what is stored of it stays. */
  readonly agentLeft?: 'stopped' | 'lost' | null;
  readonly touchedAt?: SQL;
}

/** Marks a tunnel; as active only where an agent may serve it. */
const marking = ({ status, agentLeft: why, touchedAt = given('now') }: Mark) =>
  prepared((db) => {
    const live = and(eq(tunnels.id, sql.placeholder('tunnelId')), liveTunnels());
    const servable = and(live, eq(tunnels.stopped, false), eq(tunnels.expired, false));
    const agent = why === undefined ? {} : { agentId: given('agentId'), agentAt: given('at'), agentLeft: why };
    return db
      .update(tunnels)
      .set({ status, touchedAt, ...agent })
      .where(status === 'active' ? servable : live)
      .prepare();
  });

const came = marking({ status: 'active', agentLeft: null });
const kept = marking({ status: 'active' });
const restarts = marking({ status: 'active', agentLeft: 'lost' });
const left = marking({ status: 'inactive', agentLeft: 'lost' });
const stopped = marking({ status: 'inactive', agentLeft: 'stopped', touchedAt: leftAt });

function given(name: string): SQL {
  return sql`${sql.placeholder(name)}`;
}
