/** The number of this start among all starts on this database: what is numbered within it never falls behind an earlier one. */
import { sql } from 'drizzle-orm';
import { counters } from './schema.ts';
import type { Store } from './tx.ts';

export function nextEpoch(store: Store): number {
  const row = store.inTx((tx) =>
    tx.db
      .insert(counters)
      .values({ name: 'epoch', value: 1 })
      .onConflictDoUpdate({ target: counters.name, set: { value: sql`${counters.value} + 1` } })
      .returning({ value: counters.value })
      .get(),
  );
  return row.value;
}
