/**
 * Writes ranges of slabs to a socket: gathers what lies side by side, keeps a slab held while the kernel has not taken its
 * bytes, and gives credit only for bytes that left this process. That credit is the back-pressure of the whole tunnel: it is
 * what reopens the mux window towards the sender.
 */
import type { Socket } from 'node:net';
import type { Slab } from './slab.ts';
import type { TurnEnd, TurnJob } from './turn.ts';

/** A gathered range is written once it is this long, without waiting for the end of the turn. */
const GATHER_BYTES = 65_536;
/** Less than this is a message, not a part of a download: waiting for more would cost more than the write that it may save. */
const GATHER_FROM = 8_192;
/** A reader that is behind by more than this gets right-sized copies, so that it does not pin whole slabs. */
const HOLD_BYTES = 524_288;
/** Finished entries are cut off the queue of credits when there are this many. */
const COMPACT_AT = 1_023;
const EMPTY = Buffer.alloc(0);

export interface SocketWriterOptions {
  readonly tls: boolean;
  readonly turn: TurnEnd;
  readonly onCredit: (bytes: number) => void;
  /** Everything that had to wait has been taken by the kernel. */
  readonly onEmpty?: () => void;
}

export class SocketWriter implements TurnJob {
  readonly #socket: Socket;
  /** TLS takes the bytes of a write at once (it encrypts them) but always finishes later. */
  readonly #tls: boolean;
  readonly #turn: TurnEnd;
  readonly #onCredit: (bytes: number) => void;
  readonly #onEmpty: (() => void) | undefined;
  readonly #onWritten = (): void => this.#written();

  /** The gathered range: `#bytes[#start, #end)`. */
  #bytes: Buffer | null = null;
  #start = 0;
  #end = 0;
  #slab: Slab | null = null;
  #scheduled = false;
  /** Credit that belongs to the gathered range. */
  #gathered = 0;
  /** What each write under way gives when it is done, in order: its credit, and the slab that it points into. */
  #credits: number[] = [];
  #slabs: Array<Slab | null> = [];
  #head = 0;

  constructor(socket: Socket, options: SocketWriterOptions) {
    this.#socket = socket;
    this.#tls = options.tls;
    this.#turn = options.turn;
    this.#onCredit = options.onCredit;
    this.#onEmpty = options.onEmpty;
  }

  /** Bytes accepted and not yet taken by the kernel. */
  get backlog(): number {
    return this.#socket.writableLength + (this.#end - this.#start);
  }

  /** Queues `bytes[start, end)` of `slab`; `credit` bytes are credited once they are out. */
  push(bytes: Buffer, start: number, end: number, credit: number, slab: Slab): void {
    if (this.#bytes !== null) {
      if (this.#bytes === bytes && this.#end === start) {
        this.#end = end;
        this.#gathered += credit;
        if (end - this.#start >= GATHER_BYTES) this.flush();
        return;
      }
      this.flush();
    }
    const length = end - start;
    if (slab.shared || length < GATHER_FROM || length >= GATHER_BYTES) {
      this.write(bytes, start, end, credit, slab);
      return;
    }
    slab.hold();
    this.#slab = slab;
    this.#bytes = bytes;
    this.#start = start;
    this.#end = end;
    this.#gathered = credit;
    if (!this.#scheduled) {
      this.#scheduled = true;
      this.#turn.add(this);
    }
  }

  atTurnEnd(): void {
    this.#scheduled = false;
    this.flush();
  }

  /** Writes what was gathered. */
  flush(): void {
    const bytes = this.#bytes;
    if (bytes === null) return;
    const slab = this.#slab as Slab;
    const credit = this.#gathered;
    this.#bytes = null;
    this.#slab = null;
    this.#gathered = 0;
    const start = this.#start;
    const end = this.#end;
    this.#start = this.#end = 0;
    this.write(bytes, start, end, credit, slab);
    slab.release();
  }

  /** Writes at once, after anything gathered. The caller may reuse the bytes unless it sees the slab held afterwards. */
  write(bytes: Buffer, start: number, end: number, credit: number, slab: Slab): void {
    if (this.#bytes !== null) this.flush();
    const socket = this.#socket;
    if (socket.destroyed) return;
    const backlog = socket.writableLength;
    if (slab.shared || backlog > HOLD_BYTES) {
      this.#expect(credit, null);
      socket.write(Buffer.from(bytes.subarray(start, end)), this.#onWritten);
      return;
    }
    if (this.#tls || backlog > 0) {
      this.#expect(credit, slab);
      socket.write(bytes.subarray(start, end), this.#onWritten);
      return;
    }
    socket.write(bytes.subarray(start, end));
    if (socket.writableLength === 0) {
      if (credit > 0) this.#onCredit(credit);
      return;
    }
    // libuv keeps pointing into the slab until it is done. 'drain' is not emitted when write() returned true, and a callback on
    // every write would cost the fast case, hence one on an empty write behind it.
    this.#expect(credit, slab);
    socket.write(EMPTY, this.#onWritten);
  }

  /** Forgets what was gathered: for a socket that is gone. Writes under way let go of their slabs when Node reports them failed. */
  drop(): void {
    this.#bytes = null;
    this.#start = this.#end = 0;
    this.#gathered = 0;
    this.#slab?.release();
    this.#slab = null;
  }

  #expect(credit: number, slab: Slab | null): void {
    slab?.hold();
    this.#credits.push(credit);
    this.#slabs.push(slab);
  }

  #written(): void {
    const at = this.#head;
    const credit = this.#credits[at] as number;
    this.#slabs[at]?.release();
    this.#slabs[at] = null;
    if (at + 1 === this.#credits.length) {
      this.#credits.length = this.#slabs.length = this.#head = 0;
    } else if (at === COMPACT_AT) {
      // A socket that is busy for hours may never have all of its writes out.
      this.#credits.splice(0, at + 1);
      this.#slabs.splice(0, at + 1);
      this.#head = 0;
    } else {
      this.#head = at + 1;
    }
    if (this.#socket.destroyed) return;
    if (credit > 0) this.#onCredit(credit);
    if (this.#credits.length === 0) this.#onEmpty?.();
  }
}
