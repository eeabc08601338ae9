/**
 * Writes ranges of slabs to a socket: gathers what lies side by side, keeps a slab held while its bytes are needed, and gives
 * credit only for bytes that left this process. One write is outstanding at a time. A reader that falls far behind gets its
 * bytes copied into a slab of its own. Reasons and figures: docs/decisions/0001-own-multiplexer.md.
 */
import type { Socket } from 'node:net';
import { type Slab, SLAB_BYTES, type SlabPool } from './slab.ts';
import type { TurnEnd, TurnJob } from '../process/turn.ts';

/** A gathered range is written once it is this long, without waiting for the end of the turn. */
const GATHER_BYTES = 65_536;
/** Less than this is a message, not a part of a download: waiting for more would cost more than the write that it may save. */
const GATHER_FROM = 8_192;
/** A reader behind by more than this gets copies. */
const HOLD_BYTES = 524_288;
/** Copies shorter than this are buffers of their own size, the first few of them. */
const SMALL_COPY = 4_096;
/** So many messages are written at once, then what comes is gathered to the end of the turn: a read may bring thousands of one byte. */
const MAX_MESSAGES = 4;
/** Behind so many ranges short ones are copied together: a sender of single bytes would have an object, and a write, for each. */
const MAX_RANGES = 8;
const EMPTY = Buffer.alloc(0);

export interface SocketWriterOptions {
  /** The socket is a TLSSocket: it takes the bytes of a write at once (it encrypts them) but always finishes later. */
  readonly tls: boolean;
  readonly turn: TurnEnd;
  readonly slabs: SlabPool;
  readonly onCredit: (bytes: number) => void;
  /** Everything that had to wait has been taken by the kernel. */
  readonly onEmpty?: () => void;
}

interface Range {
  readonly bytes: Buffer;
  readonly start: number;
  end: number;
  credit: number;
  /** Null: nothing points into it any more. */
  slab: Slab | null;
}

export class SocketWriter implements TurnJob {
  readonly #socket: Socket;
  readonly #tls: boolean;
  readonly #turn: TurnEnd;
  readonly #slabs: SlabPool;
  readonly #onCredit: (bytes: number) => void;
  readonly #onEmpty: (() => void) | undefined;
  readonly #onWritten = (): void => this.#written();
  readonly #queue: Range[] = [];
  #queued = 0;
  #outstanding: Range | null = null;
  #scheduled = false;
  /** Messages that were written at once since the last turn end that was waited for. */
  #messages = 0;
  #ending = false;
  /** Copies for a slow reader go here, one behind the other. */
  #own: Slab | null = null;
  #ownUsed = 0;

  constructor(socket: Socket, options: SocketWriterOptions) {
    this.#socket = socket;
    this.#tls = options.tls;
    this.#turn = options.turn;
    this.#slabs = options.slabs;
    this.#onCredit = options.onCredit;
    this.#onEmpty = options.onEmpty;
  }

  /** Bytes accepted and not yet taken by the kernel. */
  get backlog(): number {
    return this.#queued + this.#socket.writableLength;
  }

