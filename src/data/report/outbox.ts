/**
 * The queue of reports to the control plane. One batch is on its way at a time and is sent again, with the same number, until it
 * is stored; what happens meanwhile is merged, so that an absent control plane costs memory per tunnel and not per event.
 * Fed by report/meter.ts (usage), data/latency, report/dry-runs.ts (what tried actions would refuse), data/relay (private networks and their devices) and
 * data/gateway (agents that come and go, sessions that ended).
 */
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { within } from '../../base/limits/within.ts';
import type {
  AgentEvent,
  DryRunEvent,
  EventBatch,
  PlaneEvent,
  SessionEndEvent,
  UsageEvent,
} from '../../plane/events.ts';
import type { LatencyEvent } from '../../plane/latency.ts';
import type { Link } from '../../plane/link.ts';
import type { DeviceEvent, RelayUsageEvent } from '../../plane/relays.ts';

export interface OutboxOptions {
  /** Name of the node and this start of it. */
  readonly node: string;
  /**
   * Tunnel-and-token pairs, network-and-token pairs, tunnel-and-agent pairs, devices, and tried actions, that may wait, of each so many; beyond it
   * the newest is dropped and counted.
   */
  readonly maxWaiting?: number;
  /** Events of one batch. */
  readonly maxBatch?: number;
  /** First pause after a failed send; doubles up to `maxRetryMs`. */
  readonly retryMs?: number;
  readonly maxRetryMs?: number;
  /** An answer that has not come by then is taken for lost. */
  readonly answerMs?: number;
}

interface Sums {
  readonly tunnelId: string;
  readonly tokenId: string;
  requests: number;
  bytesIn: number;
  bytesOut: number;
}

/** Of latency in one batch: each is stored in a histogram of its tunnel, which costs more than a counter does. */
const MAX_LATENCY = 100;

type Writable<T> = { -readonly [K in keyof T]: T[K] };

export class Outbox {
  readonly #link: Link;
  readonly #log: Logger;
  readonly #options: Required<OutboxOptions>;
  readonly #usage = new Map<string, Sums>();
  /** By tunnel. */
  readonly #latency = new Map<string, LatencyEvent>();
  /** The last word per agent and tunnel, oldest change first. */
  readonly #agents = new Map<string, AgentEvent>();
  /** By agent, oldest first. */
  readonly #ends = new Map<string, SessionEndEvent>();
  /** By tunnel and place of the action. */
  readonly #dryRuns = new Map<string, DryRunEvent>();
  /** By network and token. */
  readonly #relayUsage = new Map<string, Writable<RelayUsageEvent>>();
  /** By network and device. */
  readonly #devices = new Map<string, DeviceEvent>();
  #sequence = 0;
  #sending: Promise<void> | undefined;
  #wake: (() => void) | undefined;
  #scheduled: NodeJS.Immediate | undefined;
  #closed = false;
  #dropped = 0;

