/**
 * Which received bytes a visitor has yet to take, so that each stream gets its window back for its own bytes and for no others:
 * the writer's credit comes in order, while the streams behind it change with each request. One per visitor connection.
 */
import type { MuxStream } from '../../../mux/stream.ts';

export class Ledger {
  #stream: MuxStream | null = null;
  /** Bytes given to the writer for the present stream and not credited yet; and those of earlier streams, to be ignored. */
  #owed = 0;
  #stale = 0;

  /** What is owed from now on is owed to `stream`. */
  begin(stream: MuxStream): void {
    this.end(false);
    this.#stream = stream;
  }

  /** Another writer: nothing that the last one has not credited will come. */
  restart(): void {
    this.#stream = null;
    this.#owed = this.#stale = 0;
  }

  /** `bytes` of the present stream were given to the writer. */
  owe(bytes: number): void {
    this.#owed += bytes;
  }

  /** The writer got rid of `bytes`. */
  credit(bytes: number): void {
    const old = Math.min(this.#stale, bytes);
    this.#stale -= old;
    if (old === bytes) return;
    this.#owed -= bytes - old;
    this.#stream?.consumed(bytes - old);
  }

  /** The present stream is done with. If it `isKept`, it gets all of its window back: what the visitor has yet to read holds up its next request instead. */
  end(isKept: boolean): void {
    if (this.#owed > 0 && isKept) this.#stream?.consumed(this.#owed);
    this.#stale += this.#owed;
    this.#owed = 0;
    this.#stream = null;
  }
}
