/**
 * What comes on a stream that is not read, because its service is slow or its policy has yet to decide. Node would keep an object per DATA frame,
 * which may be of a single byte: a window of 256 KB was 30 MB of them. Here the bytes are joined as they come, and Node gets them back when
 * it is read on. The visitor's window stays shut meanwhile, which bounds them.
 */
import type { ServerHttp2Stream } from 'node:http2';
import { JoinedBytes } from '../../../base/bytes/joined-bytes.ts';

export class HeldUpload {
  readonly #owner: { useful: number };
  readonly #push = (chunk: Buffer | null): boolean => this.#take(chunk);
  #stream: ServerHttp2Stream | null = null;
  #isDropping = false;
  readonly #joined = new JoinedBytes();

  constructor(owner: { useful: number }) {
    this.#owner = owner;
  }

  /** What it takes of the memory. */
  get heldBytes(): number {
    return this.#joined.heldBytes;
  }

  /** From now on what comes on the stream stays here. */
  hold(stream: ServerHttp2Stream): void {
    if (this.#stream !== null) return;
    this.#stream = stream;
    this.#isDropping = false;
    // Of frames that came in one read with the head.
    const early =
      stream.readableFlowing === null && stream.readableLength > 0 ? (stream.read() as Buffer | null) : null;
    if (early !== null) this.#joined.add(early, 0, early.length);
    stream.push = this.#push;
  }

  /** Gives all of it to the stream, which may be read on. */
  giveBack(): void {
    const stream = this.#end();
    if (stream === null) return;
    const pieces = this.#joined.takeAll();
    // Their reader may hold again.
    for (const piece of pieces) stream.push(piece);
  }

  /** Drops it, and the rest of that stream. */
  drop(): void {
    this.#isDropping = true;
    this.#joined.clear();
  }

  /** The stream is gone. */
  forget(): void {
    this.#end();
    this.#joined.clear();
  }

  /** As `Readable.push`: false is what keeps the visitor's window shut. */
  #take(chunk: Buffer | null): boolean {
    if (chunk === null) {
      const stream = this.#stream as ServerHttp2Stream;
      if (stream.destroyed) this.forget();
      else this.giveBack();
      return stream.push(null);
    }
    this.#owner.useful += chunk.length;
    if (!this.#isDropping) this.#joined.add(chunk, 0, chunk.length);
    return this.#isDropping;
  }

  /** The stream takes what comes by itself again. */
  #end(): ServerHttp2Stream | null {
    const stream = this.#stream;
    this.#stream = null;
    // The one of its class.
    if (stream !== null) Reflect.deleteProperty(stream, 'push');
    return stream;
  }
}
