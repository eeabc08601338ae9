/** What one write to a socket consists of: frames side by side, and whose bytes they are, so that each stream is credited for its own once they are out. */
import type { Outgoing } from './outgoing.ts';

/** Writes of this size cost least (32 KB a third more per byte, 512 KB no less). */
export const OUT_BYTES = 131_072;
/** Beyond it: headers of the frames that a long head is cut into. */
const SLACK_BYTES = 256;
/** Kept for later; what comes back beyond is left to the collector. */
const KEEP_FREE = 64;
/** Of each size of pieces. */
const KEEP_FREE_PIECES = 256;
const KEEP_FREE_BYTES = 4 << 20;
const NO_BYTES = Buffer.alloc(0);

export class OutBuffer {
  /** Empty while its bytes are with the socket, which has encrypted them. */
  bytes: Buffer = NO_BYTES;
  used = 0;
  /** Bytes of frames that the visitor is owed whatever it reads. */
  controls = 0;
  /** Tells this use of it from those before. */
  serial = 0;
  /** Entries of the four lists below. The lists stay as long as they were: made anew for each write they would be garbage. */
  count = 0;
  readonly streams: Array<Outgoing | null> = [];
  readonly ids: number[] = [];
  readonly sizes: number[] = [];
  readonly credits: number[] = [];
  /** Streams whose end is in it, and their numbers. */
  endCount = 0;
  readonly ends: Array<Outgoing | null> = [];
  readonly endIds: number[] = [];

  /** A frame of `stream` with `size` bytes of its body is in it. */
  note(stream: Outgoing, size: number, credit: number): void {
    const last = this.count - 1;
    if (last >= 0 && this.streams[last] === stream && this.ids[last] === stream.id) {
      this.sizes[last] = (this.sizes[last] as number) + size;
      this.credits[last] = (this.credits[last] as number) + credit;
      return;
    }
    const at = this.count++;
    this.streams[at] = stream;
    this.ids[at] = stream.id;
    this.sizes[at] = size;
    this.credits[at] = credit;
  }

  noteEnd(stream: Outgoing): void {
    const at = this.endCount++;
    this.ends[at] = stream;
    this.endIds[at] = stream.id;
  }

  /** Its bytes go to the socket. Answers how many streams end with them. */
  hand(): number {
    let count = 0;
    for (let i = 0; i < this.endCount; i++) {
      const stream = this.ends[i] as Outgoing;
      // It may have been reset since, and be another by now.
      if (stream.gone || stream.isHalf || stream.id !== this.endIds[i]) continue;
      stream.isHanded = true;
      count++;
    }
    return count;
  }
}

/** Buffers of a process that connections use while they have something to send, or a frame that a read has cut. Idle ones have none. */
export class BufferPool {
  readonly #outs: OutBuffer[] = [];
  readonly #bytes: Buffer[] = [];
  readonly #pieces = new Map<number, Buffer[]>();
  #serial = 0;

  takeOut(): OutBuffer {
    const out = this.#outs.pop() ?? new OutBuffer();
    out.bytes = this.#bytes.pop() ?? Buffer.allocUnsafeSlow(OUT_BYTES + SLACK_BYTES);
    out.serial = ++this.#serial;
    return out;
  }

  /** Its bytes can be used by others; it is still in use itself. */
  freeBytes(out: OutBuffer): void {
    if (out.bytes.length > 0 && this.#bytes.length < KEEP_FREE) this.#bytes.push(out.bytes);
    out.bytes = NO_BYTES;
  }

  giveOut(out: OutBuffer): void {
    this.freeBytes(out);
    out.streams.fill(null, 0, out.count);
    out.ends.fill(null, 0, out.endCount);
    out.used = out.controls = out.count = out.endCount = 0;
    if (this.#outs.length < KEEP_FREE) this.#outs.push(out);
  }

  /** A buffer of just this size, of the few sizes that are used. */
  takePiece(size: number): Buffer {
    return this.#pieces.get(size)?.pop() ?? Buffer.allocUnsafeSlow(size);
  }

  givePiece(piece: Buffer): void {
    let free = this.#pieces.get(piece.length);
    if (free === undefined) this.#pieces.set(piece.length, (free = []));
    if (free.length < Math.min(KEEP_FREE_PIECES, KEEP_FREE_BYTES / piece.length)) free.push(piece);
  }
}