  constructor(options: OutboxOptions, deps: { link: Link; log: Logger }) {
    this.#options = {
      maxWaiting: 20_000,
      maxBatch: 1_000,
      retryMs: 500,
      maxRetryMs: 10_000,
      answerMs: 30_000,
      ...options,
    };
    this.#link = deps.link;
    this.#log = deps.log;
  }

  /** Entries that wait for the next batch. */
  get waiting(): number {
    const all = [this.#usage, this.#latency, this.#agents, this.#ends, this.#dryRuns, this.#relayUsage, this.#devices];
    return all.reduce((sum, { size }) => sum + size, 0);
  }

  /** Every report so far is stored. */
  get idle(): boolean {
    return this.waiting === 0 && this.#sending === undefined;
  }

  /** Events that were dropped because the bound was reached. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Adds to what waits for this tunnel and token. */
  addUsage(event: Omit<UsageEvent, 'kind'>): void {
    const key = `${event.tunnelId} ${event.tokenId}`;
    const sums = this.#usage.get(key);
    if (sums !== undefined) {
      sums.requests += event.requests;
      sums.bytesIn += event.bytesIn;
      sums.bytesOut += event.bytesOut;
      return;
    }
    if (!this.#room(this.#usage.size)) return;
    this.#usage.set(key, { ...event });
    this.#schedule();
  }

  /** Whether what was counted of this tunnel still waits: the next must wait too. */
  hasLatency(tunnelId: string): boolean {
    return this.#latency.has(tunnelId);
  }

  /** Of a tunnel of which nothing waits. */
  addLatency(event: LatencyEvent): void {
    if (!this.#room(this.#latency.size)) return;
    this.#latency.set(event.tunnelId, event);
    this.#schedule();
  }

  /** Adds to what waits for this private network and token. */
  addRelayUsage(event: Omit<RelayUsageEvent, 'kind'>): void {
    const key = `${event.networkId} ${event.tokenId}`;
    const sums = this.#relayUsage.get(key);
    if (sums !== undefined) {
      sums.packetsIn += event.packetsIn;
      sums.bytesIn += event.bytesIn;
      sums.packetsOut += event.packetsOut;
      sums.bytesOut += event.bytesOut;
      return;
    }
    if (!this.#room(this.#relayUsage.size)) return;
    this.#relayUsage.set(key, { kind: 'relay_usage', ...event });
    this.#schedule();
  }

  /** Adds to what waits for this device; where it was last is what was said last. */
  addDevice(event: Omit<DeviceEvent, 'kind'>): void {
    const key = `${event.networkId} ${event.deviceId}`;
    const before = this.#devices.get(key);
    if (before === undefined && !this.#room(this.#devices.size)) return;
    this.#devices.set(key, {
      kind: 'device',
      ...event,
      handshakeAt: event.handshakeAt ?? before?.handshakeAt ?? null,
      bytesIn: event.bytesIn + (before?.bytesIn ?? 0),
      bytesOut: event.bytesOut + (before?.bytesOut ?? 0),
    });
    this.#schedule();
  }

  /** An agent came or left. Only its last word per tunnel is kept while it waits, in the order in which they were said. */
  addAgent(event: AgentEvent): void {
    const key = `${event.tunnelId} ${event.agentId}`;
    if (!this.#agents.delete(key) && !this.#room(this.#agents.size)) return;
    this.#agents.set(key, event);
    this.#schedule();
  }

  /** A session ended. At the bound the oldest goes: only the last ones are kept anywhere. */
  addEnd(event: SessionEndEvent): void {
    if (this.#ends.size >= this.#options.maxWaiting)
      for (const oldest of this.#ends.keys()) {
        this.#ends.delete(oldest);
        this.#dropped++;
        break;
      }
    this.#ends.set(event.agentId, event);
    this.#schedule();
  }

  /** Adds to what waits for this action. Of two policies of a tunnel the newer one counts. */
  addDryRun(event: DryRunEvent): void {
    const key = `${event.tunnelId} ${event.index}`;
    const before = this.#dryRuns.get(key);
    if (before === undefined && !this.#room(this.#dryRuns.size)) return;
    if (before !== undefined && before.setAt > event.setAt) return;
    const refused = before?.setAt === event.setAt ? before.refused + event.refused : event.refused;
    this.#dryRuns.set(key, { ...event, refused });
    this.#schedule();
  }

  /** Resolves when everything that waits now is stored, or after `timeoutMs`. Returns whether it is. */
  async flush(timeoutMs: number): Promise<boolean> {
    const deadline = performance.now() + timeoutMs;
    while (this.waiting > 0 || this.#sending !== undefined) {
      this.#start();
      const left = deadline - performance.now();
      if (left <= 0) return false;
      await within(this.#sending ?? Promise.resolve(), left, { holdsProcess: true });
    }
    return true;
  }

  /** Sends nothing more; `flush` first. */
  close(): void {
    this.#closed = true;
    clearImmediate(this.#scheduled);
    this.#wake?.();
  }

  #room(size: number): boolean {
    if (size < this.#options.maxWaiting) return true;
    if (this.#dropped++ === 0) {
      this.#log.error(
        { waiting: size },
        'the control plane has been unreachable for too long: usage of new tunnels is not counted',
      );
    }
    return false;
  }

  /** In the next turn, so that all that happens in one turn goes into one batch. */
  #schedule(): void {
    if (this.#sending !== undefined || this.#scheduled !== undefined || this.#closed) return;
    this.#scheduled = setImmediate(() => this.#start());
  }

  #start(): void {
    this.#scheduled = undefined;
    if (this.#sending !== undefined || this.#closed) return;
    this.#sending = this.#sendAll().finally(() => {
      this.#sending = undefined;
    });
  }

  async #sendAll(): Promise<void> {
    while (this.waiting > 0 && !this.#closed) {
      const batch: EventBatch = { node: this.#options.node, sequence: ++this.#sequence, events: this.#take() };
      await this.#deliver(batch);
    }
  }

  async #deliver(batch: EventBatch): Promise<void> {
    let pauseMs = this.#options.retryMs;
    let failures = 0;
    while (!this.#closed) {
      try {
        if (await within(this.#link.report(batch), this.#options.answerMs)) break;
        throw new Error('no response');
      } catch (error) {
        if (failures++ === 0)
          this.#log.warn({ sequence: batch.sequence, error: messageOf(error) }, 'could not store a report: retrying');
      }
      await this.#pause(pauseMs);
      pauseMs = Math.min(pauseMs * 2, this.#options.maxRetryMs);
    }
    if (failures > 0 && !this.#closed) this.#log.info({ sequence: batch.sequence, failures }, 'the report was stored');
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#wake?.(), ms).unref();
      this.#wake = () => {
        clearTimeout(timer);
        this.#wake = undefined;
        resolve();
      };
    });
  }

  #take(): PlaneEvent[] {
    const events: PlaneEvent[] = [];
    this.#move(this.#agents, events);
    for (const [key, sums] of this.#usage) {
      if (events.length === this.#options.maxBatch) return events;
      this.#usage.delete(key);
      events.push({ kind: 'usage', ...sums });
    }
    this.#move(this.#latency, events, MAX_LATENCY);
    this.#move(this.#relayUsage, events);
    this.#move(this.#ends, events);
    this.#move(this.#dryRuns, events);
    this.#move(this.#devices, events);
    return events;
  }

  /** As many as the batch has room for. */
  #move(from: Map<string, PlaneEvent>, events: PlaneEvent[], max = Infinity): void {
    const most = Math.min(this.#options.maxBatch, events.length + max);
    for (const [key, event] of from) {
      if (events.length === most) return;
      from.delete(key);
      events.push(event);
    }
  }
}
