/**
 * What waits for one destination: bounded, in batches, one under way at a time. A batch that fails is sent again for some minutes, later each time and
 * no sooner than the receiver asks; then it is dropped and counted. What finds no room is, too.
 */
import { messageOf } from '../../../base/errors.ts';
import type { Clock } from '../../../base/clock.ts';
import type { ExportItem } from './export-items.ts';
import type { ExportShare, Yielding } from './export-room.ts';

/** What came of one attempt. */
export type Sent =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly error: string;
      readonly mayRetry: boolean;
      readonly retryAfterSeconds: number | null;
    };

/** One batch to its receiver. `id`: the same at each attempt. Rejects where there was no response. */
export type Send = (items: readonly ExportItem[], id: string) => Promise<Sent>;

export interface ExportQueueStats {
  readonly sent: number;
  readonly dropped: number;
  readonly waiting: number;
  /** Milliseconds since the epoch; null: never since the start. */
  readonly lastSentAt: number | null;
  /** Why the last attempt failed; null: it did not. */
  readonly lastError: string | null;
  readonly failingSince: number | null;
}

const MAX_WAITING = 5_000;
const MAX_BATCH = 250;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;
/** A batch is tried for so long. */
const GIVE_UP_MS = 5 * 60_000;

interface Batch {
  readonly id: string;
  readonly items: readonly ExportItem[];
  readonly startedMs: number;
  attempts: number;
}

export interface ExportQueueDeps {
  readonly send: Send;
  readonly newId: () => string;
  /** Of the memory that all queues of the server share. */
  readonly share: ExportShare;
  readonly clock: Clock;
  /** Items that may wait. Default: 5,000. */
  readonly maxWaiting?: number;
}

export class ExportQueue implements Yielding {
  readonly #deps: ExportQueueDeps;
  #waiting: ExportItem[] = [];
  #batch: Batch | null = null;
  #sending: Promise<void> | null = null;
  #dueMs = 0;
  #isClosed = false;
  #sent = 0;
  #dropped = 0;
  #lastSentAt: number | null = null;
  #lastError: string | null = null;
  #failingSince: number | null = null;

  constructor(deps: ExportQueueDeps) {
    this.#deps = deps;
    deps.share.join(this);
  }

  get held(): number {
    return this.#waiting.length + (this.#batch?.items.length ?? 0);
  }

  add(item: ExportItem): void {
    const { share, maxWaiting = MAX_WAITING } = this.#deps;
    if (this.#isClosed || this.#waiting.length >= maxWaiting || !share.take()) {
      this.#dropped++;
      return;
    }
    this.#waiting.push(item);
  }

  /** The newest event, as `add` drops the newest; else a batch that waits for its next attempt. */
  yield(): boolean {
    if (this.#waiting.pop() !== undefined) {
      this.#dropped++;
      this.#deps.share.give(1);
      return true;
    }
    if (this.#batch === null || this.#sending !== null) return false;
    this.#drop(this.#batch);
    return true;
  }

  /** Sends what is due, in the background. To be called every second or so. */
  pump(): void {
    if (this.#sending !== null || this.#isClosed || this.#deps.clock.monotonic() < this.#dueMs) return;
    if (this.#batch === null && this.#waiting.length === 0) return;
    this.#sending = this.#sendAll().finally(() => {
      this.#sending = null;
    });
  }

  stats(): ExportQueueStats {
    return {
      sent: this.#sent,
      dropped: this.#dropped,
      waiting: this.held,
      lastSentAt: this.#lastSentAt,
      lastError: this.#lastError,
      failingSince: this.#failingSince,
    };
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    await this.#sending;
  }

  /** Sends nothing more; what waits is dropped, and a batch under way if it fails. */
  close(): void {
    this.#isClosed = true;
    const { share } = this.#deps;
    share.leave(this);
    share.give(this.#waiting.length);
    this.#dropped += this.#waiting.length;
    this.#waiting = [];
    if (this.#sending === null && this.#batch !== null) this.#drop(this.#batch);
  }

  /** One batch, and more while full ones wait. */
  async #sendAll(): Promise<void> {
    do {
      this.#batch ??= this.#nextBatch();
      if (!(await this.#try(this.#batch))) return;
    } while (this.#waiting.length >= MAX_BATCH && !this.#isClosed);
  }

  #nextBatch(): Batch {
    const { newId, clock } = this.#deps;
    return { id: newId(), items: this.#waiting.splice(0, MAX_BATCH), startedMs: clock.monotonic(), attempts: 0 };
  }

  /** True: it is done with, sent. */
  async #try(batch: Batch): Promise<boolean> {
    const sent = await this.#attempt(batch);
    const { clock } = this.#deps;
    if (sent.ok) {
      this.#sent += batch.items.length;
      this.#lastSentAt = clock.now();
      this.#lastError = this.#failingSince = null;
      this.#done(batch);
      return true;
    }
    this.#lastError = sent.error;
    this.#failingSince ??= clock.now();
    const waitMs = Math.max(
      Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** batch.attempts++),
      (sent.retryAfterSeconds ?? 0) * 1_000,
    );
    const nowMs = clock.monotonic();
    this.#dueMs = nowMs + waitMs;
    const isTriedAgain = sent.mayRetry && !this.#isClosed && this.#dueMs - batch.startedMs <= GIVE_UP_MS;
    if (!isTriedAgain) this.#drop(batch);
    return false;
  }

  async #attempt(batch: Batch): Promise<Sent> {
    try {
      return await this.#deps.send(batch.items, batch.id);
    } catch (error) {
      return { ok: false, error: messageOf(error), mayRetry: true, retryAfterSeconds: null };
    }
  }

  #drop(batch: Batch): void {
    this.#dropped += batch.items.length;
    this.#done(batch);
  }

  #done(batch: Batch): void {
    this.#batch = null;
    this.#deps.share.give(batch.items.length);
  }
}
