/**
 * How fast passwords may be computed beside visitors. A low priority alone is not enough on a small machine: the threads still take the
 * caches, the memory and the moments in which the edge waits for a packet. Measured on two cores: a storm of log-ins took a third of the
 * edge's throughput at the lowest priority, and still a quarter under the scheduler's idle class. So when the event loop is busy, which is
 * where visitors are served, the threads rest between two runs. Pure, but for its argument; used by argon2-threads.ts.
 */

/** Below this share of its time the event loop leaves enough to all. A storm of log-ins alone stays below it. */
const QUIET = 0.5;
/** At this share and above it the rest is the longest. */
const BUSY = 0.8;
/** Rest at most, as a multiple of the run: one thread at work for a fourteenth of the time. */
const MAX_REST = 13;

export interface Pace {
  /** Threads that may run at once. */
  readonly threads: number;
  /** Milliseconds to wait after a run that took `ranMs`, before the next one begins. */
  rest(ranMs: number): number;
}

/** `utilization`: share of its time that the event loop was busy, 0 to 1. `cores`: what this process may use. */
export function paceFor(utilization: number, cores: number): Pace {
  // The edge is one thread: with four cores there are two that it never needs.
  const load = cores >= 4 ? 0 : Math.min(1, Math.max(0, (utilization - QUIET) / (BUSY - QUIET)));
  return {
    threads: load > 0 ? 1 : Math.min(2, cores),
    rest: (ranMs) => ranMs * MAX_REST * load,
  };
}
