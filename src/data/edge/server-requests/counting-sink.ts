/**
 * Takes a response that no visitor waits for: counts what one would have got, and keeps nothing. For requests that the control plane sends
 * (tunnel-request.ts); what the inspector keeps of them it takes from the reader, as of all others.
 */
import type { Head } from '../../../http1/head.ts';
import type { FirstPart, ResponseSink } from '../exchange/response-sink.ts';

export class CountingSink implements ResponseSink {
  readonly framesItself = false;
  readonly maxStatus = 999;
  readonly #head: Head;

  /** `head`: the one that responses are read into. */
  constructor(head: Head) {
    this.#head = head;
  }

  interim(_bytes: Buffer, start: number, headEnd: number, added: Buffer): number {
    return headEnd - start - this.#dropped() + added.length;
  }

  final(_bytes: Buffer, { start, stop, added, trailer }: FirstPart): number {
    return stop - start - this.#dropped() + added.length + (trailer?.length ?? 0);
  }

  body(): void {}

  trailer(): void {}

  flush(): void {}

  #dropped(): number {
    const { drops, dropCount } = this.#head;
    let bytes = 0;
    for (let d = 0; d < dropCount; d++) bytes += (drops[2 * d + 1] as number) - (drops[2 * d] as number);
    return bytes;
  }
}
