/**
 * The way of a relay over the session: the stream that the server opened to the relay's slot, as records both ways (wire/relay-records.ts).
 * Used by carrier.ts from the moment that a network is attached until UDP is up, and whenever it is not. What the stream has no room for waits
 * in a ring that drops the oldest: a datagram that is late is worth less than the next.
 */
import type { MuxStream, StreamSink } from '../../mux/stream.ts';
import { MAX_DATAGRAM_BYTES, RECORD_HEAD_BYTES, STREAM_PLEASE, WORDS_FLOW } from '../../wire/relay-packets.ts';
import { type OnRecord, RecordReader, writeRecord } from '../../wire/relay-records.ts';
import { RelayRing } from '../../wire/relay-ring.ts';

const WORD = Buffer.from([STREAM_PLEASE]);

export interface StreamLegOptions {
  readonly stream: MuxStream;
  readonly onRecord: OnRecord;
  /** The stream is gone; nothing follows. */
  readonly onGone: () => void;
  /** What came is no record: the stream was cut. */
  readonly onMalformed: () => void;
}

export class StreamLeg implements StreamSink {
  readonly #stream: MuxStream;
  readonly #options: StreamLegOptions;
  readonly #reader: RecordReader;
  readonly #ring = new RelayRing();
  readonly #write = (bytes: Buffer, start: number, end: number): boolean => {
    this.#blocked = !this.#stream.write(bytes, start, end);
    return !this.#blocked;
  };
  /** For a record that does not go straight into a frame; made when there is one. */
  #record: Buffer | undefined;
  #blocked = false;
  #wordDue = false;
  #over = false;

  constructor(options: StreamLegOptions) {
    this.#options = options;
    this.#stream = options.stream;
    options.stream.mayGrow = false;
    this.#reader = new RecordReader(options.onRecord);
  }

  /** Datagrams that went since this was last asked: newer ones needed the room, or the stream was over. */
  takeDropped(): number {
    const { dropped } = this.#ring;
    this.#ring.dropped = 0;
    return dropped;
  }

  /** Takes a datagram of at most MAX_DATAGRAM_BYTES. It goes now, or waits, or makes the oldest one that waits go. */
  send(flow: number, bytes: Buffer, start: number, end: number): void {
    if (this.#blocked) this.#ring.push(flow, bytes, start, end);
    else this.#blocked = !this.#put(flow, bytes, start, end);
  }

  /** Asks the server to send by this stream: what it sends by UDP is not heard. */
  pleaseStream(): void {
    if (this.#blocked) this.#wordDue = true;
    else this.#blocked = !this.#put(WORDS_FLOW, WORD, 0, WORD.length);
  }

  /** May be called twice. */
  close(): void {
    if (this.#over) return;
    this.#over = true;
    this.#ring.clear();
    this.#stream.reset();
  }

  onData(stream: MuxStream, bytes: Buffer, start: number, end: number): void {
    const isWhole = this.#over || this.#reader.read(bytes, start, end);
    stream.consumed(end - start);
    if (isWhole) return;
    this.close();
    this.#options.onMalformed();
    this.#options.onGone();
  }

  onEnd(): void {
    this.onReset();
    this.#stream.reset();
  }

  onReset(): void {
    if (this.#over) return;
    this.#over = true;
    this.#ring.clear();
    this.#options.onGone();
  }

  onDrain(): void {
    this.#blocked = false;
    if (this.#wordDue) {
      this.#wordDue = false;
      this.pleaseStream();
    }
    if (!this.#blocked) this.#ring.drain(this.#write);
  }

  /** False: the stream wants no more for now. */
  #put(flow: number, bytes: Buffer, start: number, end: number): boolean {
    const stream = this.#stream;
    const at = stream.reserve(RECORD_HEAD_BYTES + end - start);
    if (at >= 0) {
      writeRecord(stream.target(), at, flow, bytes, start, end);
      return stream.settled();
    }
    this.#record ??= Buffer.allocUnsafeSlow(RECORD_HEAD_BYTES + MAX_DATAGRAM_BYTES);
    return stream.write(this.#record, 0, writeRecord(this.#record, 0, flow, bytes, start, end));
  }
}
