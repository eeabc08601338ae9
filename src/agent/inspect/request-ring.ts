/**
 * The latest requests, bounded in number and in bytes: what is too much pushes out the oldest. Filled by stream-tap.ts, read and
 * cleared by the page's routes, watched by event-feed.ts.
 */
import type { RequestRecord } from './request-record.ts';

export interface RingBounds {
  readonly maxRecords: number;
  readonly maxBytes: number;
}

/** As many as one scrolls through. A record is 3 KB where bodies are small and at most some 260 KB. */
export const USUAL_RING: RingBounds = { maxRecords: 500, maxBytes: 32 << 20 };

export interface RingWatcher {
  /** The record is new, or its answer has come or ended. */
  onRecord(record: RequestRecord): void;
  onCleared(): void;
}

export class RequestRing {
  readonly #bounds: RingBounds;
  /** Oldest first. The number beside a record is what it was last counted with. */
  readonly #records = new Map<string, { readonly record: RequestRecord; counted: number }>();
  readonly #watchers = new Set<RingWatcher>();
  #bytes = 0;

  constructor(bounds: RingBounds = USUAL_RING) {
    this.#bounds = bounds;
  }

  get size(): number {
    return this.#records.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  find(id: string): RequestRecord | undefined {
    return this.#records.get(id)?.record;
  }

  /** Newest first. */
  list(limit: number, tunnel?: string): RequestRecord[] {
    const found: RequestRecord[] = [];
    for (const { record } of [...this.#records.values()].reverse()) {
      if (found.length >= limit) break;
      if (tunnel === undefined || record.tunnel === tunnel) found.push(record);
    }
    return found;
  }

  add(record: RequestRecord): void {
    this.#records.set(record.id, { record, counted: 0 });
    this.weigh(record);
    this.tell(record);
  }

  /** The record may hold more or less than before. One that was pushed out is dropped and not asked about again. */
  weigh(record: RequestRecord): void {
    const entry = this.#records.get(record.id);
    if (entry === undefined) return;
    const { held } = record;
    this.#bytes += held - entry.counted;
    entry.counted = held;
    if (this.#records.size > this.#bounds.maxRecords || this.#bytes > this.#bounds.maxBytes) this.#makeRoom();
  }

  /** Notifies the watchers that the record has changed. */
  tell(record: RequestRecord): void {
    if (this.#watchers.size === 0 || !this.#records.has(record.id)) return;
    for (const watcher of this.#watchers) watcher.onRecord(record);
  }

  clear(): void {
    for (const { record } of this.#records.values()) record.drop();
    this.#records.clear();
    this.#bytes = 0;
    for (const watcher of this.#watchers) watcher.onCleared();
  }

  /** Watches until the returned function is called. The caller bounds the number of watchers. */
  watch(watcher: RingWatcher): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  #makeRoom(): void {
    for (const [id, { record, counted }] of this.#records) {
      if (this.#records.size <= this.#bounds.maxRecords && this.#bytes <= this.#bounds.maxBytes) return;
      this.#records.delete(id);
      this.#bytes -= counted;
      record.drop();
    }
  }
}
