/**
 * A map that keeps so many entries: one more, and the one that was used longest ago is forgotten. Nothing is allocated before it is used, so that
 * a bound of 100,000 costs a server that remembers ten of them nothing. For caches and for what is counted per address or organization. Not a Map
 * alone, with delete and set at each use: what V8 has deleted from a Map stays in its table until that is rebuilt, and finding the first entry
 * steps over all of it. At the bound, where strangers can keep us, that took 50 µs a step.
 */

interface Entry<K, V> {
  readonly key: K;
  value: V;
  /** When it is forgotten anyway, by `monotonic`. */
  untilMs: number;
  /** Used before and after this one. */
  older: Entry<K, V> | null;
  newer: Entry<K, V> | null;
}

export interface RecentMapOptions {
  readonly max: number;
  /** Forgotten so long after it was set, however often it is used; default never. */
  readonly ttlMs?: number;
  /** Another clock, for tests. */
  readonly monotonic?: () => number;
}

export class RecentMap<K, V> {
  readonly #entries = new Map<K, Entry<K, V>>();
  readonly #max: number;
  readonly #ttlMs: number;
  readonly #monotonic: () => number;
  #oldest: Entry<K, V> | null = null;
  #newest: Entry<K, V> | null = null;

  constructor({ max, ttlMs = Infinity, monotonic = () => performance.now() }: RecentMapOptions) {
    this.#max = max;
    this.#ttlMs = ttlMs;
    this.#monotonic = monotonic;
  }

  /** Those that are over count until they are asked for, or are the oldest. */
  get size(): number {
    return this.#entries.size;
  }

  /** The value, whose entry is now the one used last. */
  get(key: K): V | undefined {
    const entry = this.#live(key);
    if (entry === undefined) return undefined;
    this.#touch(entry);
    return entry.value;
  }

  /** Whether it is there. Does not count as a use. */
  has(key: K): boolean {
    return this.#live(key) !== undefined;
  }

  set(key: K, value: V): void {
    const untilMs = this.#ttlMs === Infinity ? Infinity : this.#monotonic() + this.#ttlMs;
    const known = this.#entries.get(key);
    if (known !== undefined) {
      known.value = value;
      known.untilMs = untilMs;
      this.#touch(known);
      return;
    }
    if (this.#entries.size >= this.#max && this.#oldest !== null) this.#remove(this.#oldest);
    const entry: Entry<K, V> = { key, value, untilMs, older: null, newer: null };
    this.#entries.set(key, entry);
    this.#append(entry);
  }

  delete(key: K): void {
    const entry = this.#entries.get(key);
    if (entry !== undefined) this.#remove(entry);
  }

  clear(): void {
    this.#entries.clear();
    this.#oldest = null;
    this.#newest = null;
  }

  /** In no order that means anything. What is deleted meanwhile does no harm. */
  keys(): IterableIterator<K> {
    return this.#entries.keys();
  }

  #live(key: K): Entry<K, V> | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined || entry.untilMs === Infinity || this.#monotonic() < entry.untilMs) return entry;
    this.#remove(entry);
    return undefined;
  }

  #touch(entry: Entry<K, V>): void {
    if (entry === this.#newest) return;
    this.#unlink(entry);
    this.#append(entry);
  }

  #append(entry: Entry<K, V>): void {
    entry.older = this.#newest;
    if (this.#newest === null) this.#oldest = entry;
    else this.#newest.newer = entry;
    this.#newest = entry;
  }

  #remove(entry: Entry<K, V>): void {
    this.#entries.delete(entry.key);
    this.#unlink(entry);
  }

  #unlink(entry: Entry<K, V>): void {
    const { older, newer } = entry;
    if (older === null) this.#oldest = newer;
    else older.newer = newer;
    if (newer === null) this.#newest = older;
    else newer.older = older;
    // Also so that an old entry, which the collector finds late, keeps no younger ones.
    entry.older = null;
    entry.newer = null;
  }
}
