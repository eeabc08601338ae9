/**
 * The bandwidth limit of one session, at its socket: reads and writes wait for one bucket, which other sessions may share.
 * Made by the code that attaches the session; does nothing until a limit is known. Why at the socket: docs/decisions/0010-bandwidth.md.
 */
import { type Clock, systemClock } from '../base/clock.ts';
import { bytesPerMsOf, type Payer, stepOf, type TokenBucket } from '../base/limits/token-bucket.ts';
import { Flight } from './flight.ts';
import { piecesOf, WHOLE } from './pieces.ts';
import type { MuxSession } from './session.ts';
import { WindowBudget } from './window.ts';

/**
 * The windows of a limited session are as large as the limit needs over this round trip, each and in what they grow in all. The round trip
 * that is measured holds the wait for the bucket: by it they would grow without need. What they let under way a later request waits behind.
 */
const ROUND_TRIP_MS = 250;
const MIN_WINDOW = 32_768;

/** One direction: it stops and goes on when the bucket says so. */
export interface ShapedSide extends Payer {
  /** No limit any more: go on if you wait. */
  lifted(): void;
}

export class Shaper {
  /** The limit that this side keeps; null: none. Looked at per read and per write. */
  bucket: TokenBucket | null = null;
  /** What this side has under way to a peer that keeps a limit; null: it keeps none. */
  flight: Flight | null = null;
  /** Either is set: looked at per write. */
  shapes = false;
  /** Bytes that are written without being paid for. */
  #forgiven = 0;
  readonly #sides: ShapedSide[] = [];
  #session: MuxSession | null = null;

  /** For attach.ts. */
  join(side: ShapedSide): void {
    this.#sides.push(side);
  }

  /** For attach.ts: the session on the socket. */
  begin(session: MuxSession): void {
    this.#session = session;
  }

  /** The session has begun and keeps the limit of `bucket` from now on. Again when its rate has changed. */
  limit(bucket: TokenBucket): void {
    this.bucket = bucket;
    this.#shape(bucket.step);
  }

  /** The session has begun and the peer keeps a limit of so many megabits (10^6 bits) per second: no more is sent than it reads soon. */
  holdBack(megabitsPerSecond: number, clock: Clock = systemClock): void {
    this.flight = new Flight(megabitsPerSecond, clock);
    if (this.#session !== null) this.#session.pulse.flight = this.flight;
    this.#shape(stepOf(bytesPerMsOf(megabitsPerSecond)));
  }

  /** `bytes` that are about to be written are not paid for: the peer did not cause them. */
  forgive(bytes: number): void {
    if (this.bucket !== null) this.#forgiven += bytes;
  }

  /** What of `bytes` that are written has to be paid for. */
  owed(bytes: number): number {
    const forgiven = Math.min(this.#forgiven, bytes);
    this.#forgiven -= forgiven;
    return bytes - forgiven;
  }

  /** Ends the limit and with it all waiting: when the socket is gone, and before, that a session's last word need not wait behind what it owes. */
  lift(): void {
    if (!this.shapes) return;
    const { bucket } = this;
    this.bucket = this.flight = null;
    this.shapes = false;
    this.#forgiven = 0;
    if (this.#session !== null) this.#session.pulse.flight = null;
    this.#session?.sender.cut(WHOLE);
    for (const side of this.#sides) {
      bucket?.forget(side);
      side.lifted();
    }
  }

  #shape(step: number): void {
    this.shapes = true;
    this.#session?.sender.cut(piecesOf(step));
  }
}

/** The process's budget as one session sees it: the same, but for smaller windows while the session is limited. */
export class ShapedBudget extends WindowBudget {
  readonly #whole: WindowBudget;
  readonly #shaper: Shaper;
  #taken = 0;

  constructor(whole: WindowBudget, shaper: Shaper) {
    super(0);
    this.#whole = whole;
    this.#shaper = shaper;
  }

  override get left(): number {
    return this.#whole.left;
  }

  override get largestWindow(): number {
    const { bucket } = this.#shaper;
    if (bucket === null) return this.#whole.largestWindow;
    return Math.max(MIN_WINDOW, bucket.bytesPerMs * ROUND_TRIP_MS);
  }

  override take(bytes: number): boolean {
    const { bucket } = this.#shaper;
    if (bucket !== null && this.#taken + bytes > bucket.bytesPerMs * ROUND_TRIP_MS) return false;
    if (!this.#whole.take(bytes)) return false;
    this.#taken += bytes;
    return true;
  }

  override give(bytes: number): void {
    this.#taken -= bytes;
    this.#whole.give(bytes);
  }
}
