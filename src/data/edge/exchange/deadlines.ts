/**
 * How long a visitor's connection may stay without progress in each of its states. One per visitor, looked at by its `sweep`
 * about once a second: a connection holds no timer. It decides and closes nothing; visitor.ts acts on the verdict.
 */
import type { EdgeLimits } from './context.ts';
import type { DropReason } from '../../faults/drops.ts';

/** States of a visitor's connection; visitor.ts tells what they mean. */
export type VisitorState = 'head' | 'body' | 'wait' | 'raw' | 'linger' | 'gone';

/** What a deadline depends on. */
export interface Timed {
  readonly state: VisitorState;
  /** Part of a head is here and the rest is awaited. */
  readonly isHeadCut: boolean;
  /** The visitor is not read: the agent or the service is slow. */
  readonly isPaused: boolean;
  /** The visitor has yet to take bytes that were written for it. */
  readonly hasBacklog: boolean;
  /** A final response has begun. */
  readonly isAnswering: boolean;
  /** The visitor has ended its direction. */
  readonly isHalfClosed: boolean;
}

/** `head_timeout`, `body_timeout` and `local_timeout` are answered in words; with the others the connection is cut. */
export type Verdict =
  | 'go_on'
  | 'local_timeout'
  | Extract<DropReason, 'head_timeout' | 'body_timeout' | 'slow_reader' | 'idle' | 'websocket_idle' | 'linger'>;

export class Deadlines {
  readonly #limits: EdgeLimits;
  /** Set by traffic, read by `check`: since when the present state has made no progress. */
  #moved = true;
  #stillSinceMs = 0;
  /** When a check first saw the present head incomplete; 0: not yet. */
  #headSinceMs = 0;
  /** Bytes that the visitor has sent of bodies or taken of answers. */
  #passed = 0;
  /** Since when the visitor is waited for, 0: it is not; and what had passed then. */
  #waitedSinceMs = 0;
  #passedBefore = 0;

  constructor(limits: EdgeLimits) {
    this.#limits = limits;
  }

  /** For another stream of HTTP/2: as it was made. */
  restart(): void {
    this.#moved = true;
    this.#stillSinceMs = this.#headSinceMs = this.#waitedSinceMs = 0;
    this.#passed = this.#passedBefore = 0;
  }

  /** There was progress. */
  moved(): void {
    this.#moved = true;
  }

  /** The visitor has sent so much of a body, or taken so much of its answers. */
  passed(bytes: number): void {
    this.#moved = true;
    this.#passed += bytes;
  }

  /** The present head is complete. */
  headDone(): void {
    this.#headSinceMs = 0;
  }

  /** Between requests and far from any limit: 10,000 idle visitors are looked at every second, and nearly all are this. */
  isResting(nowMs: number): boolean {
    const { idleTimeoutMs, bodyIdleTimeoutMs } = this.#limits;
    return !this.#moved && nowMs - this.#stillSinceMs < Math.min(idleTimeoutMs, bodyIdleTimeoutMs);
  }

  check(nowMs: number, of: Timed): Verdict {
    if (of.isHeadCut) {
      // A head must be whole in time, however busily it trickles.
      if (this.#headSinceMs === 0) this.#headSinceMs = nowMs;
      else if (nowMs - this.#headSinceMs > this.#limits.headTimeoutMs) return 'head_timeout';
    }
    if (this.#limits.minBytesPerSecond > 0 && this.#isTooSlow(nowMs, of))
      return of.hasBacklog ? 'slow_reader' : 'body_timeout';
    if (this.#moved) {
      this.#moved = false;
      this.#stillSinceMs = nowMs;
      return 'go_on';
    }
    return this.#verdict(nowMs - this.#stillSinceMs, of);
  }

  /** Asked about once a second: over each time in which a body may stand still, the awaited side must reach the least rate. */
  #isTooSlow(nowMs: number, of: Timed): boolean {
    const { minBytesPerSecond, bodyIdleTimeoutMs } = this.#limits;
    // Once the service answers, a body is one half of a conversation: it may be silent, as a stream of events may.
    const isAwaited = of.hasBacklog || (of.state === 'body' && !of.isPaused && !of.isAnswering);
    const ms = nowMs - this.#waitedSinceMs;
    if (isAwaited && this.#waitedSinceMs > 0 && ms < bodyIdleTimeoutMs) return false;
    const isSlow = this.#waitedSinceMs > 0 && (this.#passed - this.#passedBefore) * 1_000 < minBytesPerSecond * ms;
    this.#waitedSinceMs = isAwaited ? nowMs : 0;
    this.#passedBefore = this.#passed;
    return isAwaited && isSlow;
  }

  #verdict(stillMs: number, of: Timed): Verdict {
    const { idleTimeoutMs, bodyIdleTimeoutMs, localTimeoutMs, websocketIdleMs, lingerTimeoutMs } = this.#limits;
    switch (of.state) {
      case 'head':
        if (of.hasBacklog) return stillMs > bodyIdleTimeoutMs ? 'slow_reader' : 'go_on';
        return stillMs > idleTimeoutMs ? 'idle' : 'go_on';
      case 'body':
        if (of.isPaused) return stillMs > localTimeoutMs ? 'local_timeout' : 'go_on';
        if (of.isAnswering) return this.#answeringVerdict(stillMs, of);
        return stillMs > bodyIdleTimeoutMs ? 'body_timeout' : 'go_on';
      case 'wait':
        if (of.hasBacklog || of.isAnswering) return this.#answeringVerdict(stillMs, of);
        return stillMs > localTimeoutMs ? 'local_timeout' : 'go_on';
      case 'raw':
        if (of.isHalfClosed && stillMs > idleTimeoutMs) return 'idle';
        return websocketIdleMs > 0 && stillMs > websocketIdleMs ? 'websocket_idle' : 'go_on';
      case 'linger':
        if (of.hasBacklog) return stillMs > bodyIdleTimeoutMs ? 'slow_reader' : 'go_on';
        return stillMs > lingerTimeoutMs ? 'linger' : 'go_on';
      case 'gone':
        return 'go_on';
      default:
        return of.state satisfies never;
    }
  }

  /** A response is under way, which may be silent for as long as its service likes. */
  #answeringVerdict(stillMs: number, of: Timed): Verdict {
    const { bodyIdleTimeoutMs, idleTimeoutMs } = this.#limits;
    if (of.hasBacklog) return stillMs > bodyIdleTimeoutMs ? 'slow_reader' : 'go_on';
    // Most visitors that end their direction are gone; only a write would tell, and a silent event stream never writes.
    return of.isHalfClosed && stillMs > idleTimeoutMs ? 'idle' : 'go_on';
  }
}
