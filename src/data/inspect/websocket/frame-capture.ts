/**
 * The first frames of a WebSocket, as a record keeps them: copied, unmasked, the frames of a message joined. Bounded per message
 * and per connection; frames above the bounds are counted. One per connection, made by websocket-record.ts; the scanners feed it.
 */
import type { RecordedFrame } from '../../../plane/inspection.ts';
import { type FrameSink, OPCODE } from './frame-scanner.ts';

/** Of one connection: messages and control frames; bytes of each, and of all together. As much as the two bodies of a request. */
export const FRAME_LIMITS = { count: 200, bytes: 16_384, totalBytes: 131_072 } as const;
/** What a frame takes beside its payload, about. */
const OWN_BYTES = 128;
/** Grows from so much on: payloads may come byte by byte. */
const FIRST_BYTES = 128;
const NOTHING = Buffer.alloc(0);

export interface CaptureOwner {
  /** Milliseconds from the upgrade on. */
  readonly elapsedMs: number;
  /** False: there is no memory for so much more. */
  grow(bytes: number): boolean;
}

export class FrameCapture {
  readonly fromVisitor = new Side(this, 'visitor');
  readonly fromService = new Side(this, 'service');
  /** Messages and control frames that came when there was no room. */
  leftOut = 0;
  /** No more are kept. */
  isFull = false;
  readonly #owner: CaptureOwner;
  #frames: RecordedFrame[] = [];
  #bytes = 0;

  constructor(owner: CaptureOwner) {
    this.#owner = owner;
  }

  get frames(): readonly RecordedFrame[] {
    return this.#frames;
  }

  get elapsedMs(): number {
    return this.#owner.elapsedMs;
  }

  /** False, and full from now on, when there is no room for so much more. */
  grow(bytes: number): boolean {
    if (this.isFull) return false;
    this.isFull = this.#bytes + bytes > FRAME_LIMITS.totalBytes || !this.#owner.grow(bytes);
    if (!this.isFull) this.#bytes += bytes;
    return !this.isFull;
  }

  add(frame: RecordedFrame): void {
    if (this.#frames.length === FRAME_LIMITS.count) {
      this.leftOut++;
      return;
    }
    this.#frames.push(frame);
    if (this.#frames.length === FRAME_LIMITS.count) this.isFull = true;
  }

  /** They are stored, or given up, and no more are kept. */
  drop(): void {
    this.isFull = true;
    this.#frames = [];
    this.fromVisitor.drop();
    this.fromService.drop();
  }
}

/** A message, or a control frame, that is under way. */
class Payload {
  opcode = 0;
  isCompressed = false;
  atMs = 0;
  fragments = 0;
  size = 0;
  /** There was room for it. */
  isKept = false;
  #bytes = NOTHING;
  #length = 0;

  begin(opcode: number, isCompressed: boolean, atMs: number): void {
    this.opcode = opcode;
    this.isCompressed = isCompressed;
    this.atMs = atMs;
    this.fragments = this.size = this.#length = 0;
    this.#bytes = NOTHING;
  }

  keep(capture: FrameCapture, bytes: Buffer, start: number, end: number, key: number, offset: number): void {
    const take = Math.min(end - start, FRAME_LIMITS.bytes - this.#length);
    if (take <= 0 || !this.#hasRoom(capture, this.#length + take)) return;
    const to = this.#length;
    bytes.copy(this.#bytes, to, start, start + take);
    this.#length += take;
    if (key !== 0)
      for (let i = 0; i < take; i++) (this.#bytes[to + i] as number) ^= (key >>> (24 - 8 * ((offset + i) & 3))) & 0xff;
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  #hasRoom(capture: FrameCapture, length: number): boolean {
    const capacity = this.#bytes.length;
    if (capacity >= length) return true;
    const wanted = Math.min(FRAME_LIMITS.bytes, Math.max(length, 2 * capacity, FIRST_BYTES));
    if (!capture.grow(wanted - capacity)) return false;
    const grown = Buffer.allocUnsafeSlow(wanted);
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
    return true;
  }
}

/** One direction. Control frames may come between the frames of a message. */
class Side implements FrameSink {
  readonly #capture: FrameCapture;
  readonly #from: RecordedFrame['from'];
  readonly #message = new Payload();
  readonly #control = new Payload();
  #now = this.#message;
  #isFinal = false;

  constructor(capture: FrameCapture, from: RecordedFrame['from']) {
    this.#capture = capture;
    this.#from = from;
  }

  begin(opcode: number, isFinal: boolean, isCompressed: boolean, length: number): void {
    const now = opcode >= OPCODE.close ? this.#control : this.#message;
    this.#now = now;
    this.#isFinal = isFinal;
    if (opcode !== OPCODE.continuation) {
      now.isKept = this.#capture.grow(OWN_BYTES);
      if (now.isKept) now.begin(opcode, isCompressed, this.#capture.elapsedMs);
    }
    now.fragments++;
    now.size += length;
  }

  payload(bytes: Buffer, start: number, end: number, key: number, offset: number): void {
    if (this.#now.isKept) this.#now.keep(this.#capture, bytes, start, end, key, offset);
  }

  end(): void {
    if (!this.#isFinal) return;
    const { opcode, isCompressed, atMs, fragments, size, isKept, bytes } = this.#now;
    if (!isKept) {
      this.#capture.leftOut++;
      return;
    }
    const isTruncated = bytes.length < size;
    this.#capture.add({ from: this.#from, atMs, opcode, fragments, size, isCompressed, isTruncated, bytes });
    this.#now.begin(0, false, 0);
  }

  /** Forgets what is under way: it is left out at its end. */
  drop(): void {
    for (const payload of [this.#message, this.#control]) {
      payload.begin(0, false, 0);
      payload.isKept = false;
    }
  }
}
