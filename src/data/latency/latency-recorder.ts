/**
 * Counts how requests of tunnels end and how long they take, and reports it every ten seconds. Memory: 3.2 KB for each tunnel with traffic since
 * the last report, of at most MAX_TUNNELS; what others have is not counted until then, and is said in the log. While the control plane is away,
 * a tunnel whose last report still waits goes on counting: nothing is lost, and nothing grows.
 */
import type { Logger } from '../../base/log.ts';
import type { Outbox } from '../report/outbox.ts';
import type { RouteEntry } from '../routing/entry.ts';
import { COUNTS_SIZE, type CountsLender, TunnelLatency } from './tunnel-latency.ts';

const PERIOD_MS = 10_000;
/** 26 MB. */
const MAX_TUNNELS = 8_192;
/** Arrays that are kept for the next period. */
const MAX_SPARE = 256;
/** Tunnels that are reported in one turn of the loop: about half a millisecond. */
const SLICE = 50;

export interface LatencyOptions {
  readonly maxTunnels?: number;
  readonly periodMs?: number;
}

export class LatencyRecorder implements CountsLender {
  readonly #outbox: Pick<Outbox, 'addLatency' | 'hasLatency'>;
  readonly #log: Logger;
  readonly #maxTunnels: number;
  readonly #timer: NodeJS.Timeout;
  /** With something to report. */
  #lent = new Set<TunnelLatency>();
  readonly #spare: Uint32Array[] = [];
  #left: TunnelLatency[] = [];
  #turn: NodeJS.Immediate | undefined;
  #isFull = false;

  constructor(deps: { outbox: Pick<Outbox, 'addLatency' | 'hasLatency'>; log: Logger }, options: LatencyOptions = {}) {
    this.#outbox = deps.outbox;
    this.#log = deps.log;
    this.#maxTunnels = options.maxTunnels ?? MAX_TUNNELS;
    this.#timer = setInterval(() => this.#begin(), options.periodMs ?? PERIOD_MS);
    this.#timer.unref();
  }

  /** The counters of a tunnel, from its first request on. */
  of(entry: RouteEntry): TunnelLatency {
    return (entry.latency ??= new TunnelLatency(entry.route.tunnelId, this));
  }

  lend(to: TunnelLatency): Uint32Array | null {
    if (this.#lent.size >= this.#maxTunnels) {
      if (!this.#isFull)
        this.#log.warn({ tunnels: this.#lent.size }, 'too many tunnels have traffic: latency of others is not counted');
      this.#isFull = true;
      return null;
    }
    this.#lent.add(to);
    return this.#spare.pop() ?? new Uint32Array(COUNTS_SIZE);
  }

  /** Reports all at once. */
  flush(): void {
    for (const one of this.#lent) this.#report(one);
    this.#left = [];
  }

  /** Reports the last ones. */
  close(): void {
    clearInterval(this.#timer);
    clearImmediate(this.#turn);
    this.flush();
  }

  #begin(): void {
    if (this.#left.length > 0) return;
    this.#left = [...this.#lent];
    this.#reportSome();
  }

  #reportSome(): void {
    for (const one of this.#left.splice(0, SLICE)) this.#report(one);
    if (this.#left.length > 0) this.#turn = setImmediate(() => this.#reportSome());
  }

  #report(one: TunnelLatency): void {
    if (this.#outbox.hasLatency(one.tunnelId)) return;
    const taken = one.take();
    this.#lent.delete(one);
    if (taken === null) return;
    this.#isFull = false;
    if (this.#spare.length < MAX_SPARE) this.#spare.push(taken.counts);
    this.#outbox.addLatency(taken.event);
  }
}
