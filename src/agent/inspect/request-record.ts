/**
 * One request on its way through the agent, and its answer, as far as they are kept. Made and filled by stream-tap.ts; kept by
 * request-ring.ts. It holds copies and no reference to a buffer in which bytes pass.
 */
import { randomUUID } from 'node:crypto';
import { BodyCapture } from './tap/body-capture.ts';

/** Objects and strings around the bytes; a guess that is rather too high. */
const OVERHEAD_BYTES = 1_024;
const NOTHING = Buffer.alloc(0);

export type RecordState =
  | 'open' // the answer is under way, or awaited
  | 'done'
  | 'cut'; // the connection ended first

export interface RecordStart {
  readonly tunnel: string;
  /** Path of the route that it took; null: the tunnel has no routes. */
  readonly route: string | null;
  readonly head: Buffer;
  readonly method: string;
  readonly target: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The record that this one repeats; null: it came through the tunnel. */
  readonly replayOf: string | null;
}

export class RequestRecord {
  readonly id = randomUUID();
  readonly tunnel: string;
  readonly route: string | null;
  readonly method: string;
  readonly target: string;
  readonly at: number;
  readonly replayOf: string | null;
  /** As it went to the service, closing line included. */
  requestHead: Buffer;
  readonly requestBody = new BodyCapture();
  readonly responseBody = new BodyCapture();
  /** As the service sent it; null: none has come. */
  responseHead: Buffer | null = null;
  /** 0: no answer has come. */
  status = 0;
  /** Why the service could not be reached, so that `status` is the edge's; null: it was reached, or is being dialled. */
  fault: string | null = null;
  state: RecordState = 'open';
  /** The whole request has passed. */
  requestEnded = false;
  /** From the request's head to the answer's, and to its end, in milliseconds; null: not there yet. Of an upgrade, both to the head. */
  firstByteMs: number | null = null;
  durationMs: number | null = null;

  constructor(start: RecordStart) {
    this.tunnel = start.tunnel;
    this.route = start.route;
    this.method = start.method;
    this.target = start.target;
    this.at = start.at;
    this.replayOf = start.replayOf;
    this.requestHead = start.head;
  }

  /** Memory that it holds. */
  get held(): number {
    const heads = this.requestHead.length + (this.responseHead?.length ?? 0);
    return OVERHEAD_BYTES + heads + this.requestBody.held + this.responseBody.held;
  }

  /** Nothing more will be kept. */
  end(state: 'done' | 'cut', durationMs: number): void {
    this.state = state;
    this.durationMs = durationMs;
    this.responseBody.close();
    if (this.requestEnded || state === 'cut') this.requestBody.close();
  }

  /** The ring has dropped it: a tap that still fills it must hold no memory by that. */
  drop(): void {
    this.requestHead = NOTHING;
    this.responseHead = null;
    this.requestBody.drop();
    this.responseBody.drop();
  }
}
