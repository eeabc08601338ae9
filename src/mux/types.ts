/**
 * What a user of the multiplexer sees: the callbacks that it gives and the settings that it may change.
 */
import type { Clock } from '../base/clock.ts';
import type { SlabPool } from '../base/slab.ts';
import type { MuxSession } from './session.ts';
import type { MuxStream } from './stream.ts';
import type { WindowBudget } from './window.ts';

/** Why a session ended. */
export class MuxError extends Error {
  readonly code: MuxErrorCode;
  constructor(code: MuxErrorCode, message: string) {
    super(message);
    this.name = 'MuxError';
    this.code = code;
  }
}

export type MuxErrorCode =
  | 'closed' // the transport ended in good order
  | 'transport' // the transport failed
  | 'protocol' // the peer broke a rule of the wire format
  | 'window_overrun' // the peer sent more than it was allowed to
  | 'flood' // the peer sent control frames or streams beyond the limits
  | 'heartbeat' // a ping was not answered in time
  | 'go_away' // the peer said go-away with an error code
  | 'destroyed'; // cut by this side

/**
 * Receives what happens on a stream. One object may serve many streams, hence the `stream` argument. The bytes given to
 * `onData` belong to the multiplexer: use `bytes[start, end)` before returning, or copy, or hold the slab (`base/slab.ts`).
 */
export interface StreamSink {
  onData(stream: MuxStream, bytes: Buffer, start: number, end: number): void;
  /** The peer will send no more (FIN). */
  onEnd(stream: MuxStream): void;
  /** The stream is gone at once: reset by the peer, or its session ended. Nothing follows. */
  onReset(stream: MuxStream): void;
  /** After `write` returned false: there is room again. */
  onDrain(stream: MuxStream): void;
}

export interface SessionHandler {
  /** The peer opened a stream. Set its sink at once; not called for streams refused by a limit. */
  onStream(stream: MuxStream): void;
  /** The session is over; all its streams have been reset. Called exactly once. */
  onClose(session: MuxSession, error: MuxError): void;
  /** A sink or `onStream` threw: a bug of ours. The stream has been reset, the session goes on. Log it. */
  onFault(stream: MuxStream, error: unknown): void;
  /** The peer opens no more streams and wants none (go-away 0). Streams in flight go on. */
  onGoAway?(session: MuxSession): void;
}

/** What the session writes to: a socket, or a fake in tests. Only one write is outstanding at any time. */
export interface MuxTransport {
  write(bytes: Uint8Array, done: (error?: Error | null) => void): void;
  /** Ends in good order after what was written. */
  end(): void;
  destroy(): void;
}

export interface SessionOptions {
  readonly role: 'client' | 'server';
  readonly transport: MuxTransport;
  readonly handler: SessionHandler;
  readonly slabs: SlabPool;
  readonly budget: WindowBudget;
  readonly clock?: Clock;
  /** Streams of both directions together; the next one is reset (theirs) or not opened (ours). Default 4,096. */
  readonly maxStreams?: number;
  /** Our own streams that the peer has not acknowledged yet. hashicorp's default backlog is 256. Default 4,096. */
  readonly maxUnacknowledged?: number;
  /** A ping is sent this often; 0: only when a round-trip time is needed. Default 10 s. */
  readonly heartbeatMs?: number;
  /** Nothing heard for this long: the peer is dead. Default 20 s. */
  readonly deadAfterMs?: number;
  /**
   * Control frames that traffic does not explain (pings, opens, frames for streams that ended), per second; ten seconds' worth
   * may come at once. Default 2,000. An agent takes more: its server opens a stream per visitor.
   */
  readonly controlPerSecond?: number;
}
