/** Entries of the access log on their way to the control plane: bounded, in batches, one under way at a time. What finds no room is counted. */
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { within } from '../../base/limits/within.ts';
import type { AccessEntry, AccessStats } from '../../plane/access-log.ts';
import type { Link } from '../../plane/link.ts';

export interface AccessQueueOptions {
  /** Entries that may wait. */
  readonly maxWaiting?: number;
  /** Memory of entries that wait or are under way, about: as much as usual ones have. */
  readonly maxBytes?: number;
  readonly maxEntries?: number;
  /** From the first entry to its batch. */
  readonly gatherMs?: number;
  /** An answer that has not come by then is taken for lost, and the entries with it. */
  readonly answerMs?: number;
}

const USUAL: Required<AccessQueueOptions> = {
  maxWaiting: 20_000,
  maxBytes: 16 << 20,
  maxEntries: 1_000,
  gatherMs: 100,
  answerMs: 30_000,
};
/** An entry without its long strings: its fields, ids and addresses. */
const ENTRY_BYTES = 500;

export class AccessQueue {
  readonly #options: Required<AccessQueueOptions>;
  readonly #link: Pick<Link, 'logAccess'>;
  readonly #log: Logger;
  #waiting: AccessEntry[] = [];
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | null = null;
  #underWay = 0;
  #bytes = 0;
  #sent = 0;
  #dropped = 0;
  #isClosed = false;

  constructor(deps: { link: Pick<Link, 'logAccess'>; log: Logger }, options: AccessQueueOptions = {}) {
    this.#options = { ...USUAL, ...options };
    this.#link = deps.link;
    this.#log = deps.log;
  }

  add(entry: AccessEntry): void {
    const { maxWaiting, maxBytes } = this.#options;
    const bytes = bytesOf(entry);
    if (this.#isClosed || this.#waiting.length >= maxWaiting || this.#bytes + bytes > maxBytes) {
      this.#dropped++;
      return;
    }
    this.#waiting.push(entry);
    this.#bytes += bytes;
    this.#schedule();
  }

  stats(): AccessStats {
    return { sent: this.#sent, dropped: this.#dropped, waiting: this.#waiting.length + this.#underWay };
  }

  /** Sends what there is, for `timeoutMs` at most; then nothing more. Never rejects. */
  async close(timeoutMs: number): Promise<void> {
    const untilMs = performance.now() + timeoutMs;
    while (this.#waiting.length > 0 || this.#sending !== null) {
      this.#start();
      const leftMs = untilMs - performance.now();
      if (this.#sending === null || !(await within(this.#sending, leftMs, { holdsProcess: true }))) break;
    }
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#dropped += this.#waiting.splice(0).length;
  }

  #schedule(): void {
    if (this.#sending === null) this.#timer ??= setTimeout(() => this.#start(), this.#options.gatherMs).unref();
  }

  #start(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#sending !== null || this.#isClosed || this.#waiting.length === 0) return;
    const { maxEntries } = this.#options;
    const all = this.#waiting;
    const entries = all.length <= maxEntries ? all : all.slice(0, maxEntries);
    this.#waiting = all.length <= maxEntries ? [] : all.slice(maxEntries);
    this.#underWay = entries.length;
    this.#sending = this.#deliver(entries).finally(() => {
      this.#sending = null;
      this.#underWay = 0;
      for (const entry of entries) this.#bytes -= bytesOf(entry);
      if (this.#waiting.length > maxEntries) this.#start();
      else if (this.#waiting.length > 0) this.#schedule();
    });
  }

  async #deliver(entries: readonly AccessEntry[]): Promise<void> {
    try {
      if (!(await within(this.#link.logAccess({ entries }), this.#options.answerMs))) throw new Error('no response');
      this.#sent += entries.length;
    } catch (error) {
      this.#dropped += entries.length;
      this.#log.error({ entries: entries.length, error: messageOf(error) }, 'access log entries were lost');
    }
  }
}

/** One byte per character: they are read as latin1. */
function bytesOf({ target, userAgent, referer, host }: AccessEntry): number {
  return ENTRY_BYTES + target.length + userAgent.length + referer.length + host.length;
}
