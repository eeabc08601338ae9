/**
 * Datagrams that wait for the stream of a relay, in one direction: at most 256 and 384 KB. Without room the oldest go. One per
 * attached network on each side. Records lie behind each other in one buffer, as they go over the stream; one that does not fit
 * before the end begins at 0. The buffer is made with the first datagram and kept until `clear`. Reasons: docs/decisions/0013-wireguard-relay.md.
 */
import { RECORD_HEAD_BYTES } from './relay-packets.ts';
import { writeRecord } from './relay-records.ts';

export const RING_DATAGRAMS = 256;
export const RING_BYTES = 393_216;
/** What is written at once, unless one datagram is longer: what the stream has no room for waits in it, where it can't be dropped any more. */
const RUN_BYTES = 16_384;

export class RelayRing {
  /** Datagrams that went because newer ones needed the room, or with `clear`. The owner reads and zeroes it. */
  dropped = 0;
  #bytes: Buffer | undefined;
  /** Where each record begins and ends; that of the oldest is at `#first`, its successors follow, modulo RING_DATAGRAMS. */
  readonly #starts = new Uint32Array(RING_DATAGRAMS);
  readonly #ends = new Uint32Array(RING_DATAGRAMS);
  #first = 0;
  #count = 0;

  /** Datagrams that wait. */
  get size(): number {
    return this.#count;
  }

  /** What is half full or more, of datagrams or of bytes. */
  get isHalfFull(): boolean {
    if (this.#count === 0) return false;
    const oldestAt = this.#starts[this.#first] as number;
    const newestEnd = this.#ends[(this.#first + this.#count - 1) % RING_DATAGRAMS] as number;
    const span = newestEnd > oldestAt ? newestEnd - oldestAt : RING_BYTES - oldestAt + newestEnd;
    return 2 * this.#count >= RING_DATAGRAMS || 2 * span >= RING_BYTES;
  }

  /** Takes a copy of `bytes[start, end)`, at most MAX_DATAGRAM_BYTES, for `flow`. The oldest go until there is room. */
  push(flow: number, bytes: Buffer, start: number, end: number): void {
    this.#bytes ??= Buffer.allocUnsafeSlow(RING_BYTES);
    const size = RECORD_HEAD_BYTES + end - start;
    if (this.#count === RING_DATAGRAMS) this.#dropOldest();
    let at = this.#placeFor(size);
    while (at < 0) {
      this.#dropOldest();
      at = this.#placeFor(size);
    }
    const index = (this.#first + this.#count) % RING_DATAGRAMS;
    this.#starts[index] = at;
    this.#ends[index] = writeRecord(this.#bytes, at, flow, bytes, start, end);
    this.#count++;
  }

  /**
   * Writes what waits, oldest first and as whole records, until `write` returns false or nothing waits. `write` uses or copies
   * `bytes[start, end)` before it returns, whatever it returns, and pushes nothing here.
   */
  drain(write: (bytes: Buffer, start: number, end: number) => boolean): void {
    const bytes = this.#bytes;
    if (bytes === undefined) return;
    while (this.#count > 0) {
      const start = this.#starts[this.#first] as number;
      let end = this.#takeOldest();
      while (this.#count > 0 && this.#starts[this.#first] === end) {
        if ((this.#ends[this.#first] as number) - start > RUN_BYTES) break;
        end = this.#takeOldest();
      }
      if (!write(bytes, start, end)) return;
    }
  }

  /** Drops what waits, and gives the memory back. */
  clear(): void {
    this.dropped += this.#count;
    this.#bytes = undefined;
    this.#count = 0;
  }

  #dropOldest(): void {
    this.#takeOldest();
    this.dropped++;
  }

  /** Where the oldest record ended, which is none any more. */
  #takeOldest(): number {
    const end = this.#ends[this.#first] as number;
    this.#first = (this.#first + 1) % RING_DATAGRAMS;
    this.#count--;
    return end;
  }

  /** Where `size` bytes are free behind the newest record, or at 0; -1: nowhere. */
  #placeFor(size: number): number {
    if (this.#count === 0) return 0;
    const oldestAt = this.#starts[this.#first] as number;
    const newestEnd = this.#ends[(this.#first + this.#count - 1) % RING_DATAGRAMS] as number;
    if (newestEnd <= oldestAt) return newestEnd + size <= oldestAt ? newestEnd : -1;
    if (newestEnd + size <= RING_BYTES) return newestEnd;
    return size <= oldestAt ? 0 : -1;
  }
}
