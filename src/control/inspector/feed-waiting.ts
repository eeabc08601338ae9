/**
 * What waits for the readers of live feeds, all of them together. Each may leave a megabyte waiting (control/inspector/live-feed-routes.ts), and a thousand of
 * them that do not read would take a gigabyte: over the bound for all, the reader with most unread is cut. Who reads leaves next to nothing.
 */

/** Of all readers together, bytes. One message more than this may wait. */
export const MAX_WAITING_BYTES_IN_ALL = 64 * 1024 * 1024;

export interface FeedReader {
  /** Ends it at once, with all that waits for it: a word of farewell would stand behind that. */
  terminate(): void;
}

export class FeedWaiting {
  readonly #most: number;
  readonly #of = new Map<FeedReader, number>();
  #bytes = 0;
  #cut = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Readers that were cut. */
  get cut(): number {
    return this.#cut;
  }

  /** So many bytes more wait for the reader from now on. Cuts the fullest, this one perhaps, until the bound holds. */
  add(reader: FeedReader, bytes: number): void {
    this.#of.set(reader, (this.#of.get(reader) ?? 0) + bytes);
    this.#bytes += bytes;
    while (this.#bytes > this.#most) this.#cutFullest();
  }

  /** They have left, or were given up. Of a reader that is gone they are not counted any more. */
  take(reader: FeedReader, bytes: number): void {
    const held = this.#of.get(reader);
    if (held === undefined) return;
    const left = Math.max(0, held - bytes);
    this.#bytes -= held - left;
    if (left === 0) this.#of.delete(reader);
    else this.#of.set(reader, left);
  }

  /** Nothing waits for it any more. May be called twice. */
  forget(reader: FeedReader): void {
    this.#bytes -= this.#of.get(reader) ?? 0;
    this.#of.delete(reader);
  }

  #cutFullest(): void {
    let fullest: FeedReader | undefined;
    let most = 0;
    for (const [reader, bytes] of this.#of) {
      if (bytes <= most) continue;
      fullest = reader;
      most = bytes;
    }
    if (fullest === undefined) return;
    this.forget(fullest);
    this.#cut += 1;
    fullest.terminate();
  }
}
