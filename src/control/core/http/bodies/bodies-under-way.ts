/**
 * What waits in memory of large bodies whose senders are slow. Any client may send one to the address of a webhook: 300 of them held 200 MB. At the bound
 * the one that has been under way the longest gives way, so that quick senders get through, however many are slow.
 */
import { AppError } from '../../../../base/errors.ts';

/** Of all large bodies together. */
const MAX_BYTES = 24 * 1024 * 1024;

export interface BodyUnderWay {
  /** Rejects with `unavailable` when it must give way to others. */
  readonly overtaken: Promise<never>;
  hold(bytes: number): void;
  leave(): void;
}

export class BodiesUnderWay {
  readonly #maxBytes: number;
  /** In the order in which they came. */
  readonly #all = new Set<Body>();
  #bytes = 0;

  constructor(maxBytes = MAX_BYTES) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  enter(): BodyUnderWay {
    const one = new Body((bytes) => this.#moved(one, bytes));
    this.#all.add(one);
    return one;
  }

  #moved(one: Body, bytes: number | 'left'): void {
    if (bytes === 'left') {
      if (this.#all.delete(one)) this.#bytes -= one.bytes;
      return;
    }
    if (!this.#all.has(one)) return;
    one.bytes += bytes;
    this.#bytes += bytes;
    for (const oldest of this.#all) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#all.delete(oldest);
      this.#bytes -= oldest.bytes;
      oldest.giveWay();
    }
  }
}

class Body implements BodyUnderWay {
  readonly overtaken: Promise<never>;
  readonly #onMove: (bytes: number | 'left') => void;
  readonly #reject: (error: Error) => void;
  bytes = 0;

  constructor(onMove: (bytes: number | 'left') => void) {
    const { promise, reject } = Promise.withResolvers<never>();
    // Who has read all of it asks no more.
    promise.catch(() => undefined);
    this.overtaken = promise;
    this.#reject = reject;
    this.#onMove = onMove;
  }

  hold(bytes: number): void {
    this.#onMove(bytes);
  }

  leave(): void {
    this.#onMove('left');
  }

  giveWay(): void {
    this.#reject(
      new AppError(
        'unavailable',
        'The upload was stopped: too many large requests were in flight, and this was the slowest. Send it again.',
      ),
    );
  }
}
