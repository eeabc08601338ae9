/**
 * Frames of an HTTP/2 visitor by chance, fast enough for millions: mostly what a connection allows at that moment, some of it changed in a bit, a
 * length, a type or a stream. Heads come from a pool that is made once.
 */
import { FLAG, FRAME } from '../harness/h2-frames.ts';
import { RandomEncoder } from '../http2/differential/encoder.ts';
import { anyHead, anyTrailers } from '../http2/differential/heads.ts';
import { random } from './mux-model.ts';

const POOL = 3_000;
const LARGEST = 16_384;
/** Of one round of frames; a frame that does not fit ends the round. */
const ROUND_BYTES = 1 << 20;
const BYTES = Buffer.alloc(LARGEST + 512, 'body ');

let pool: readonly Buffer[] | undefined;

/** Header blocks, each made as the first of its connection; the last third goes on from the table of the one before. */
function blocks(): readonly Buffer[] {
  if (pool !== undefined) return pool;
  const pick = random(1);
  let encoder = new RandomEncoder(pick);
  pool = Array.from({ length: POOL }, (_, i) => {
    if (i < (POOL * 2) / 3) encoder = new RandomEncoder(pick);
    return encoder.encode(i % 10 === 9 ? (anyTrailers(pick) ?? []) : anyHead(pick, String(i)));
  });
  return pool;
}

/** The visitor's side of one connection. `wild`: how many of a thousand frames are changed. */
export class FrameSource {
  readonly #pick: (below: number) => number;
  readonly #wild: number;
  readonly #out = Buffer.alloc(ROUND_BYTES);
  #at = 0;
  #next = 1;
  /** Streams whose end was not sent; the oldest are forgotten. */
  readonly #open: number[] = [];
  frames = 0;

  constructor(seed: number, wild: number) {
    this.#pick = random(seed);
    this.#wild = wild;
  }

  /** The next frames, about `count`. Good until the next call. */
  round(count: number): Buffer {
    this.#at = 0;
    for (let i = 0; i < count && this.#at < ROUND_BYTES - 6 * LARGEST; i++) this.#one();
    return this.#out.subarray(0, this.#at);
  }

  #one(): void {
    const start = this.#at;
    const pick = this.#pick;
    const what = pick(100);
    if (what < 40) this.#head();
    else if (what < 65) this.#data();
    else if (what < 72) this.#reset();
    else if (what < 80)
      this.#number(FRAME.window, pick(2) === 0 ? 0 : this.#anyStream(), 1 + pick(pick(500) === 0 ? 2 ** 31 : 70_000));
    else if (what < 85) this.#settings();
    else if (what < 90) this.#frame(FRAME.ping, pick(4) === 0 ? FLAG.ack : 0, 0, 8);
    else if (what < 94) this.#frame(FRAME.priority, 0, this.#anyStream() || 1, 5);
    else if (what < 96) this.#trailers();
    else if (what < 98) this.#frame(10 + pick(240), pick(256), pick(4), pick(40));
    else if (pick(200) === 0) this.#frame(FRAME.goaway, 0, 0, 8);
    if (pick(1_000) < this.#wild && this.#at > start) this.#change(start);
  }

  /** A stream that may be open, or any other. */
  #anyStream(): number {
    const { length } = this.#open;
    if (length > 0 && this.#pick(20) > 0) return this.#open[this.#pick(length)] as number;
    // One that is over; seldom one that is not there yet, or can't be.
    if (this.#next > 1 && this.#pick(100) > 0) return this.#next - 2 * (1 + this.#pick(Math.min(50, this.#next >> 1)));
    return this.#pick(this.#next + 6);
  }

  #head(): void {
    const list = blocks();
    const block = list[this.#pick(this.#pick(400) === 0 ? POOL : Math.floor((POOL * 2) / 3))] as Buffer;
    const stream = this.#next;
    this.#next += this.#pick(50) === 0 ? 2 * this.#pick(10) : 2;
    const isWhole = this.#pick(3) > 0;
    if (!isWhole) this.#open.push(stream);
    if (this.#open.length > 60) this.#open.shift();
    this.#block(stream, block, isWhole);
  }

  #trailers(): void {
    const stream = this.#anyStream();
    this.#block(stream, blocks()[10 * this.#pick(150) + 9] as Buffer, this.#pick(20) > 0);
  }

  #block(stream: number, block: Buffer, isEnd: boolean): void {
    let flags = isEnd ? FLAG.endStream : 0;
    let type: number = FRAME.headers;
    let at = 0;
    do {
      const most = this.#pick(12) === 0 ? this.#pick(block.length - at + 1) : LARGEST - 300;
      const end = Math.min(block.length, at + most);
      if (end === block.length) flags |= FLAG.endHeaders;
      const isPadded = type === FRAME.headers && this.#pick(8) === 0;
      this.#payload(
        type,
        flags | (isPadded ? FLAG.padded : 0),
        stream,
        block,
        at,
        end,
        isPadded ? this.#pick(256) : -1,
      );
      at = end;
      type = FRAME.continuation;
      flags = 0;
    } while (at < block.length && this.#at < ROUND_BYTES - 2 * LARGEST);
  }

  #data(): void {
    const sizes = [0, 1, 60, 1_000, 9_000, LARGEST];
    const size = sizes[this.#pick(this.#pick(4) === 0 ? 6 : 4)] as number;
    const isPadded = size < LARGEST && this.#pick(8) === 0;
    const isEnd = this.#pick(4) === 0;
    const stream = this.#anyStream();
    if (isEnd) this.#forget(stream);
    const flags = (isEnd ? FLAG.endStream : 0) | (isPadded ? FLAG.padded : 0);
    this.#payload(FRAME.data, flags, stream, BYTES, 0, size, isPadded ? this.#pick(256) : -1);
  }

  #reset(): void {
    const stream = this.#anyStream();
    this.#forget(stream);
    this.#number(FRAME.rst, stream, this.#pick(16));
  }

