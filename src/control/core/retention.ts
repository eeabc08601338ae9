/**
 * What the tables forget, and when: the steps of all features, which own the tables. Called by jobs.ts. Each step deletes a bounded batch per
 * pass, in a transaction of its own, so that no pass holds the write lock or the loop for long; what is left goes in the next one.
 */
import { setImmediate } from 'node:timers/promises';
import { inArray, lt, type SQL } from 'drizzle-orm';
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import { DAY_MS } from '../../base/clock.ts';
import { auditEvents, spentOnce } from '../db/schema.ts';
import type { Store, Tx } from '../db/tx.ts';

/** Deletes one batch of what is past its time. */
export type ForgetStep = (tx: Tx) => void;

/** Rows of one table per pass. */
const BATCH = 1_000;
const AUDIT_DAYS = 365;

/** Rows of a table that go by their own columns alone. `key`: its primary key. */
export function forgetRows(table: SQLiteTable, key: SQLiteColumn, isPast: (now: number) => SQL): ForgetStep {
  return ({ db, now }) => {
    const batch = db.select({ key }).from(table).where(isPast(now)).limit(BATCH);
    db.delete(table).where(inArray(key, batch)).run();
  };
}

/** Of the tables that have no feature. */
const OWN: readonly ForgetStep[] = [
  forgetRows(spentOnce, spentOnce.id, (now) => lt(spentOnce.expiresAt, now)),
  forgetRows(auditEvents, auditEvents.id, (now) => lt(auditEvents.at, now - AUDIT_DAYS * DAY_MS)),
];

export class Retention {
  readonly #store: Store;
  readonly #steps: readonly ForgetStep[];

  constructor(deps: { store: Store; steps: readonly ForgetStep[] }) {
    this.#store = deps.store;
    this.#steps = [...OWN, ...deps.steps];
  }

  /** Deletes what is past its time: one batch of each table, with a turn of the loop for others in between. */
  async run(stopping: AbortSignal): Promise<void> {
    for (const step of this.#steps) {
      this.#forget(step);
      await setImmediate();
      if (stopping.aborted) return;
    }
  }

  /** The same at once. */
  sweep(): void {
    for (const step of this.#steps) this.#forget(step);
  }

  #forget(step: ForgetStep): void {
    // Relaxed: what a power cut brings back is deleted once more.
    this.#store.inTx(step, { relaxed: true });
  }
}
