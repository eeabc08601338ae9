/** The sending half of a stream, as the sender needs it: what waits, what the visitor's window allows, and its place in the order. */
import type { Priority } from '../../types.ts';
import { Waiting } from './waiting.ts';

/** What follows the last byte that was given. */
export const END = { none: 0, stream: 1, trailers: 2, sent: 3 } as const;
export type End = (typeof END)[keyof typeof END];

export class Outgoing {
  id = 0;
  gone = true;
  /** What the visitor lets this side send; a change of its settings may make it negative. */
  sendWindow = 0;
  readonly priority: Priority = { urgency: 3, isIncremental: false };
  readonly waiting = new Waiting();
  ending: End = END.none;
  trailerLines: Buffer | null = null;
  /** Of `push`: due, but for no bytes. It goes with the next that leave. */
  spareCredit = 0;

  /** Where its last DATA or HEADERS frame begins, in which buffer: its end may still be said there. */
  lastAt = 0;
  lastSerial = 0;
  /** Its end is with the socket. */
  isHanded = false;
  /** Its end leaves the visitor's side open: the stream is not over by it. */
  isHalf = false;

  /** Its place in the order (schedule.ts); -1: it has none. */
  lane = -1;
  previous: Outgoing | null = null;
  next: Outgoing | null = null;
  /** Bytes sent since it was its turn. */
  turnBytes = 0;
  /** Its body has had a whole turn. */
  isLong = false;
}
