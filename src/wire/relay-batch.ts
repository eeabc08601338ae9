/**
 * Gathers the datagrams that one side of a relay has for the other in one turn of the event loop into packets: small ones together in a
 * `batch`, which costs one system call for all of them, a lone or a long one as `data`. Server and agent have one for each attached network.
 *
 * A packet in the making, whose first datagram lies at the same place whichever of the two it becomes:
 *
 *   0                         8        12       14
 *   | kind, token             | flow   | length | datagram | records …      batch
 *            2                        10        14
 *            | kind, token             | flow   | datagram |                data
 */
import type { TurnJob } from '../base/process/turn.ts';
import {
  BATCH_BYTES,
  DATA_HEAD_BYTES,
  MAX_DATAGRAM_BYTES,
  RECORD_HEAD_BYTES,
  RELAY_HEAD_BYTES,
  RELAY_KIND,
  RELAY_TOKEN_BYTES,
} from './relay-packets.ts';
import { writeFlow, writeRecord } from './relay-records.ts';

const FLOW_BYTES = 4;
/** What `data` leaves free before its head. */
const DATA_AT = RELAY_HEAD_BYTES + RECORD_HEAD_BYTES - DATA_HEAD_BYTES;

export interface BatchOptions {
  /** Seven bytes; copied. */
  readonly token: Uint8Array;
  /** A `TurnEnd`: runs `atTurnEnd` of what it is given at the end of the present turn. */
  readonly turn: { add(job: TurnJob): void };
  /** Sends one packet, `bytes[start, end)`, now or not at all; false: not sent. The bytes are used again once it returns. */
  readonly send: (bytes: Buffer, start: number, end: number) => boolean;
}

export class RelayBatch implements TurnJob {
  /** Datagrams that `send` did not take. The owner reads and zeroes it. */
  lost = 0;
  readonly #send: BatchOptions['send'];
  readonly #turn: BatchOptions['turn'];
  readonly #token: Buffer;
  readonly #packet = Buffer.alloc(BATCH_BYTES);
  /** For datagrams that are too long for a batch; grows to what they need, 64 KB at most. */
  #long = Buffer.alloc(0);
  #end = RELAY_HEAD_BYTES;
  #count = 0;
  #asked = false;

  constructor({ token, turn, send }: BatchOptions) {
    this.#token = Buffer.from(token);
    this.#turn = turn;
    this.#send = send;
  }

  /** Datagrams that wait for the end of the turn. */
  get waiting(): number {
    return this.#count;
  }

  /**
   * Takes `bytes[start, end)`, at most MAX_DATAGRAM_BYTES, for `flow`. A long one leaves at once, behind what waited; a small one is copied, and
   * leaves at the end of the turn at the latest. All leave in the order in which they came.
   */
  add(flow: number, bytes: Buffer, start: number, end: number): void {
    const size = RECORD_HEAD_BYTES + end - start;
    if (this.#end + size > BATCH_BYTES) {
      this.flush();
      if (RELAY_HEAD_BYTES + size > BATCH_BYTES) {
        this.#sendLong(flow, bytes, start, end);
        return;
      }
    }
    this.#end = writeRecord(this.#packet, this.#end, flow, bytes, start, end);
    this.#count++;
    if (this.#asked) return;
    this.#asked = true;
    this.#turn.add(this);
  }

  /** Sends what waits. */
  flush(): void {
    const count = this.#count;
    const end = this.#end;
    if (count === 0) return;
    this.#count = 0;
    this.#end = RELAY_HEAD_BYTES;
    let start = 0;
    if (count === 1) {
      start = DATA_AT;
      this.#packet.copyWithin(DATA_AT + RELAY_HEAD_BYTES, RELAY_HEAD_BYTES, RELAY_HEAD_BYTES + FLOW_BYTES);
    }
    this.#writeHead(this.#packet, start, count === 1 ? RELAY_KIND.data : RELAY_KIND.batch);
    if (!this.#send(this.#packet, start, end)) this.lost += count;
  }

  atTurnEnd(): void {
    this.#asked = false;
    this.flush();
  }

  #sendLong(flow: number, bytes: Buffer, start: number, end: number): void {
    const size = DATA_HEAD_BYTES + end - start;
    if (this.#long.length < size) {
      this.#long = Buffer.allocUnsafeSlow(Math.min(DATA_HEAD_BYTES + MAX_DATAGRAM_BYTES, 2 * size));
      this.#writeHead(this.#long, 0, RELAY_KIND.data);
    }
    writeFlow(this.#long, RELAY_HEAD_BYTES, flow);
    bytes.copy(this.#long, DATA_HEAD_BYTES, start, end);
    if (!this.#send(this.#long, 0, size)) this.lost++;
  }

  #writeHead(packet: Buffer, at: number, kind: number): void {
    packet[at] = kind;
    for (let i = 0; i < RELAY_TOKEN_BYTES; i++) packet[at + 1 + i] = this.#token[i] as number;
  }
}
