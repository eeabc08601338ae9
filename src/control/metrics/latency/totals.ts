/**
 * Durations since the start of the server, in the buckets of a Prometheus histogram: per tunnel for its organization, and of the whole server.
 * In memory, because scrapers know counters that start anew.
 */
import { RecentMap } from '../../../base/limits/recent-map.ts';
import { cellMiddle, LATENCY_CELLS, type LatencyEvent } from '../../../plane/latency.ts';

/** Upper limits in seconds. */
export const DURATION_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60] as const;

/** Tunnels that are remembered: those with the latest traffic. */
const MAX_TUNNELS = 20_000;

/** By cell: how long its requests take, and which bucket that is. */
const SECONDS = Array.from({ length: LATENCY_CELLS }, (_, cell) => cellMiddle(cell) / 1_000);
const BUCKET_OF = SECONDS.map((seconds) => {
  const found = DURATION_BUCKETS.findIndex((limit) => seconds <= limit);
  return found === -1 ? DURATION_BUCKETS.length : found;
});

export interface Durations {
  /** Requests of each bucket alone; the last one is above all limits. */
  readonly counts: readonly number[];
  readonly sumSeconds: number;
}

class Total implements Durations {
  readonly counts: number[] = Array.from({ length: DURATION_BUCKETS.length + 1 }, () => 0);
  sumSeconds = 0;

  add(pairs: readonly number[]): void {
    for (let i = 0; i + 1 < pairs.length; i += 2) {
      const [cell = -1, count = 0] = [pairs[i], pairs[i + 1]];
      const at = BUCKET_OF[cell];
      if (at === undefined) continue;
      this.counts[at] = (this.counts[at] ?? 0) + count;
      this.sumSeconds += (SECONDS[cell] ?? 0) * count;
    }
  }
}

export class LatencyTotals {
  readonly #server = new Total();
  readonly #byTunnel = new RecentMap<string, Total>({ max: MAX_TUNNELS });

  add({ tunnelId, total }: LatencyEvent): void {
    if (total.length === 0) return;
    this.#server.add(total);
    const of = this.#byTunnel.get(tunnelId) ?? new Total();
    of.add(total);
    this.#byTunnel.set(tunnelId, of);
  }

  get server(): Durations {
    return this.#server;
  }

  /** Undefined: none since the start. */
  of(tunnelId: string): Durations | undefined {
    return this.#byTunnel.get(tunnelId);
  }
}
