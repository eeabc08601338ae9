/**
 * Traffic of tunnels and their organizations by the minute. Written by tunnels/plane/usage.ts in the transaction that stores the batch of a data
 * node: a crash loses what the node had not reported yet, 10 s at most.
 */
import { eq, sql } from 'drizzle-orm';
import type { LatencyEvent } from '../../../plane/latency.ts';
import { tunnels } from '../../db/schema.ts';
import { prepared } from '../../db/prepared.ts';
import type { Db, Tx } from '../../db/tx.ts';
import { latencyStatements, startOf } from './latency-rows.ts';
import { LatencySum } from './latency-sum.ts';
import type { LatencyTotals } from './totals.ts';

export class LatencyBuckets {
  readonly #db: Db;
  readonly #totals: LatencyTotals;

  constructor(db: Db, totals: LatencyTotals) {
    this.#totals = totals;
    this.#db = db;
  }

  /** Adds events of a data node, at the instant of the transaction. An organization is written once for all of its tunnels. */
  add(tx: Tx, events: Iterable<LatencyEvent>): void {
    const rows = latencyStatements(this.#db);
    const byScope = new Map<string, LatencySum>();
    const add = (scope: string, event: LatencyEvent): void => {
      const sum = byScope.get(scope) ?? new LatencySum();
      sum.addEvent(event);
      byScope.set(scope, sum);
    };
    for (const event of events) {
      const orgId = owning(this.#db).get({ tunnelId: event.tunnelId })?.orgId;
      // Of a tunnel whose row is gone: no chart.
      if (orgId === undefined) continue;
      add(event.tunnelId, event);
      add(orgId, event);
      tx.onCommit(() => this.#totals.add(event));
    }
    const startsAt = startOf(tx.now, 60);
    for (const [scopeId, sum] of byScope) {
      const key = { scopeId, widthSeconds: 60, startsAt };
      const before = rows.read(key);
      if (before !== undefined) sum.addRow(before);
      rows.write(key, sum.values());
    }
  }
}

const owning = prepared((db) => {
  return db
    .select({ orgId: tunnels.orgId })
    .from(tunnels)
    .where(eq(tunnels.id, sql.placeholder('tunnelId')))
    .prepare();
});
