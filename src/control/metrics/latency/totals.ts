/**
 * Durations since the start of the server, in the buckets of a Prometheus histogram: per tunnel for its organization, and of the whole server.
 * In memory, because scrapers know counters that start anew.
 */
import { RecentMap } from '../../../base/limits/recent-map.ts';
import { cellMiddle, type LatencyEvent } from '../../../plane/latency.ts';

/** Upper limits in seconds. */
export const DURATION_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60] as const;

/** Tunnels that are remembered: those with the latest traffic. */
const MAX_TUNNELS = 20_000;

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
      const seconds = cellMiddle(pairs[i] as number) / 1_000;
      const count = pairs[i + 1] as number;
      const found = DURATION_BUCKETS.findIndex((limit) => seconds <= limit);
      const at = found === -1 ? DURATION_BUCKETS.length : found;
      this.counts[at] = (this.counts[at] ?? 0) + count;
      this.sumSeconds += seconds * count;
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
