/** Records that were given up: counted in all, and by tunnel until a count of them is stored. Used by usage-store.ts. */
import type { InspectedRequest, UnrecordedCount } from '../../../plane/inspection.ts';
import { LOSS_REASONS, type LossReason } from './records.ts';

/** Beyond it losses are counted in all alone. */
const MAX_TUNNELS = 10_000;

export class LostRecords {
  readonly #byReason = Object.fromEntries(LOSS_REASONS.map((reason) => [reason, 0])) as Record<LossReason, number>;
  readonly #untold = new Map<string, UnrecordedCount>();

  get byReason(): Readonly<Record<LossReason, number>> {
    return { ...this.#byReason };
  }

  lose(records: readonly InspectedRequest[], reason: LossReason): void {
    this.#byReason[reason] += records.length;
    for (const { orgId, tunnelId } of records) this.#count({ orgId, tunnelId, count: 1 });
  }

  /** Counts that could not be stored, to be reported later. */
  keep(counts: readonly UnrecordedCount[]): void {
    for (const count of counts) this.#count(count);
  }

  /** Takes the counts that were not reported yet. */
  take(): UnrecordedCount[] {
    const counts = [...this.#untold.values()];
    this.#untold.clear();
    return counts;
  }

  #count({ orgId, tunnelId, count }: UnrecordedCount): void {
    const key = `${orgId} ${tunnelId}`;
    const known = this.#untold.get(key);
    if (known === undefined && this.#untold.size >= MAX_TUNNELS) return;
    this.#untold.set(key, { orgId, tunnelId, count: (known?.count ?? 0) + count });
  }
}
