/**
 * Records: datagrams of a private network behind each other, each with its flow and length, so that boundaries are kept. The body of a
 * `batch` packet is made of them, and so are both directions of the stream that carries a relay where UDP does not get through.
 *
 *   0        4        6
 *   +--------+--------+----------------------+
 *   | flow   | length | datagram             |    numbers big-endian; length 0..MAX_DATAGRAM_BYTES
 *   | uint32 | uint16 | `length` bytes       |
 *   +--------+--------+----------------------+
 *
 * Nothing is allocated per record: a record is given as a range of the buffer that it came in, which is valid until the callback returns.
 */
import { MAX_DATAGRAM_BYTES, RECORD_HEAD_BYTES } from './relay-packets.ts';

/** Takes `bytes[start, end)`, one datagram of `flow`. Valid until it returns. */
export type OnRecord = (flow: number, bytes: Buffer, start: number, end: number) => void;

/** What a record that has come in part is kept in at first: room for a full packet at the usual MTU. */
const FIRST_ROOM_BYTES = 2_048;

/** Writes the record of `bytes[start, end)`, at most MAX_DATAGRAM_BYTES, at `at`; there must be room. Returns where it ends. */
export function writeRecord(out: Buffer, at: number, flow: number, bytes: Buffer, start: number, end: number): number {
  const length = end - start;
  writeFlow(out, at, flow);
  out[at + 4] = length >>> 8;
  out[at + 5] = length;
  bytes.copy(out, at + RECORD_HEAD_BYTES, start, end);
  return at + RECORD_HEAD_BYTES + length;
}

/** Writes a flow's number, four bytes. */
export function writeFlow(out: Buffer, at: number, flow: number): void {
  out[at] = flow >>> 24;
  out[at + 1] = flow >>> 16;
  out[at + 2] = flow >>> 8;
  out[at + 3] = flow;
}

/** The number of the flow at `at`, where there must be four bytes. */
export function readFlow(bytes: Buffer, at: number): number {
  return readUint16(bytes, at) * 0x1_0000 + readUint16(bytes, at + 2);
}

function readUint16(bytes: Buffer, at: number): number {
  return ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
}

/**
 * Gives each record of `bytes[start, end)`, the body of a `batch`. False when it is malformed: no record at all, a length beyond
 * MAX_DATAGRAM_BYTES or beyond the end. The records before the malformed one have then been given.
 */
export function readRecords(bytes: Buffer, start: number, end: number, onRecord: OnRecord): boolean {
  let at = start;
  do {
    const bodyAt = at + RECORD_HEAD_BYTES;
    if (bodyAt > end) return false;
    const length = readUint16(bytes, at + 4);
    if (length > MAX_DATAGRAM_BYTES || length > end - bodyAt) return false;
    const flow = readFlow(bytes, at);
    at = bodyAt + length;
    onRecord(flow, bytes, bodyAt, at);
  } while (at < end);
  return true;
}

/**
 * Takes a stream of records in chunks of any size. Keeps at most one record that has come in part: 64 KB. After a malformed one, or after a
 * throw of `onRecord`, it is lost where the next begins: the stream must be reset, and this takes nothing more.
 */
export class RecordReader {
  readonly #onRecord: OnRecord;
  /** The first `#have` bytes of a record. */
  #kept = Buffer.alloc(0);
  #have = 0;
  #broken = false;

  constructor(onRecord: OnRecord) {
    this.#onRecord = onRecord;
  }

  /** Takes `bytes[start, end)`, what follows on what it took before. False: malformed, now or before. */
  read(bytes: Buffer, start: number, end: number): boolean {
    if (this.#broken) return false;
    this.#broken = true;
    if (!this.#readAll(bytes, start, end)) return false;
    this.#broken = false;
    return true;
  }

  #readAll(bytes: Buffer, start: number, end: number): boolean {
    let at = start;
    while (at < end) {
      if (this.#have > 0) {
        at = this.#complete(bytes, at, end);
        if (at < 0) return false;
        continue;
      }
      const bodyAt = at + RECORD_HEAD_BYTES;
      if (bodyAt > end) return this.#keep(bytes, at, end);
      const length = readUint16(bytes, at + 4);
      if (length > MAX_DATAGRAM_BYTES) return false;
      if (length > end - bodyAt) return this.#keep(bytes, at, end);
      const flow = readFlow(bytes, at);
      at = bodyAt + length;
      this.#onRecord(flow, bytes, bodyAt, at);
    }
    return true;
  }

  /** Adds to the record that has come in part, and gives it once it is whole. Returns where the next begins, -1 when it is malformed. */
  #complete(bytes: Buffer, start: number, end: number): number {
    let at = start;
    if (this.#have < RECORD_HEAD_BYTES) {
      at = Math.min(end, start + RECORD_HEAD_BYTES - this.#have);
      this.#keep(bytes, start, at);
      if (this.#have < RECORD_HEAD_BYTES) return at;
    }
    const length = readUint16(this.#kept, 4);
    if (length > MAX_DATAGRAM_BYTES) return -1;
    const size = RECORD_HEAD_BYTES + length;
    const partEnd = Math.min(end, at + size - this.#have);
    this.#keep(bytes, at, partEnd);
    if (this.#have < size) return partEnd;
    this.#have = 0;
    this.#onRecord(readFlow(this.#kept, 0), this.#kept, RECORD_HEAD_BYTES, size);
    return partEnd;
  }

  #keep(bytes: Buffer, start: number, end: number): true {
    const have = this.#have + end - start;
    if (have > this.#kept.length) {
      // Once for a stream of usual packets; the longest record needs it six times.
      const room = Buffer.allocUnsafeSlow(Math.max(FIRST_ROOM_BYTES, 2 * have));
      this.#kept.copy(room, 0, 0, this.#have);
      this.#kept = room;
    }
    bytes.copy(this.#kept, this.#have, start, end);
    this.#have = have;
    return true;
  }
}
