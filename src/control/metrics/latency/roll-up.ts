/**
 * Makes wide latency buckets of narrow ones once their time is over, and forgets what is past. A bucket that is made again is the same: after
 * a restart the last one of each width is, because that run may have ended in the middle of it.
 */
import { setImmediate } from 'node:timers/promises';
import { and, eq, gte, inArray, lt, max, min, sql } from 'drizzle-orm';
import { latencyBuckets } from '../../db/schema.ts';
import type { Store, Tx } from '../../db/tx.ts';
import { latencyStatements, startOf, type Width, WIDTHS } from './latency-rows.ts';
import { LatencySum } from './latency-sum.ts';

/** Tunnels and organizations per transaction: some 6 ms. */
const SLICE = 25;
const FORGET_BATCH = 1_000;

interface Step {
  readonly width: Width;
  readonly finer: Width;
}

/** One wide bucket. */
interface Period extends Step {
  readonly startsAt: number;
}

export class LatencyRollUp {
  readonly #store: Store;
  /** From here on there are no buckets of a width yet. */
  readonly #from = new Map<Width, number>();

  constructor(deps: { store: Store }) {
    this.#store = deps.store;
  }

  /** Rows go once wider ones are made of them. */
  async run(stopping?: AbortSignal): Promise<void> {
    const isStopping = (): boolean => stopping?.aborted === true;
    for (const [i, { width }] of WIDTHS.entries()) {
      const finer = WIDTHS[i - 1]?.width;
      if (finer !== undefined) await this.#make({ width, finer }, isStopping);
    }
    for (const { width, keepSeconds } of WIDTHS) {
      const isPast = (now: number) => startOf(now - keepSeconds * 1_000, width);
      while (!isStopping() && this.#store.inTx((tx) => forget(tx, width, isPast(tx.now)), { relaxed: true }))
        await setImmediate();
    }
  }

  async #make(step: Step, isStopping: () => boolean): Promise<void> {
    const { width } = step;
    for (;;) {
      const startsAt = this.#next(step);
      if (startsAt === undefined) return;
      const period = { ...step, startsAt };
      const scopes = this.#scopesIn(period);
      for (let i = 0; i < scopes.length; i += SLICE) {
        if (isStopping()) return;
        this.#store.inTx(() => this.#write(period, scopes.slice(i, i + SLICE)), { relaxed: true });
        await setImmediate();
      }
      this.#from.set(width, startsAt + width * 1_000);
    }
  }

  /** The first period that is over, has traffic, and has no bucket yet. */
  #next({ width, finer }: Step): number | undefined {
    const { widthSeconds, startsAt } = latencyBuckets;
    const { db, clock } = this.#store;
    const last = () =>
      db
        .select({ at: max(startsAt) })
        .from(latencyBuckets)
        .where(eq(widthSeconds, width))
        .get()?.at;
    const from = this.#from.get(width) ?? last() ?? 0;
    this.#from.set(width, from);
    const first = db
      .select({ at: min(startsAt) })
      .from(latencyBuckets)
      .where(and(eq(widthSeconds, finer), gte(startsAt, from)))
      .get()?.at;
    if (first === undefined || first === null) return undefined;
    const start = startOf(first, width);
    return start + width * 1_000 <= clock.now() ? start : undefined;
  }

  #scopesIn(period: Period): readonly string[] {
    const { scopeId } = latencyBuckets;
    const rows = this.#store.db.selectDistinct({ scopeId }).from(latencyBuckets).where(isIn(period)).all();
    return rows.map((row) => row.scopeId);
  }

  #write(period: Period, scopes: readonly string[]): void {
    const { width: widthSeconds, startsAt } = period;
    const sums = new Map<string, LatencySum>();
    const { scopeId } = latencyBuckets;
    const rows = this.#store.db
      .select()
      .from(latencyBuckets)
      .where(and(inArray(scopeId, [...scopes]), isIn(period)))
      .all();
    for (const row of rows) {
      const sum = sums.get(row.scopeId) ?? new LatencySum();
      sum.addRow(row);
      sums.set(row.scopeId, sum);
    }
    const { write } = latencyStatements(this.#store.db);
    for (const [scope, sum] of sums) write({ scopeId: scope, widthSeconds, startsAt }, sum.values());
  }
}

/** The narrower rows of a period. */
function isIn({ width, finer, startsAt: from }: Period) {
  const { widthSeconds, startsAt } = latencyBuckets;
  return and(eq(widthSeconds, finer), gte(startsAt, from), lt(startsAt, from + width * 1_000));
}

/** False: there was less than a batch. */
function forget({ db }: Tx, width: Width, before: number): boolean {
  const { widthSeconds, startsAt } = latencyBuckets;
  // By rowid: its key is three columns.
  const past = and(eq(widthSeconds, width), lt(startsAt, before));
  const batch = sql`SELECT rowid FROM ${latencyBuckets} WHERE ${past} LIMIT ${FORGET_BATCH}`;
  return db.delete(latencyBuckets).where(sql`rowid IN (${batch})`).run().changes === FORGET_BATCH;
}
