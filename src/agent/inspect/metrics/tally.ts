/**
 * Numbers of one tunnel and of the whole page, added to where things happen (stream-tap.ts, watch.ts) and read by `/api/tunnels` and
 * `/metrics`.
 */
import { Meter } from './meter.ts';

/** Index 0 is not used; 5 counts what is above too. */
const CLASSES = 6;

export class TunnelTally {
  /** Connections to the service that have ended. */
  readonly connections: Meter;
  /** Requests whose answer is complete. */
  readonly requests: Meter;
  /** Answers by the first digit of their status. */
  readonly byClass = new Float64Array(CLASSES);
  openConnections = 0;
  totalConnections = 0;

  constructor(nowMs: number) {
    this.connections = new Meter(nowMs);
    this.requests = new Meter(nowMs);
  }

  answered(status: number): void {
    const k = Math.min(5, Math.floor(status / 100));
    this.byClass[k] = (this.byClass[k] as number) + 1;
  }
}

/** What was not shown, and why. */
export class PageTally {
  /** Requests beyond the allowance. */
  notKept = 0;
  /** Streams that made no sense as HTTP/1.1 and were left alone. */
  letGo = 0;
  /** Faults of the page's own code; each has cost one stream its place on the page. */
  faults = 0;
  /** Watchers of the live list that did not keep up. */
  watchersCut = 0;
}
