/**
 * The thread of `usage.db` as seen from outside: started when there is something to ask, watched, and started again when it has ended, later each
 * time. Called by usage-store.ts.
 */
import type { Worker } from 'node:worker_threads';
import { startWorker } from '../../../base/process/assets.ts';
import type { Logger } from '../../../base/log.ts';
import type { Answer, CallName, Calls, FaultKind, Notice, UsageSetup } from './questions.ts';

const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;
/** One that has worked for this long did not end because of how it was started. */
const SETTLED_MS = 60_000;

/** A question that was not answered as it should. `thread`: there is none now. */
export class UsageFault extends Error {
  readonly kind: FaultKind | 'thread';

  constructor(kind: FaultKind | 'thread', message: string) {
    super(message);
    this.kind = kind;
  }
}

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

export class UsageThread {
  readonly #setup: UsageSetup;
  readonly #log: Logger;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #startedAt = 0;
  #nextRef = 1;
  #pauseMs = 0;
  /** Not started before this, by performance.now(). */
  #notBefore = -Infinity;
  #closed = false;
  ends = 0;
  longestHoldMs = 0;

  constructor(setup: UsageSetup, log: Logger) {
    this.#setup = setup;
    this.#log = log;
  }

  get isRunning(): boolean {
    return this.#worker !== undefined;
  }

  /** Rejects with a UsageFault. What is in `transfer` is gone for the caller. */
  ask<Name extends CallName>(
    name: Name,
    args: Parameters<Calls[Name]>,
    transfer: readonly ArrayBuffer[] = [],
  ): Promise<ReturnType<Calls[Name]>> {
    const worker = this.#running();
    if (worker === undefined) return Promise.reject(new UsageFault('thread', 'the thread is not running'));
    const ref = this.#nextRef++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(ref, { resolve: resolve as Waiting['resolve'], reject });
      // Holds the process open for as long as a caller waits, and no longer.
      worker.ref();
      worker.postMessage({ ref, name, args }, transfer);
    });
  }

  /** Ends the thread now; who waits is refused. May be called twice. */
  async end(): Promise<void> {
    this.#closed = true;
    const worker = this.#worker;
    this.#worker = undefined;
    this.#refuseAll();
    await worker?.terminate();
  }

  #running(): Worker | undefined {
    if (this.#worker !== undefined) return this.#worker;
    if (this.#closed || performance.now() < this.#notBefore) return undefined;
    const worker = startWorker('usage-worker', new URL('./usage-worker.ts', import.meta.url), this.#setup);
    this.#worker = worker;
    this.#startedAt = performance.now();
    worker.on('message', (message: Answer | Notice) => this.#heard(message));
    worker.on('error', (error) => this.#ended(worker, error));
    worker.on('exit', () => this.#ended(worker));
    return worker;
  }

  #heard(message: Answer | Notice): void {
    if ('notice' in message) {
      this.#log[message.level](message.fields, message.notice);
      return;
    }
    const waiting = this.#waiting.get(message.ref);
    this.#waiting.delete(message.ref);
    if (this.#waiting.size === 0) this.#worker?.unref();
    if (!message.ok) {
      waiting?.reject(new UsageFault(message.kind, message.message));
      return;
    }
    this.longestHoldMs = Math.max(this.longestHoldMs, message.heldMs);
    waiting?.resolve(message.value);
  }

  #ended(worker: Worker, error?: unknown): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    this.ends += 1;
    const now = performance.now();
    const settled = now - this.#startedAt >= SETTLED_MS;
    this.#pauseMs = settled ? FIRST_PAUSE_MS : Math.min(Math.max(this.#pauseMs * 2, FIRST_PAUSE_MS), MAX_PAUSE_MS);
    this.#notBefore = now + this.#pauseMs;
    this.#log.error(
      { err: error, again_in_ms: this.#pauseMs },
      'the thread that records requests ended: restarting it',
    );
    this.#refuseAll();
  }

  #refuseAll(): void {
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) reject(new UsageFault('thread', 'the thread has ended'));
  }
}