  #forget(stream: number): void {
    const at = this.#open.indexOf(stream);
    if (at >= 0) this.#open.splice(at, 1);
  }

  #settings(): void {
    const pick = this.#pick;
    if (pick(3) === 0) return this.#frame(FRAME.settings, FLAG.ack, 0, 0);
    const count = pick(4);
    const start = this.#at + 9;
    this.#frame(FRAME.settings, 0, 0, 6 * count);
    for (let i = 0; i < count; i++) {
      const id = 1 + pick(9);
      const values = [0, 1, 100, 4_096, 16_384, 65_535, 1 << 20, pick(20) === 0 ? 2 ** 31 - 1 : 1_000];
      const value = id === 2 || id > 7 ? pick(2) : id === 5 ? 16_384 : (values[pick(values.length)] as number);
      this.#out.writeUInt16BE(id, start + 6 * i);
      this.#out.writeUInt32BE(value, start + 6 * i + 2);
    }
  }

  #number(type: number, stream: number, value: number): void {
    const at = this.#at + 9;
    this.#frame(type, 0, stream, 4);
    this.#out.writeUInt32BE(value >>> 0, at);
  }

  /** A frame of `length` bytes that are left from before. */
  #frame(type: number, flags: number, stream: number, length: number): void {
    this.#start(type, flags, stream, length);
    this.#at += length;
  }

  #payload(
    type: number,
    flags: number,
    stream: number,
    from: Buffer,
    start: number,
    end: number,
    padding: number,
  ): void {
    const length = end - start;
    this.#start(type, flags, stream, length + (padding < 0 ? 0 : 1 + padding));
    if (padding >= 0) this.#out[this.#at++] = padding;
    from.copy(this.#out, this.#at, start, end);
    this.#at += length + Math.max(0, padding);
  }

  #start(type: number, flags: number, stream: number, length: number): void {
    this.#out.writeUIntBE(length, this.#at, 3);
    this.#out[this.#at + 3] = type;
    this.#out[this.#at + 4] = flags;
    this.#out.writeUInt32BE(stream, this.#at + 5);
    this.#at += 9;
    this.frames++;
  }

  /** Changes one thing of the frames from `start` on. */
  #change(start: number): void {
    const pick = this.#pick;
    const out = this.#out;
    switch (pick(6)) {
      case 0:
        out[start + 3] = pick(12);
        break;
      case 1:
        out[start + 4] = pick(256);
        break;
      case 2:
        out.writeUInt32BE(pick(2) === 0 ? pick(100) : pick(2 ** 31), start + 5);
        break;
      case 3:
        out.writeUIntBE(pick(4) === 0 ? pick(2 ** 24) : pick(300), start, 3);
        break;
      case 4:
        this.#at = start + pick(this.#at - start);
        break;
      default: {
        const at = start + pick(this.#at - start);
        out[at] = (out[at] as number) ^ (1 << pick(8));
      }
    }
  }
}
