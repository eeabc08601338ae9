/**
 * What this process costs, and how long its event loop is blocked: read by the metrics. Made by server/start.ts and
 * closed by it. The loop's delay counts since the last read, so that of two readers each sees what passed since the other's.
 */
import {
  constants,
  monitorEventLoopDelay,
  performance,
  type PerformanceNodeEntry,
  PerformanceObserver,
} from 'node:perf_hooks';

/** How often the loop is looked at: 50 times a second finds whatever a visitor would notice, and costs nothing that can be measured. */
const LOOK_MS = 20;
const NS_PER_MS = 1_000_000;

const GC_KINDS = {
  minor: constants.NODE_PERFORMANCE_GC_MINOR,
  minor_mark_sweep: constants.NODE_PERFORMANCE_GC_MINOR_MARK_SWEEP,
  major: constants.NODE_PERFORMANCE_GC_MAJOR,
  incremental: constants.NODE_PERFORMANCE_GC_INCREMENTAL,
  weak_callbacks: constants.NODE_PERFORMANCE_GC_WEAKCB,
} as const;
type GcKind = keyof typeof GC_KINDS;

interface Pauses {
  count: number;
  seconds: number;
}

export interface ProcessFigures {
  /** Since the last look: how much later than asked for the loop came to its timers, and which share of the time it was busy. */
  readonly loop: { readonly p50Ms: number; readonly p99Ms: number; readonly maxMs: number; readonly busyShare: number };
  /** Bytes. `external`: buffers outside the heap. */
  readonly memory: {
    readonly resident: number;
    readonly heapUsed: number;
    readonly heapTotal: number;
    readonly external: number;
  };
  /** Since the watch began, by kind. */
  readonly collections: Readonly<Record<GcKind, Readonly<Pauses>>>;
  /** Open TCP connections of whatever kind, outgoing ones too. */
  readonly sockets: number;
  /** Of all threads, since the process began. */
  readonly cpuSeconds: number;
  /** When the process began, seconds since the epoch. */
  readonly startedAtSeconds: number;
}

export class ProcessWatch {
  readonly #delay = monitorEventLoopDelay({ resolution: LOOK_MS });
  readonly #collections: Record<GcKind, Pauses>;
  readonly #observer: PerformanceObserver;
  #utilization = performance.eventLoopUtilization();

  constructor() {
    const kinds = Object.keys(GC_KINDS) as GcKind[];
    this.#collections = Object.fromEntries(kinds.map((kind) => [kind, { count: 0, seconds: 0 }])) as Record<
      GcKind,
      Pauses
    >;
    const byNumber = new Map<unknown, Pauses>(kinds.map((kind) => [GC_KINDS[kind], this.#collections[kind]]));
    this.#observer = new PerformanceObserver((list) => {
      for (const { detail, duration } of list.getEntries() as PerformanceNodeEntry[]) {
        const pauses = byNumber.get((detail as { readonly kind?: unknown }).kind);
        if (pauses === undefined) continue;
        pauses.count++;
        pauses.seconds += duration / 1_000;
      }
    });
    this.#observer.observe({ entryTypes: ['gc'] });
    this.#delay.enable();
  }

  /** What there is now. The delay begins anew. */
  look(): ProcessFigures {
    const delay = this.#delay;
    const seen = delay.count > 0;
    const late = (ns: number): number => (seen ? Math.max(0, ns / NS_PER_MS - LOOK_MS) : 0);
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, this.#utilization);
    this.#utilization = now;
    const { user, system } = process.cpuUsage();
    const { rss, heapUsed, heapTotal, external } = process.memoryUsage();
    const figures: ProcessFigures = {
      loop: {
        p50Ms: late(delay.percentile(50)),
        p99Ms: late(delay.percentile(99)),
        maxMs: late(delay.max),
        busyShare: utilization,
      },
      memory: { resident: rss, heapUsed, heapTotal, external },
      collections: structuredClone(this.#collections),
      sockets: process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length,
      cpuSeconds: (user + system) / 1_000_000,
      startedAtSeconds: performance.timeOrigin / 1_000,
    };
    delay.reset();
    return figures;
  }

  /** May be called twice. */
  close(): void {
    this.#delay.disable();
    this.#observer.disconnect();
  }
}
