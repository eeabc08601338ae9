/**
 * A pipe of a stream that the agent's page looks on at: each range of bytes is shown to the tap right before it goes on, while it is
 * certainly there. Streams without an inspector have a plain Pipe and pay nothing. Made by serve.ts.
 */
import type { Socket } from 'node:net';
import { Pipe, type PipeOptions, type PipeStream } from '../../../base/bytes/pipe.ts';
import type { Slab } from '../../../base/bytes/slab.ts';
import type { StreamTap } from './stream-tap.ts';

export class TappedPipe extends Pipe {
  readonly #tap: StreamTap;
  /** A slab was shown and then not taken: the same bytes come once more by `fromSocket`. */
  #shown = false;

  constructor(stream: PipeStream, socket: Socket, options: PipeOptions & { readonly tap: StreamTap }) {
    super(stream, socket, options);
    this.#tap = options.tap;
    socket.on('end', () => this.#tap.answerEnded());
  }

  override donate(slab: Slab, count: number): boolean | null {
    this.#tap.answer(slab.body, 0, count);
    const goOn = super.donate(slab, count);
    this.#shown = goOn === null;
    return goOn;
  }

  override fromSocket(bytes: Buffer, start: number, count: number): boolean {
    if (this.#shown) this.#shown = false;
    else this.#tap.answer(bytes, start, start + count);
    return super.fromSocket(bytes, start, count);
  }

  override onData(stream: unknown, bytes: Buffer, start: number, end: number): void {
    this.#tap.request(bytes, start, end);
    super.onData(stream, bytes, start, end);
  }
}
