/**
 * How fast passwords may be computed beside visitors. A low priority alone is not enough on a small machine: the threads still take the
 * caches, the memory and the moments in which the edge waits for a packet. Measured on two cores: a storm of log-ins took a third of the
 * edge's throughput at the lowest priority, and still a quarter under the scheduler's idle class. So when the machine is busy with
 * everything else, the threads rest between two runs. Pure, but for its arguments; used by argon2-threads.ts.
 */
import type { CpuInfo } from 'node:os';

/** Below this share of the machine all else leaves enough. A storm of log-ins alone stays far below it. */
const QUIET = 0.55;
/** At this share and above it the rest is the longest. */
const BUSY = 0.75;
/** Rest at most, as a multiple of the run: one thread at work for a fourteenth of the time. */
const MAX_REST = 13;
/** A run that was kept from its processor takes long without taking anything: more rest would only keep people waiting. */
const MAX_REST_MS = 200;

export interface Pace {
  /** Threads that may run at once. */
  readonly threads: number;
  /** Milliseconds to wait after a run that took `ranMs`, before the next one begins. */
  rest(ranMs: number): number;
}

/** `busy`: share of the machine that is taken by others than threads of low priority, 0 to 1. `cores`: what this process may use. */
export function paceFor(busy: number, cores: number): Pace {
  // The edge is one thread: with four cores there are two that it never needs.
  const load = cores >= 4 ? 0 : Math.min(1, Math.max(0, (busy - QUIET) / (BUSY - QUIET)));
  return {
    threads: load > 0 ? 1 : Math.min(2, cores),
    rest: (ranMs) => Math.min(ranMs * MAX_REST * load, MAX_REST_MS),
  };
}

/** Times of all processors since the machine started, milliseconds. */
export interface MachineTime {
  readonly busy: number;
  readonly total: number;
}

/** Where a system does not tell low priority apart, our own threads count as busy: they then rest sooner. */
export function machineTime(cpus: readonly CpuInfo[]): MachineTime {
  let busy = 0;
  let total = 0;
  for (const { times } of cpus) {
    busy += times.user + times.sys + times.irq;
    total += times.user + times.sys + times.irq + times.nice + times.idle;
  }
  return { busy, total };
}

/** Share of the machine that was busy between two looks; 0 when no time has passed. */
export function busyShare(from: MachineTime, to: MachineTime): number {
  return to.total > from.total ? (to.busy - from.busy) / (to.total - from.total) : 0;
}
