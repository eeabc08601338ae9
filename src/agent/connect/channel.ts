/**
 * What a session needs of the connection below it: an interface, so that the agent's rules are tested without sockets.
 * connect.ts makes the real one out of discovery, TLS and the multiplexer.
 */
import type { MuxStream, StreamSink } from '../../mux/stream.ts';
import type { FromAgent, FromServer } from '../../wire/messages.ts';
import type { AdviceCode } from '../../wire/advice-codes.ts';
import type { LocalTarget } from '../local/target.ts';

/** Takes streams as they are, instead of a local connection. */
export interface StreamTaker {
  /** The preamble is read and answered. What it returns hears the rest. */
  take(stream: MuxStream): StreamSink;
}

/** What the connection tells the session. */
export interface ChannelSink {
  onMessage(message: FromServer): void;
  /** The connection is gone; nothing follows. Not called after `close` or `destroy`. */
  onClosed(cause: string): void;
  /** The last stream in flight ended. */
  onIdle(): void;
  /** What a stream to `slot` is to be connected with; undefined when the slot serves nothing. */
  targetOf(slot: number, route?: number): LocalTarget | undefined;
  /** Who takes streams to `slot`; undefined when that is a target, or nothing. */
  takerOf(slot: number): StreamTaker | undefined;
  /** Whether a local target can be reached changed; `fault` says why not. */
  onTarget(target: LocalTarget, fault: string | undefined): void;
  onAdvice(target: LocalTarget, code: AdviceCode): void;
}

export interface Channel {
  /** Host and port of the server's listener, for display. */
  readonly address: string;
  /** IP address of the far end: the server's, unless something stands in between; undefined behind a proxy. */
  readonly remote: string | undefined;
  /** IP address of this end. */
  readonly local: string | undefined;
  /** Written to the connection so far. */
  readonly sentBytes: number;
  /** Last measured round trip, or undefined before the first. */
  readonly rttMs: number | undefined;
  /** Streams open now. */
  readonly inFlight: number;
  send(message: FromAgent): void;
  /** The server took the key: this way to it is tried first from now on. */
  proven(): void;
  /** Resolves when the server has answered. Rejects when the connection ends first. */
  ping(): Promise<unknown>;
  /** The server lets no more than this pass: what is to be sent waits on this side, where short answers go first. */
  holdBack(megabitsPerSecond: number): void;
  /** The server answers soon: silence behind what was sent is looked into at once. */
  answerSoon(): void;
  /** The server wants to hear when nothing waits behind a response. */
  sayClear(): void;
  /** Takes no new streams; those in flight go on. */
  refuseStreams(): void;
  /** Ends in good order; resolves when the peer has got everything, or after a second. */
  close(): Promise<void>;
  destroy(): void;
}

/** Opens a connection; rejects with a message for people. */
export type OpenChannel = (sink: ChannelSink, signal: AbortSignal) => Promise<Channel>;
