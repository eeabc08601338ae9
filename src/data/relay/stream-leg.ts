/**
 * The way of datagrams to and from an agent over its session, while UDP does not get through: records (wire/relay-records) on one
 * stream that the server opens to the network's slot. One per attachment. A stream that ends is opened again, ever more slowly;
 * meanwhile datagrams are dropped, for WireGuard repeats what it misses. Reasons: docs/decisions/0013-wireguard-relay.md.
 */
import type { TurnEnd, TurnJob } from '../../base/process/turn.ts';
import type { MuxSession } from '../../mux/session.ts';
import type { MuxStream, StreamSink } from '../../mux/stream.ts';
import { encodePreamble, REPLY } from '../../wire/preamble.ts';
import { type OnRecord, RecordReader } from '../../wire/relay-records.ts';
import { RelayRing } from '../../wire/relay-ring.ts';

/** So many are not kept for the end of the turn: a turn may bring more than the ring holds. */
const WRITE_AT = 64;
const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 30_000;

export interface StreamLegOptions {
  readonly session: MuxSession;
  readonly slot: number;
  readonly turn: TurnEnd;
  /** A record from the agent. May throw: the stream is reset then, and its session says so. */
  readonly onRecord: OnRecord;
  /** What the agent sent made no sense; the stream was reset. */
  readonly onMalformed: () => void;
}

export class StreamLeg implements StreamSink, TurnJob {
  readonly #options: StreamLegOptions;
  readonly #preamble: Buffer;
  readonly #ring = new RelayRing();
  readonly #write = (bytes: Buffer, start: number, end: number): boolean => {
    this.#blocked = !(this.#stream as MuxStream).write(bytes, start, end);
    return !this.#blocked;
  };
  #stream: MuxStream | null = null;
  #reader: RecordReader | null = null;
  #blocked = false;
  #asked = false;
  #closed = false;
  /** Bytes of the agent's reply seen so far, and how many it has once its length is known. */
  #replySeen = 0;
  #replySize = 2;
  #retryAtMs = Infinity;
  #retryMs = FIRST_RETRY_MS;

  constructor(options: StreamLegOptions) {
    this.#options = options;
    this.#preamble = encodePreamble(options.slot);
  }

  /** Opens the stream. A session that has as many as it may have is asked again later. */
  open(nowMs: number): void {
    const stream = this.#options.session.open();
    this.#retryAtMs = stream === null ? this.#nextTry(nowMs) : Infinity;
    if (stream === null) return;
    this.#reader = new RecordReader(this.#options.onRecord);
    this.#replySeen = 0;
    this.#replySize = 2;
    this.#stream = stream;
    stream.mayGrow = false;
    stream.sink = this;
    this.#blocked = !stream.write(this.#preamble);
  }

  /** Takes `bytes[start, end)` for `flow`: a copy waits for the end of the turn, or for room. Without a stream it is dropped. */
  send(flow: number, bytes: Buffer, start: number, end: number): void {
    if (this.#stream === null) {
      this.#ring.dropped++;
      return;
    }
    this.#ring.push(flow, bytes, start, end);
    if (this.#blocked) return;
    if (this.#ring.size >= WRITE_AT) this.#ring.drain(this.#write);
    else if (!this.#asked) {
      this.#asked = true;
      this.#options.turn.add(this);
    }
  }

  /** Is there room for a datagram that none shall be dropped for? */
  get hasSpare(): boolean {
    return this.#stream !== null && !this.#ring.isHalfFull;
  }

  /** Datagrams that were dropped since the last call: newer ones needed the room, or there was no stream. */
  takeDropped(): number {
    const { dropped } = this.#ring;
    this.#ring.dropped = 0;
    return dropped;
  }

  /** About once a second: opens again what has ended. */
  sweep(nowMs: number): void {
    // A fault of ours on it has reset it without a word to this.
    if (this.#stream?.gone === true) this.#forget(this.#stream);
    if (this.#closed || this.#stream !== null) return;
    if (this.#retryAtMs === Infinity) this.#retryAtMs = this.#nextTry(nowMs);
    else if (nowMs >= this.#retryAtMs) this.open(nowMs);
  }

  close(): void {
    this.#closed = true;
    const stream = this.#stream;
    if (stream !== null) this.#lose(stream);
  }

  /** For the turn. */
  atTurnEnd(): void {
    this.#asked = false;
    if (!this.#blocked && this.#stream !== null) this.#ring.drain(this.#write);
  }

  // ------------------------------------------------------------------ from the multiplexer

  onData(stream: MuxStream, bytes: Buffer, start: number, end: number): void {
    if (stream !== this.#stream) return stream.consumed(end - start);
    let at = start;
    while (at < end && this.#replySeen < this.#replySize) {
      const byte = bytes[at++] as number;
      if (this.#replySeen === 0 && byte !== REPLY.connected) return this.#lose(stream);
      if (this.#replySeen === 1) this.#replySize = 2 + byte;
      this.#replySeen++;
      if (this.#replySeen === this.#replySize) this.#retryMs = FIRST_RETRY_MS;
    }
    if (at < end && this.#reader?.read(bytes, at, end) === false) {
      this.#lose(stream);
      this.#options.onMalformed();
      return;
    }
    stream.consumed(end - start);
  }

  onEnd(stream: MuxStream): void {
    this.#lose(stream);
  }

  onReset(stream: MuxStream): void {
    this.#forget(stream);
  }

  onDrain(stream: MuxStream): void {
    if (stream !== this.#stream) return;
    this.#blocked = false;
    this.#ring.drain(this.#write);
  }

  #lose(stream: MuxStream): void {
    this.#forget(stream);
    stream.reset();
  }

  /** What waited for it goes with it. */
  #forget(stream: MuxStream): void {
    if (stream !== this.#stream) return;
    this.#stream = null;
    this.#ring.clear();
  }

  #nextTry(nowMs: number): number {
    const atMs = nowMs + this.#retryMs;
    this.#retryMs = Math.min(2 * this.#retryMs, MAX_RETRY_MS);
    return atMs;
  }
}