  /** Queues `bytes[start, end)` of `slab`, which may be gathered with what follows; `credit` bytes are credited once they are out. */
  push(bytes: Buffer, start: number, end: number, credit: number, slab: Slab): void {
    const length = end - start;
    if (this.#isFree() && (length >= GATHER_BYTES || (length < GATHER_FROM && this.#messages++ < MAX_MESSAGES))) {
      this.#writeNow(bytes, start, end, credit, slab);
      return;
    }
    const gathered = this.#add(bytes, start, end, credit, slab);
    if (this.#outstanding !== null) return;
    if (gathered >= GATHER_BYTES) this.flush();
    else if (!this.#scheduled) {
      this.#scheduled = true;
      this.#turn.add(this);
    }
  }

  /** The same without waiting for more. */
  write(bytes: Buffer, start: number, end: number, credit: number, slab: Slab): void {
    if (this.#isFree()) {
      this.#writeNow(bytes, start, end, credit, slab);
      return;
    }
    this.#add(bytes, start, end, credit, slab);
    this.flush();
  }

  atTurnEnd(): void {
    this.#scheduled = false;
    this.#messages = 0;
    this.flush();
  }

  /** Writes what was gathered, unless a write is outstanding: its end does so then. */
  flush(): void {
    while (this.#outstanding === null && !this.#socket.destroyed) {
      const next = this.#queue.shift();
      if (next === undefined) return this.#retireOwn();
      this.#queued -= next.end - next.start;
      if (this.#start(next)) {
        next.slab?.release();
        if (next.credit > 0) this.#onCredit(next.credit);
      }
    }
  }

  /** Ends the socket's writable side after everything queued. May be called twice. */
  end(): void {
    this.#ending = true;
    this.flush();
    this.#endIfDone();
  }

  /** Lets go of what is queued: for a socket that is gone. */
  drop(): void {
    for (const range of this.#queue) range.slab?.release();
    this.#queue.length = 0;
    this.#queued = 0;
    this.#retireOwn();
  }

  #isFree(): boolean {
    return this.#outstanding === null && this.#queue.length === 0;
  }

  /** The fast way: nothing queued, no object made unless the kernel does not take it all. */
  #writeNow(bytes: Buffer, start: number, end: number, credit: number, slab: Slab): void {
    const socket = this.#socket;
    if (socket.destroyed) return;
    if (this.#tls || slab.shared) {
      this.#add(bytes, start, end, credit, slab);
      this.flush();
      return;
    }
    socket.write(bytes.subarray(start, end));
    if (socket.writableLength === 0) {
      if (credit > 0) this.#onCredit(credit);
      return;
    }
    slab.hold();
    this.#outstanding = { bytes, start, end, credit, slab };
    socket.write(EMPTY, this.#onWritten);
  }

  /** Hands a range to the socket. True when it is out already; else it is outstanding now. */
  #start(range: Range): boolean {
    const socket = this.#socket;
    const view = range.bytes.subarray(range.start, range.end);
    if (this.#tls) {
      const isIdle = socket.writableLength === 0;
      this.#outstanding = range;
      socket.write(view, this.#onWritten);
      // An idle TLS socket has encrypted the bytes when `write` returns: the slab is free for the next read, only the credit waits.
      if (isIdle) {
        range.slab?.release();
        range.slab = null;
      }
      return false;
    }
    socket.write(view);
    if (socket.writableLength === 0) return true;
    // libuv keeps pointing into the slab until it is done. 'drain' is not emitted when write() returned true, and a callback on
    // every write would cost the fast case, hence one on an empty write behind it.
    this.#outstanding = range;
    socket.write(EMPTY, this.#onWritten);
    return false;
  }

  /** Appends to the last range where that lies right before. Returns the length of that range. */
  #add(bytes: Buffer, start: number, end: number, credit: number, slab: Slab): number {
    if (this.#socket.destroyed) return 0;
    if (slab.shared || this.backlog > HOLD_BYTES || this.#isCrumb(bytes, start, end))
      return this.#addCopy(bytes, start, end, credit);
    return this.#append(bytes, start, end, credit, slab);
  }

  /** One of many that lie apart and are short. */
  #isCrumb(bytes: Buffer, start: number, end: number): boolean {
    if (end - start >= SMALL_COPY || this.#queue.length < MAX_RANGES) return false;
    const last = this.#queue.at(-1) as Range;
    return last.bytes !== bytes || last.end !== start;
  }

  #append(bytes: Buffer, start: number, end: number, credit: number, slab: Slab): number {
    this.#queued += end - start;
    const last = this.#queue.at(-1);
    if (last !== undefined && last.bytes === bytes && last.end === start) {
      last.end = end;
      last.credit += credit;
      return end - last.start;
    }
    slab.hold();
    this.#queue.push({ bytes, start, end, credit, slab });
    return end - start;
  }

  #addCopy(bytes: Buffer, start: number, end: number, credit: number): number {
    const length = end - start;
    if (length > SLAB_BYTES || (length < SMALL_COPY && this.#queue.length < MAX_RANGES)) {
      return this.#append(Buffer.from(bytes.subarray(start, end)), 0, length, credit, this.#slabs.foreign);
    }
    if (this.#own === null || this.#ownUsed + length > SLAB_BYTES) {
      this.#retireOwn();
      this.#own = this.#slabs.take();
      this.#ownUsed = 0;
    }
    const own = this.#own;
    const at = this.#ownUsed;
    bytes.copy(own.bytes, at, start, end);
    this.#ownUsed = at + length;
    return this.#append(own.bytes, at, at + length, credit, own);
  }

  #written(): void {
    const range = this.#outstanding;
    this.#outstanding = null;
    if (range === null) return;
    range.slab?.release();
    if (this.#socket.destroyed) return;
    if (range.credit > 0) this.#onCredit(range.credit);
    this.flush();
    if (!this.#isFree()) return;
    this.#retireOwn();
    this.#endIfDone();
    this.#onEmpty?.();
  }

  #retireOwn(): void {
    this.#own?.retire();
    this.#own = null;
  }

  #endIfDone(): void {
    // Ending twice is harmless, but Node makes an error of it with a stack each time: 8 % of the time of short connections.
    if (this.#ending && this.#isFree() && !this.#socket.writableEnded) this.#socket.end();
  }
}
