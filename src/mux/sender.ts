/**
 * The sending half of a session: frames are gathered in a slab, and one write per turn of the event loop sends it.
 * Two lanes, quick and bulk, take turns. A lane with 1 MB queued tells its streams to wait for `roomAgain`; with 4 MB it takes
 * no more data. A quick lane over HARD_BYTES ends the session. Reasons and figures: docs/decisions/0001-own-multiplexer.md.
 */
import { type Slab, type SlabPool, SLAB_BYTES } from '../base/bytes/slab.ts';
import { FLAG, HEADER_BYTES, writeHeader, TYPE } from './frame.ts';
import { type Pieces, WHOLE } from './pieces.ts';
import type { MuxTransport } from './types.ts';

export const QUICK = 0;
export const BULK = 1;
export type LaneIndex = typeof QUICK | typeof BULK;

/** Where a header has the low byte of its flags. */
const FLAGS_AT = 3;
/** The quick lane with this much queued takes no more data. */
const FULL_BYTES = 4 << 20;
/** The quick lane over this: the peer provokes answers and reads none. */
const HARD_BYTES = 8 << 20;
/** A slab this full is written without waiting for the end of the turn. */
const FLUSH_BYTES = 65_536;
/** No frame is begun in the last bytes of a slab: tiny frames would cost the peer more than a new slab costs us. */
const MIN_ROOM = HEADER_BYTES + 512;
/** Copying a few bytes in JavaScript is cheaper than a call into the runtime. */
const TINY_BYTES = 24;

/** A stream that waits until a lane has drained. */
export interface Waiter {
  roomAgain(): void;
}

class Lane {
  slab: Slab | null = null;
  length = 0;
  /** The last frame in the slab: where it begins, and whose data it has; 0: it is of another kind. */
  lastAt = 0;
  lastId = 0;
  readonly full: Slab[] = [];
  readonly fullLengths: number[] = [];
  readonly fullBarriers: number[] = [];
  /** The present slab may go out once this much of the quick lane is out: frames of one stream never overtake each other. */
  barrier = 0;
  queued = 0;
  /** Bytes ever put and ever taken by the transport: their order tells a stream whether its burst is out. */
  put = 0;
  done = 0;
  /** In the order in which they came. A set, so that a stream which ends while it waits leaves nothing behind. */
  readonly waiters = new Set<Waiter>();
}

