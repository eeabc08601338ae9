/** How requests of an organization's tunnels went lately. */
import { and, eq, exists, gte } from 'drizzle-orm';
import { liveTunnels } from '../../db/gone.ts';
import { latencyBuckets, tunnels } from '../../db/schema.ts';
import type { Db } from '../../db/tx.ts';
import { recentLatency } from '../../metrics/latency/recent.ts';

export interface RequestFigures {
  readonly count: number;
  /** Responses with a status of 5xx. */
  readonly errors: number;
  /** 95 % of the requests had their first byte sooner, milliseconds; null: unknown. */
  readonly p95Ms: number | null;
}

interface Asked {
  readonly minutes: number;
  readonly now: number;
  /** null: all of the organization. */
  readonly tunnelId: string | null;
}

const MINUTE_MS = 60_000;

/**
 * Figures by tunnel, of those that had requests in the last minutes. Figures are kept by the minute: the present one counts as one, so that what a rule
 * finds is never older than the rule waits.
 */
export function recentRequests(db: Db, orgId: string, asked: Asked): ReadonlyMap<string, RequestFigures> {
  const { minutes, now } = asked;
  const sinceMs = Math.floor(now / MINUTE_MS - minutes + 1) * MINUTE_MS;
  const figures = busyTunnels(db, orgId, { ...asked, sinceMs }).map((id) => {
    const { count, errors, p95FirstByteMs: p95Ms } = recentLatency(db, { scopes: [id], sinceMs, now });
    return [id, { count, errors, p95Ms }] as const;
  });
  // A WebSocket alone is no request.
  return new Map(figures.filter(([, { count }]) => count > 0));
}

/** So that an evaluation of a thousand idle tunnels is one query. */
function busyTunnels(db: Db, orgId: string, { tunnelId, sinceMs }: Asked & { readonly sinceMs: number }): string[] {
  const { scopeId, widthSeconds, startsAt } = latencyBuckets;
  const { id } = tunnels;
  const lately = db
    .select({ scopeId })
    .from(latencyBuckets)
    .where(and(eq(scopeId, id), eq(widthSeconds, 60), gte(startsAt, sinceMs)));
  const isWatched = tunnelId === null ? undefined : eq(id, tunnelId);
  return db
    .select({ id })
    .from(tunnels)
    .where(and(eq(tunnels.orgId, orgId), isWatched, liveTunnels(), exists(lately)))
    .all()
    .map((row) => row.id);
}
