/**
 * Traffic of organizations in stretches of time, one width per window that can be asked for. Written in the transaction that counts the
 * traffic, so that the chart and the counters say the same after a crash. Written by tunnels/plane/usage.ts, read by service.ts.
 */
import { and, eq, gte, lt, or, sql } from 'drizzle-orm';
import type { UsageEvent } from '../../plane/events.ts';
import type { RelayUsageEvent } from '../../plane/relays.ts';
import { privateNetworks, tunnels, usageBuckets } from '../db/schema.ts';
import { prepared } from '../db/prepared.ts';
import type { Db, Tx } from '../db/tx.ts';

/** How a window is cut: the width of a bucket in seconds, and how many there are. */
export const WINDOWS = {
  '1h': { width: 60, count: 60 },
  '24h': { width: 900, count: 96 },
  '7d': { width: 3_600, count: 168 },
  '30d': { width: 21_600, count: 120 },
} as const;
export type Window = keyof typeof WINDOWS;

export interface Traffic {
  readonly requests: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

export interface Bucket extends Traffic {
  /** Milliseconds since the epoch. */
  readonly startsAt: number;
}

const NOTHING: Traffic = { requests: 0, bytesIn: 0, bytesOut: 0 };
/** Rows that go in one pass. */
const SWEEP_BATCH = 1_000;

/** Adds what a batch of a data node says, at the instant of the transaction. */
export class UsageBuckets {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  add(tx: Tx, events: Iterable<UsageEvent | RelayUsageEvent>): void {
    const byOrg = new Map<string, { requests: number; bytesIn: number; bytesOut: number }>();
    for (const event of events) {
      const orgId = this.#owner(event);
      // Of a tunnel whose row is gone: no chart.
      if (orgId === undefined) continue;
      const sum = byOrg.get(orgId) ?? { ...NOTHING };
      sum.requests += event.kind === 'usage' ? event.requests : 0;
      sum.bytesIn += event.bytesIn;
      sum.bytesOut += event.bytesOut;
      byOrg.set(orgId, sum);
    }
    for (const [orgId, traffic] of byOrg) {
      for (const { width } of Object.values(WINDOWS))
        adding(this.#db).run({ orgId, width, startsAt: startOf(tx.now, width), ...traffic });
    }
  }

  #owner(event: UsageEvent | RelayUsageEvent): string | undefined {
    return event.kind === 'usage'
      ? owning(this.#db).get({ tunnelId: event.tunnelId })?.orgId
      : owningNetwork(this.#db).get({ networkId: event.networkId })?.orgId;
  }
}

/** All buckets of the window, oldest first, those without traffic too. The last one is the present, and not over yet. */
export function bucketsOf(
  db: Db,
  orgId: string,
  of: { readonly window: Window; readonly now: number },
): readonly Bucket[] {
  const { width, count } = WINDOWS[of.window];
  const first = startOf(of.now, width) - (count - 1) * width * 1000;
  const { startsAt, widthSeconds } = usageBuckets;
  const rows = db
    .select()
    .from(usageBuckets)
    .where(and(eq(usageBuckets.orgId, orgId), eq(widthSeconds, width), gte(startsAt, first)))
    .all();
  const known = new Map(rows.map((row) => [row.startsAt, row]));
  return Array.from({ length: count }, (_, i) => {
    const at = first + i * width * 1000;
    const { requests, bytesIn, bytesOut } = known.get(at) ?? NOTHING;
    return { startsAt: at, requests, bytesIn, bytesOut };
  });
}

/** Deletes a batch of what no window shows any more. Called by core/retention.ts. */
export function forgetBuckets({ db, now }: Tx): void {
  const { widthSeconds, startsAt } = usageBuckets;
  const past = or(
    ...Object.values(WINDOWS).map(({ width, count }) =>
      and(eq(widthSeconds, width), lt(startsAt, now - (count + 1) * width * 1000)),
    ),
  );
  // By rowid: its key is three columns.
  const batch = sql`SELECT rowid FROM ${usageBuckets} WHERE ${past} LIMIT ${SWEEP_BATCH}`;
  db.delete(usageBuckets).where(sql`rowid IN (${batch})`).run();
}

function startOf(now: number, width: number): number {
  return Math.floor(now / (width * 1000)) * width * 1000;
}

// As in tunnels/plane/usage.ts: there may be a thousand events in a batch.

const owning = prepared((db) => {
  return db
    .select({ orgId: tunnels.orgId })
    .from(tunnels)
    .where(eq(tunnels.id, sql.placeholder('tunnelId')))
    .prepare();
});

const owningNetwork = prepared((db) => {
  return db
    .select({ orgId: privateNetworks.orgId })
    .from(privateNetworks)
    .where(eq(privateNetworks.id, sql.placeholder('networkId')))
    .prepare();
});

const adding = prepared((db) => {
  const { orgId, widthSeconds, startsAt, requests, bytesIn, bytesOut } = usageBuckets;
  const given = (name: string) => sql`${sql.placeholder(name)}`;
  return db
    .insert(usageBuckets)
    .values({
      orgId: given('orgId'),
      widthSeconds: given('width'),
      startsAt: given('startsAt'),
      requests: given('requests'),
      bytesIn: given('bytesIn'),
      bytesOut: given('bytesOut'),
    })
    .onConflictDoUpdate({
      target: [orgId, widthSeconds, startsAt],
      set: {
        requests: sql`${requests} + excluded.requests`,
        bytesIn: sql`${bytesIn} + excluded.bytes_in`,
        bytesOut: sql`${bytesOut} + excluded.bytes_out`,
      },
    })
    .prepare();
});