export class FrameSender {
  readonly #transport: MuxTransport;
  readonly #pool: SlabPool;
  readonly #onFault: (error: Error) => void;
  readonly #onFlood: () => void;
  readonly #lanes: readonly [Lane, Lane] = [new Lane(), new Lane()];
  readonly #onWritten = (error?: Error | null): void => this.#written(error);
  readonly #atTurnEnd = (): void => {
    this.#scheduled = false;
    this.flush();
  };
  #scheduled = false;
  #writing: Slab | null = null;
  #writingLane: Lane | null = null;
  #writingLength = 0;
  #preferBulk = false;
  #closed = false;
  #flooded = false;
  #whenEmpty: (() => void) | null = null;
  #pieces = WHOLE;

  constructor(
    transport: MuxTransport,
    options: { pool: SlabPool; onFault: (error: Error) => void; onFlood: () => void },
  ) {
    this.#transport = transport;
    this.#pool = options.pool;
    this.#onFault = options.onFault;
    this.#onFlood = options.onFlood;
  }

  get pieces(): Pieces {
    return this.#pieces;
  }

  /** From now on in other pieces. What they have room for goes on at once: it may be a stream's last frame. */
  cut(pieces: Pieces): void {
    this.#pieces = pieces;
    for (const lane of this.#lanes) this.#wake(lane);
  }

  /** Queues a frame without payload. */
  control(lane: LaneIndex, type: number, flags: number, id: number, length: number): void {
    if (this.#closed) return;
    const at = this.#frame(this.#lanes[lane], HEADER_BYTES);
    writeHeader((this.#lanes[lane].slab as Slab).bytes, at, type, flags, id, length);
    if (lane === QUICK && this.#lanes[QUICK].queued > HARD_BYTES && !this.#flooded) {
      this.#flooded = true; // the go-away that says so is a control frame too
      this.#onFlood();
    }
  }

  /** Queues `bytes[start, end)` as data frames of stream `id`, copying them. The caller has checked the window. */
  data(lane: LaneIndex, id: number, bytes: Uint8Array, start: number, end: number): void {
    if (this.#closed) return;
    const to = this.#lanes[lane];
    const slabBytes = lane === QUICK ? SLAB_BYTES : this.#pieces.slab;
    let from = start;
    while (from < end) {
      if (slabBytes - to.length < MIN_ROOM) this.#rotate(to);
      const length = Math.min(end - from, slabBytes - to.length - HEADER_BYTES);
      const at = this.#frame(to, HEADER_BYTES + length);
      const out = (to.slab as Slab).bytes;
      writeHeader(out, at, TYPE.data, 0, id, length);
      to.lastId = id;
      copyInto(out, at + HEADER_BYTES, bytes, from, from + length);
      from += length;
    }
    if (to.length >= FLUSH_BYTES && this.#writing === null) this.flush();
  }

  /** Says that nothing waits behind the last data of stream `id`: in its last frame while that is here and the last one, else by a frame of its own. */
  clear(lane: LaneIndex, id: number): void {
    const of = this.#lanes[lane];
    if (of.slab === null || of.length === 0 || of.lastId !== id)
      return this.control(lane, TYPE.data, FLAG.clear, id, 0);
    const at = of.lastAt + FLAGS_AT;
    of.slab.bytes[at] = (of.slab.bytes[at] as number) | FLAG.clear;
  }

  /**
   * Opens one data frame of exactly `length` bytes for stream `id` and returns where its payload begins in `target(lane)`;
   * the caller writes the payload there before it returns to the event loop. `length` is at most MAX_RESERVE.
   */
  reserve(lane: LaneIndex, id: number, length: number): number {
    const to = this.#lanes[lane];
    const at = this.#frame(to, HEADER_BYTES + length);
    writeHeader((to.slab as Slab).bytes, at, TYPE.data, 0, id, length);
    to.lastId = id;
    return at + HEADER_BYTES;
  }

  /**
   * Queues a whole slab as one data frame of stream `id`, without copying: its first HEADER_BYTES are free for the header and the
   * payload of `length` bytes lies behind them. The slab is the sender's from here on.
   */
  donate(lane: LaneIndex, id: number, slab: Slab, length: number): void {
    const to = this.#lanes[lane];
    const barrier = to.barrier;
    this.#rotate(to);
    to.barrier = 0;
    writeHeader(slab.bytes, 0, TYPE.data, 0, id, length);
    to.full.push(slab);
    to.fullLengths.push(HEADER_BYTES + length);
    to.fullBarriers.push(barrier);
    to.queued += HEADER_BYTES + length;
    to.put += HEADER_BYTES + length;
    this.flush();
  }

  /** The buffer that the last `reserve` of this lane points into. */
  target(lane: LaneIndex): Buffer {
    return (this.#lanes[lane].slab as Slab).bytes;
  }

  /**
   * A stream goes over to the bulk lane: what it has put in the quick lane, its SYN included, goes first. Only the slab that
   * it enters waits for that, not those before it: else streams that keep coming over would hold up the bulk lane for ever.
   */
  enterBulk(): void {
    this.#lanes[BULK].barrier = this.#lanes[QUICK].put;
  }

  /** No more data may be put. */
  full(lane: LaneIndex): boolean {
    const of = this.#lanes[lane];
    return of.queued + of.length >= (lane === QUICK ? FULL_BYTES : this.#pieces.full);
  }

  congested(lane: LaneIndex): boolean {
    const of = this.#lanes[lane];
    return of.queued + of.length >= this.#pieces.congested;
  }

  /** `stream.roomAgain()` is called when the lane has drained. */
  wait(lane: LaneIndex, stream: Waiter): void {
    this.#lanes[lane].waiters.add(stream);
  }

  /** The stream is gone and waits no longer. */
  unwait(stream: Waiter): void {
    for (const lane of this.#lanes) lane.waiters.delete(stream);
  }

  /** Bytes ever put into the lane: a mark to compare `done` with. */
  mark(lane: LaneIndex): number {
    return this.#lanes[lane].put;
  }

  /** Bytes of the lane that the transport has taken. */
  done(lane: LaneIndex): number {
    return this.#lanes[lane].done;
  }

  /** Hands what is queued to the transport, unless a write is under way: its end does so then. */
  flush(): void {
    if (this.#writing !== null || this.#closed) return;
    const [quick, bulk] = this.#lanes;
    let lane = quick;
    if (quick.length === 0 && quick.full.length === 0) lane = bulk;
    else if (this.#preferBulk && (bulk.length > 0 || bulk.full.length > 0)) {
      if (quick.done >= (bulk.fullBarriers[0] ?? bulk.barrier)) lane = bulk;
    }
    this.#preferBulk = lane === quick;
    let slab: Slab;
    let length: number;
    const first = lane.full.shift();
    if (first !== undefined) {
      slab = first;
      length = lane.fullLengths.shift() as number;
      lane.fullBarriers.shift();
      lane.queued -= length;
    } else {
      if (lane.slab === null || lane.length === 0) return;
      slab = lane.slab;
      length = lane.length;
      lane.slab = null;
      lane.length = lane.barrier = 0;
    }
    this.#writing = slab;
    this.#writingLane = lane;
    this.#writingLength = length;
    this.#transport.write(slab.bytes.subarray(0, length), this.#onWritten);
  }

  /** Calls back once everything queued so far has been taken by the transport. One waiter only. */
  whenEmpty(then: () => void): void {
    this.#whenEmpty = then;
    this.flush();
    this.#checkEmpty();
  }

  /** Drops what is queued. A write under way keeps its slab, for the transport may still read it. */
  close(): void {
    this.#closed = true;
    for (const lane of this.#lanes) {
      lane.slab?.retire();
      for (const slab of lane.full) slab.retire();
      lane.slab = null;
      lane.full.length = lane.fullLengths.length = lane.fullBarriers.length = lane.length = lane.queued = 0;
      lane.waiters.clear();
    }
  }

  #frame(lane: Lane, size: number): number {
    if (lane.length + size > SLAB_BYTES) this.#rotate(lane);
    lane.slab ??= this.#pool.take();
    const at = lane.length;
    lane.lastAt = at;
    lane.lastId = 0;
    lane.length = at + size;
    lane.put += size;
    if (!this.#scheduled && this.#writing === null) {
      this.#scheduled = true;
      setImmediate(this.#atTurnEnd);
    }
    return at;
  }

  #rotate(lane: Lane): void {
    if (lane.slab === null) return;
    lane.full.push(lane.slab);
    lane.fullLengths.push(lane.length);
    lane.fullBarriers.push(lane.barrier);
    lane.queued += lane.length;
    lane.slab = null;
    lane.length = lane.barrier = 0;
  }

  #written(error?: Error | null): void {
    const slab = this.#writing;
    const lane = this.#writingLane;
    this.#writing = null;
    this.#writingLane = null;
    if (slab === null || lane === null) return;
    slab.retire();
    if (error) {
      this.#onFault(error);
      return;
    }
    lane.done += this.#writingLength;
    if (this.#closed) return;
    if (!this.#scheduled) this.flush();
    for (const each of this.#lanes) if (each.waiters.size > 0) this.#wake(each);
    this.#checkEmpty();
  }

  #wake(lane: Lane): void {
    const { congested } = this.#pieces;
    if (lane.queued + lane.length >= congested / 2) return;
    for (const stream of lane.waiters) {
      // Those not reached stay at the front: a stream that fills the lane again at once can't keep the others out.
      if (lane.queued + lane.length >= congested) return;
      lane.waiters.delete(stream);
      stream.roomAgain();
    }
  }

  #checkEmpty(): void {
    if (this.#whenEmpty === null || this.#writing !== null) return;
    for (const lane of this.#lanes) if (lane.length > 0 || lane.full.length > 0) return;
    const then = this.#whenEmpty;
    this.#whenEmpty = null;
    then();
  }
}

/** Longest payload that `reserve` takes. */
export const MAX_RESERVE = SLAB_BYTES - HEADER_BYTES;

function copyInto(out: Uint8Array, at: number, bytes: Uint8Array, start: number, end: number): void {
  if (end - start <= TINY_BYTES) {
    for (let i = start, o = at; i < end; i++, o++) out[o] = bytes[i] as number;
  } else {
    (bytes as Buffer).copy(out, at, start, end);
  }
}
