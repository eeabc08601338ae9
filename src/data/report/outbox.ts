/**
 * What waits to be told to the control plane. One batch is on its way at a time and is sent again, with the same number, until it
 * is stored; what happens meanwhile is merged, so that an absent control plane costs memory per tunnel and not per event.
 * Fed by report/meter.ts (usage), report/dry-runs.ts (what tried actions would refuse) and data/gateway (agents that come and go, sessions that
 * ended).
 */
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { within } from '../../base/within.ts';
import type {
  AgentEvent,
  DryRunEvent,
  EventBatch,
  PlaneEvent,
  SessionEndEvent,
  UsageEvent,
} from '../../plane/events.ts';
import type { Link } from '../../plane/link.ts';

export interface OutboxOptions {
  /** Name of the node and this start of it. */
  readonly node: string;
  /** Tunnel-and-token pairs, tunnel-and-agent pairs, and tried actions, that may wait; beyond it the newest is dropped and counted. */
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

export class Outbox {
  readonly #link: Link;
  readonly #log: Logger;
  readonly #options: Required<OutboxOptions>;
  readonly #usage = new Map<string, Sums>();
  /** The last word per agent and tunnel, oldest change first. */
  readonly #agents = new Map<string, AgentEvent>();
  /** By agent, oldest first. */
  readonly #ends = new Map<string, SessionEndEvent>();
  /** By tunnel and place of the action. */
  readonly #dryRuns = new Map<string, DryRunEvent>();
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
    return this.#usage.size + this.#agents.size + this.#ends.size + this.#dryRuns.size;
  }

  /** Everything that was told so far is stored. */
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
        'the control plane has been away for too long: usage of new tunnels is not counted',
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
        throw new Error('no answer');
      } catch (error) {
        if (failures++ === 0)
          this.#log.warn(
            { sequence: batch.sequence, error: messageOf(error) },
            'a report was not stored: trying again',
          );
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
    for (const [key, event] of this.#agents) {
      if (events.length === this.#options.maxBatch) return events;
      this.#agents.delete(key);
      events.push(event);
    }
    for (const [key, sums] of this.#usage) {
      if (events.length === this.#options.maxBatch) return events;
      this.#usage.delete(key);
      events.push({ kind: 'usage', ...sums });
    }
    for (const [key, event] of this.#ends) {
      if (events.length === this.#options.maxBatch) return events;
      this.#ends.delete(key);
      events.push(event);
    }
    for (const [key, event] of this.#dryRuns) {
      if (events.length === this.#options.maxBatch) return events;
      this.#dryRuns.delete(key);
      events.push(event);
    }
    return events;
  }
}
