/**
 * Takes a response that no visitor waits for: counts what one would have got, and keeps the first bytes of its body where the request asks for
 * them. For requests that the control plane sends (tunnel-request.ts); what the inspector keeps of them it takes from the reader, as of all others.
 */
import type { Head } from '../../../http1/head.ts';
import type { KeptResponse } from '../../../plane/inspection.ts';
import type { FirstPart, ResponseSink } from '../exchange/response-sink.ts';

/** Longest type of a body that is kept. */
const MAX_TYPE = 200;

export class CountingSink implements ResponseSink {
  /** A body that is kept comes without what frames its chunks. */
  readonly framesItself: boolean;
  readonly maxStatus = 999;
  readonly #head: Head;
  readonly #keepBytes: number;
  readonly #kept: Buffer[] = [];
  #keptBytes = 0;
  #contentType: string | null = null;
  #size = 0;
  #hasBegun = false;

  /** `head`: the one that responses are read into. `keepBytes`: of the body, at most. */
  constructor(head: Head, keepBytes = 0) {
    this.#head = head;
    this.#keepBytes = keepBytes;
    this.framesItself = keepBytes > 0;
  }

  /** Undefined: nothing was to be kept, or no response came. Its bytes have a buffer of their own: it goes to another thread whole. */
  get kept(): KeptResponse | undefined {
    if (!this.#hasBegun || this.#keepBytes === 0) return undefined;
    return { contentType: this.#contentType, body: new Uint8Array(Buffer.concat(this.#kept)), size: this.#size };
  }

  interim(_bytes: Buffer, start: number, headEnd: number, added: Buffer): number {
    return headEnd - start - this.#dropped() + added.length;
  }

  final(bytes: Buffer, { start, headEnd, stop, added, trailer }: FirstPart): number {
    if (this.#keepBytes > 0) {
      this.#hasBegun = true;
      this.#contentType = typeIn(bytes.toString('latin1', start, headEnd));
      this.#keep(bytes, headEnd, stop);
    }
    return stop - start - this.#dropped() + added.length + (trailer?.length ?? 0);
  }

  body(bytes: Buffer, start: number, end: number): void {
    if (this.#keepBytes > 0) this.#keep(bytes, start, end);
  }

  trailer(): void {}

  flush(): void {}

  /** Copied: the reader's bytes are overwritten by the next ones. */
  #keep(bytes: Buffer, start: number, end: number): void {
    this.#size += end - start;
    const room = Math.min(end - start, this.#keepBytes - this.#keptBytes);
    if (room <= 0) return;
    this.#kept.push(Buffer.from(bytes.subarray(start, start + room)));
    this.#keptBytes += room;
  }

  #dropped(): number {
    const { drops, dropCount } = this.#head;
    let bytes = 0;
    for (let d = 0; d < dropCount; d++) bytes += (drops[2 * d + 1] as number) - (drops[2 * d] as number);
    return bytes;
  }
}

function typeIn(head: string): string | null {
  const [, value = ''] = /^content-type:[ \t]*([^\r\n]*?)[ \t]*\r$/im.exec(head) ?? [];
  return value === '' ? null : value.slice(0, MAX_TYPE);
}
