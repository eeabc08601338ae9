/**
 * How much a sender has under way to a peer that reads no faster than a bandwidth limit. The rest waits in the sender's lanes.
 * Marks (pings with numbers of their own) follow the bytes; an answered mark says that all before it was read.
 * Nothing waits while no answer is due. Reasons: docs/decisions/0010-bandwidth.md.
 */
import type { Clock } from '../base/clock.ts';
import { bytesPerMsOf } from '../base/limits/token-bucket.ts';

/** Beyond one round trip: what the peer finds to read while it waits for more. It is also what a short answer waits behind. */
const SLACK_MS = 100;
/** Until the first mark is answered. */
const FIRST_RTT_MS = 150;
/** Marks are numbered from here on; the session's own pings below it. */
export const FIRST_MARK = 0x8000_0000;

export class Flight {
  readonly #bytesPerMs: number;
  readonly #clock: Clock;
  /** Bytes handed to the socket, and those of them that the peer has read. */
  #sent = 0;
  #read = 0;
  /** Marks under way, oldest first, with what was sent before each and when. One follows each quarter of the window: about five at most. */
  readonly #marks: Array<{ readonly sent: number; readonly atMs: number }> = [];
  #answered = 0;
  /** What had been sent when the last one was. */
  #marked = 0;
  /** The least of all: it holds least of the wait for the limit. */
  #rttMs: number | null = null;
  #waiter: (() => void) | null = null;

  constructor(megabitsPerSecond: number, clock: Clock) {
    this.#bytesPerMs = bytesPerMsOf(megabitsPerSecond);
    this.#clock = clock;
  }

  /** True: nothing more is to be sent until `then` is called. Once; the next `then` takes the place of this one. */
  waits(then: () => void): boolean {
    if (!this.#full) return false;
    this.#waiter = then;
    return true;
  }

  /** `bytes` were handed to the socket. The number of the mark to be sent behind them, or null. */
  sent(bytes: number): number | null {
    this.#sent += bytes;
    if (this.#sent - this.#marked < this.#window / 4) return null;
    this.#marked = this.#sent;
    this.#marks.push({ sent: this.#sent, atMs: this.#clock.monotonic() });
    return this.#numberOf(this.#marks.length - 1);
  }

  /** The peer has answered a ping of this number. One that is no mark under way is nothing. */
  answered(number: number): void {
    const index = this.#marks.findIndex((_mark, i) => this.#numberOf(i) === number);
    const mark = this.#marks[index];
    if (mark === undefined) return;
    this.#marks.splice(0, index + 1);
    this.#answered += index + 1;
    this.#read = mark.sent;
    const rttMs = this.#clock.monotonic() - mark.atMs;
    this.#rttMs = Math.min(this.#rttMs ?? rttMs, rttMs);
    if (this.#full) return;
    const then = this.#waiter;
    this.#waiter = null;
    then?.();
  }

  get #window(): number {
    return this.#bytesPerMs * ((this.#rttMs ?? FIRST_RTT_MS) + SLACK_MS);
  }

  get #full(): boolean {
    return this.#marks.length > 0 && this.#sent - this.#read >= this.#window;
  }

  #numberOf(index: number): number {
    return FIRST_MARK + ((this.#answered + index) % FIRST_MARK);
  }
}
