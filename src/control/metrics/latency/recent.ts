/** What alerts ask: how many requests failed lately, and how long requests took. */
import type { Db } from '../../db/tx.ts';
import { LatencySum, percentilesOf } from './latency-sum.ts';
import { rowsSince, startOf } from './latency-rows.ts';

export interface RecentLatency {
  /** All requests, blocked ones too. */
  readonly count: number;
  /** Requests with a status of 5xx. */
  readonly errors: number;
  /** Of requests that reached an agent; null: there were none. */
  readonly p95FirstByteMs: number | null;
  readonly p95TotalMs: number | null;
}

/** Longer spans are read by the quarter of an hour. */
const BY_MINUTE_MS = 2 * 3_600_000;

/**
 * Requests of `scopes` together since an instant at most 24 h ago. A scope is the id of a tunnel, or of an organization for all of its
 * tunnels. The first minute counts as a whole, the first quarter of an hour of a span over 2 h too. Data nodes report every 10 s.
 */
export function recentLatency(
  db: Db,
  of: { readonly scopes: readonly string[]; readonly sinceMs: number; readonly now: number },
): RecentLatency {
  const widest = of.now - of.sinceMs > BY_MINUTE_MS ? 900 : 60;
  const sum = new LatencySum();
  const from = startOf(of.sinceMs, widest);
  for (const row of rowsSince(db, of.scopes, { from, now: of.now, widest })) sum.addRow(row);
  return {
    count: sum.count,
    errors: sum.errors,
    p95FirstByteMs: percentilesOf(sum.firstByte).p95,
    p95TotalMs: percentilesOf(sum.total).p95,
  };
}
