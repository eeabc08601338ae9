/**
 * How a response is said to the visitor. What is said is response.ts's: it reads the service's bytes and decides; a sink writes
 * them in the visitor's version of HTTP. This file has the form of HTTP/1.1, where nearly all bytes go out as they came;
 * data/edge/h2 and data/edge/h2-node have the other one.
 */
import type { Scratch, Slab, SlabPool } from '../../../base/bytes/slab.ts';
import type { SocketWriter } from '../../../base/bytes/socket-writer.ts';
import type { Head } from '../../../http1/head.ts';

const NOTHING = Buffer.alloc(0);

/** A final head and the body bytes that came with it. One object per reader, written anew for each response. */
export class FirstPart {
  /** Where in the bytes the head begins and ends, and the body bytes do. */
  start = 0;
  headEnd = 0;
  stop = 0;
  /** Lines that are added to the head, each with its CR LF. */
  added: Buffer = NOTHING;
  /** Given back once all of it is out. */
  credit = 0;
  slab: Slab | null = null;
  /** There is no more body. */
  isDone = false;
  /** Lines that follow the body, closing line included. */
  trailer: Buffer | null = null;
}

/**
 * Positions are in `bytes`; the head that they frame is the one in `context.responseHead`, its drops are to be left out. Each call that
 * writes a head answers how many bytes the visitor is counted for. Plain arguments: this is per response.
 */
export interface ResponseSink {
  /** The visitor's version frames bodies by itself: chunks are taken apart before. */
  readonly framesItself: boolean;
  /** Statuses beyond are no response in that version. */
  readonly maxStatus: number;
  /** An interim head, or that of an upgrade, with `added` lines. */
  interim(bytes: Buffer, start: number, headEnd: number, added: Buffer): number;
  final(bytes: Buffer, part: FirstPart): number;
  body(bytes: Buffer, start: number, end: number, credit: number, slab: Slab): void;
  /** Behind the body. */
  trailer(trailer: Buffer): void;
  /** Nothing more comes for now: what was gathered goes out. */
  flush(): void;
}

/** What of an edge's context a sink needs. */
export interface SinkContext {
  readonly responseHead: Head;
  readonly scratch: Scratch;
  readonly slabs: SlabPool;
}

/** Body bytes that are copied behind a rewritten head to save a write; more than a TLS record brings is not. */
const MAX_JOINED = 32_768;

export class Http1Sink implements ResponseSink {
  readonly framesItself = false;
  readonly maxStatus = 999;
  readonly #context: SinkContext;
  readonly #writer: SocketWriter;

  constructor(context: SinkContext, writer: SocketWriter) {
    this.#context = context;
    this.#writer = writer;
  }

  interim(bytes: Buffer, start: number, headEnd: number, added: Buffer): number {
    return this.#writeHead(bytes, start, headEnd, headEnd, added, 0);
  }

  /** Head and whatever of the body came with it go out as one write, as they are where nothing is left out or added. */
  final(bytes: Buffer, { start, headEnd, stop, added, credit, slab, isDone, trailer }: FirstPart): number {
    const writer = this.#writer;
    let count: number;
    if (stop - headEnd > MAX_JOINED) {
      count = this.#writeHead(bytes, start, headEnd, headEnd, added, 0) + stop - headEnd;
      writer.push(bytes, headEnd, stop, credit, slab as Slab);
      if (trailer !== null) this.trailer(trailer);
      if (isDone) writer.flush();
    } else if (this.#context.responseHead.dropCount === 0 && added.length === 0 && trailer === null) {
      count = stop - start;
      if (isDone) writer.write(bytes, start, stop, credit, slab as Slab);
      else writer.push(bytes, start, stop, credit, slab as Slab);
    } else {
      count = this.#writeHead(bytes, start, headEnd, stop, added, credit);
      if (trailer !== null) this.trailer(trailer);
    }
    return trailer === null ? count : count + trailer.length;
  }

  body(bytes: Buffer, start: number, end: number, credit: number, slab: Slab): void {
    this.#writer.push(bytes, start, end, credit, slab);
  }

  trailer(trailer: Buffer): void {
    this.#writer.write(trailer, 0, trailer.length, 0, this.#context.slabs.foreign);
  }

  flush(): void {
    this.#writer.flush();
  }

  /** Writes the head `bytes[start, headEnd)` without its dropped spans and with `added`, and the body bytes up to `stop` behind it. */
  #writeHead(bytes: Buffer, start: number, headEnd: number, stop: number, added: Buffer, credit: number): number {
    const { responseHead: head, scratch } = this.#context;
    let length = stop - start + added.length;
    for (let d = 0; d < head.dropCount; d++)
      length -= (head.drops[2 * d + 1] as number) - (head.drops[2 * d] as number);
    const at = scratch.room(length);
    const out = scratch.slab.bytes;
    let to = at + copyKept(bytes, start, headEnd - 2, head, out, at);
    to += added.copy(out, to);
    to += bytes.copy(out, to, headEnd - 2, stop);
    this.#writer.write(out, at, to, credit, scratch.slab);
    return to - at;
  }
}

function copyKept(bytes: Buffer, start: number, end: number, head: Head, out: Buffer, at: number): number {
  let to = at;
  let from = start;
  for (let d = 0; d < head.dropCount; d++) {
    const drop = head.drops[2 * d] as number;
    if (drop > from) to += bytes.copy(out, to, from, drop);
    from = head.drops[2 * d + 1] as number;
  }
  if (end > from) to += bytes.copy(out, to, from, end);
  return to - at;
}
