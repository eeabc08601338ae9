/**
 * Writes the access log: entries of data nodes become lines, which wait in bounded memory for a file or standard output. What finds no room, or can't
 * be written, is dropped and counted: no visitor waits for a disk.
 */
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { within } from '../../base/limits/within.ts';
import type { AccessEntry } from '../../plane/access-log.ts';
import type { LineOf } from './lines.ts';

/** Where lines go: rotating-file.ts, or standard output. */
export interface AccessSink {
  append(bytes: Buffer): Promise<void>;
  /** Since the start. */
  readonly failedRotations: number;
  reopen(): void;
  close(): Promise<void>;
}

export interface AccessWriterStats {
  readonly written: number;
  readonly dropped: number;
  /** The last write failed. */
  readonly isFailing: boolean;
  readonly failedRotations: number;
}

/** Lines that wait: a few seconds of a busy server. */
const MAX_WAITING_BYTES = 16 << 20;
/** After a write that failed: the disk stays full for a while, and each try costs. */
const RETRY_MS = 1_000;
const LAST_MS = 2_000;

export class AccessWriter {
  readonly #sink: AccessSink;
  readonly #lineOf: LineOf;
  readonly #log: Logger;
  readonly #maxBytes: number;
  #lines: string[] = [];
  #bytes = 0;
  #writing: Promise<void> | null = null;
  #isClosed = false;
  #retryAtMs = 0;
  #written = 0;
  #dropped = 0;
  /** Dropped since lines could last be written. */
  #lost = 0;

  constructor(
    sink: AccessSink,
    lineOf: LineOf,
    { log, maxBytes = MAX_WAITING_BYTES }: { readonly log: Logger; readonly maxBytes?: number },
  ) {
    this.#sink = sink;
    this.#lineOf = lineOf;
    this.#log = log;
    this.#maxBytes = maxBytes;
  }

  /** Entries that were sampled become lines. */
  take(entries: readonly AccessEntry[]): void {
    for (const entry of entries) {
      if (!entry.isSampled) continue;
      const line = this.#lineOf(entry);
      if (line === '') continue;
      if (this.#isClosed || this.#bytes + line.length > this.#maxBytes) {
        this.#dropped++;
        continue;
      }
      this.#lines.push(line);
      this.#bytes += line.length;
    }
    this.#write();
  }

  stats(): AccessWriterStats {
    const { failedRotations } = this.#sink;
    return { written: this.#written, dropped: this.#dropped, isFailing: this.#lost > 0, failedRotations };
  }

  /** Opens its file again: another program has moved it. */
  reopen(): void {
    this.#retryAtMs = 0;
    this.#sink.reopen();
  }

  /** Writes what waits, for two seconds at most. */
  async close(): Promise<void> {
    this.#retryAtMs = 0;
    this.#write();
    if (this.#writing !== null) await within(this.#writing, LAST_MS, { holdsProcess: true });
    this.#isClosed = true;
    await this.#sink.close();
  }

  #write(): void {
    if (this.#writing !== null || this.#lines.length === 0 || performance.now() < this.#retryAtMs) return;
    this.#writing = this.#writeAll().finally(() => {
      this.#writing = null;
    });
  }

  async #writeAll(): Promise<void> {
    while (this.#lines.length > 0 && performance.now() >= this.#retryAtMs) {
      const lines = this.#lines;
      const bytes = this.#bytes;
      this.#lines = [];
      // Room comes back once they are written: what the sink holds counts too.
      try {
        await this.#sink.append(Buffer.from(lines.join('')));
        this.#written += lines.length;
        this.#found();
      } catch (error) {
        this.#failed(lines.length, error);
      }
      this.#bytes -= bytes;
    }
  }

  #failed(lines: number, error: unknown): void {
    if (this.#lost === 0)
      this.#log.error({ error: messageOf(error) }, 'could not write the access log; lines are dropped');
    this.#lost += lines;
    this.#dropped += lines;
    this.#retryAtMs = performance.now() + RETRY_MS;
    setTimeout(() => this.#write(), RETRY_MS).unref();
  }

  #found(): void {
    if (this.#lost === 0) return;
    this.#log.warn({ dropped: this.#lost }, 'the access log is written again');
    this.#lost = 0;
  }
}
