/**
 * Traffic in one run of the property: each serving carries a stream from when it was first seen until its session is over, also when another
 * agent has taken its tunnel over meanwhile, as a download of days would.
 */
import type { RouteEntry, ServedTunnel } from '../../src/data/routing/entry.ts';

export class ModelTraffic {
  readonly #carrying = new Set<ServedTunnel>();

  /** Servings that carry a stream, in the order in which they began. */
  get carrying(): readonly ServedTunnel[] {
    return [...this.#carrying];
  }

  /** Begins a stream on what serves now; the streams of sessions that are over have ended. */
  look(entries: Iterable<RouteEntry>, live: ReadonlySet<string>): void {
    for (const { served } of entries) {
      if (served === null || this.#carrying.has(served)) continue;
      served.inFlight++;
      this.#carrying.add(served);
    }
    for (const serving of this.#carrying) {
      if (live.has(serving.agentId)) continue;
      serving.inFlight--;
      this.#carrying.delete(serving);
    }
  }
}
