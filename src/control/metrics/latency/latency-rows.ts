/**
 * Rows of latency buckets. New traffic goes into minutes alone; roll-up.ts makes the wider buckets of them. A minute is kept long enough that
 * everything since `minutesFrom` is in minutes, and everything before in wider buckets.
 */
import { and, eq, getTableColumns, gte, inArray, lt, type Placeholder, sql } from 'drizzle-orm';
import { latencyBuckets } from '../../db/schema.ts';
import { prepared } from '../../db/prepared.ts';
import type { Db } from '../../db/tx.ts';
import type { LatencyValues } from './latency-sum.ts';

/** Widths in seconds, each made of the one before, and how long rows of it are kept: as long as a chart shows them, and a margin. */
export const WIDTHS = [
  { width: 60, keepSeconds: 3 * 3_600 },
  { width: 900, keepSeconds: 26 * 3_600 },
  { width: 3_600, keepSeconds: 8 * 86_400 },
  { width: 21_600, keepSeconds: 31 * 86_400 },
] as const;
export type Width = (typeof WIDTHS)[number]['width'];

/** From here on, finer rows than `width` are read in its place: those of it may not be made yet. */
const LAG_SECONDS = { 60: 0, 900: 3_600, 3_600: 7_200, 21_600: 14_400 } as const satisfies Record<Width, number>;

export function startOf(at: number, width: number): number {
  return Math.floor(at / (width * 1_000)) * width * 1_000;
}

export interface LatencyKey {
  /** A tunnel or an organization. */
  readonly scopeId: string;
  readonly widthSeconds: number;
  readonly startsAt: number;
}

export interface LatencyRow extends LatencyValues {
  readonly startsAt: number;
}

/** Everything of `scopes` that began at `from` or later, each request once, in rows of `widest` or finer. */
export function rowsSince(
  db: Db,
  scopes: readonly string[],
  of: { readonly from: number; readonly now: number; readonly widest: Width },
): readonly LatencyRow[] {
  const rows: LatencyRow[] = [];
  let { from } = of;
  const used = WIDTHS.filter(({ width }) => width <= of.widest).toReversed();
  for (const { width } of used) {
    // A multiple of this width and so of all finer ones.
    const until = width === 60 ? Infinity : startOf(of.now - LAG_SECONDS[width] * 1_000, width);
    if (until <= from) continue;
    rows.push(...rowsBetween(db, scopes, { width, from, until }));
    from = until;
  }
  return rows;
}

function rowsBetween(
  db: Db,
  scopes: readonly string[],
  { width, from, until }: { width: Width; from: number; until: number },
): readonly LatencyRow[] {
  const { scopeId, widthSeconds, startsAt } = latencyBuckets;
  const isIn = and(inArray(scopeId, [...scopes]), eq(widthSeconds, width), gte(startsAt, from));
  return db
    .select()
    .from(latencyBuckets)
    .where(until === Infinity ? isIn : and(isIn, lt(startsAt, until)))
    .all();
}

/** Reads and writes one row: there may be hundreds of tunnels in a batch. */
export const latencyStatements = prepared((db) => {
  const { scopeId, widthSeconds, startsAt } = latencyBuckets;
  const given = (name: string) => sql.placeholder(name);
  const isRow = and(
    eq(scopeId, given('scopeId')),
    eq(widthSeconds, given('widthSeconds')),
    eq(startsAt, given('startsAt')),
  );
  const columns = Object.entries(getTableColumns(latencyBuckets));
  const values = Object.fromEntries(columns.map(([name]) => [name, given(name)]));
  const set = Object.fromEntries(columns.map(([name, column]) => [name, sql.raw(`excluded."${column.name}"`)]));
  const insert = db
    .insert(latencyBuckets)
    .values(values as Record<keyof LatencyKey | keyof LatencyValues, Placeholder>)
    .onConflictDoUpdate({ target: [scopeId, widthSeconds, startsAt], set })
    .prepare();
  const read = db.select().from(latencyBuckets).where(isRow).prepare();
  return {
    read: (key: LatencyKey): LatencyRow | undefined => read.get({ ...key }),
    /** In place of what is there. */
    write: (key: LatencyKey, row: LatencyValues): void => void insert.run({ ...key, ...row }),
  };
});
