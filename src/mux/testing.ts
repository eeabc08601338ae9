/**
 * For tests of this folder and of its users: two sessions joined in memory, with control over how the bytes between them are cut.
 */
import { SlabPool } from '../base/slab.ts';
import { MuxSession, type SessionOptions } from './session.ts';
import type { MuxStream } from './stream.ts';
import type { MuxError, MuxTransport, StreamSink } from './types.ts';
import { WindowBudget } from './window.ts';

type Side = 'client' | 'server';

export interface Pair {
  readonly client: MuxSession;
  readonly server: MuxSession;
  /** How the session of each side ended, once it has. */
  readonly ended: { client?: MuxError; server?: MuxError };
  /** The next stream that the other side opened, read from its first byte on. */
  nextStream(side: Side): Promise<{ stream: MuxStream; got: Collected }>;
  /** Writes all of `bytes` in pieces of 64 KB, waiting for room. */
  send(stream: MuxStream, bytes: Buffer): Promise<void>;
  /** Resolves when nothing moves any more. */
  settled(): Promise<void>;
}

export interface PairOptions {
  readonly client?: Partial<SessionOptions>;
  readonly server?: Partial<SessionOptions>;
  /** Cuts what one side wrote before the other is fed; default: whole. */
  readonly cut?: (bytes: Buffer) => Buffer[];
  /** Takes over each incoming stream of the server, instead of `nextStream`. Sinks must be set before it returns. */
  readonly accept?: (stream: MuxStream) => void;
}

/** Two sessions whose transports are joined in memory, asynchronously as sockets are. */
export function connectedPair(options: PairOptions = {}): Pair {
  type Arrived = { stream: MuxStream; got: Collected };
  const waiting: Record<Side, Array<(next: Arrived) => void>> = { client: [], server: [] };
  const arrived: Record<Side, Arrived[]> = { client: [], server: [] };
  const ended: Pair['ended'] = {};
  let moving = 0;
  const sessions: Partial<Record<Side, MuxSession>> = {};

  const transportTo = (other: Side): MuxTransport => ({
    write: (bytes, done) => {
      moving++;
      const copy = Buffer.from(bytes);
      setImmediate(() => {
        const pieces = options.cut?.(copy) ?? [copy];
        for (const piece of pieces) sessions[other]?.feed(piece, 0, piece.length);
        moving--;
        done();
      });
    },
    end: () => setImmediate(() => sessions[other]?.transportClosed()),
    destroy: () => setImmediate(() => sessions[other]?.transportClosed()),
  });

  const make = (side: Side, other: Side): MuxSession =>
    new MuxSession({
      role: side,
      transport: transportTo(other),
      slabs: new SlabPool(),
      budget: new WindowBudget(256 << 20),
      handler: {
        onStream: (stream) => {
          if (side === 'server' && options.accept) return options.accept(stream);
          const next = waiting[side].shift();
          const one = { stream, got: collect(stream) };
          if (next) next(one);
          else arrived[side].push(one);
        },
        onClose: (_session, error) => {
          ended[side] = error;
        },
        onFault: (_stream, error) => {
          throw error;
        },
      },
      ...options[side],
    });
  const client = make('client', 'server');
  const server = make('server', 'client');
  sessions.client = client;
  sessions.server = server;

  return {
    client,
    server,
    ended,
    nextStream: (side) =>
      new Promise((resolve) => {
        const there = arrived[side].shift();
        if (there) resolve(there);
        else waiting[side].push(resolve);
      }),
    send: async (stream, bytes) => {
      for (let at = 0; at < bytes.length; at += 65_536) {
        if (stream.write(bytes, at, Math.min(bytes.length, at + 65_536))) continue;
        await new Promise<void>((resolve) => {
          const before = stream.sink;
          stream.sink = {
            onData: (s, b, start, end) => before.onData(s, b, start, end),
            onEnd: (s) => before.onEnd(s),
            onReset: (s) => before.onReset(s),
            onDrain: () => {
              stream.sink = before;
              resolve();
            },
          };
        });
      }
    },
    settled: async () => {
      for (let quiet = 0; quiet < 3; ) {
        await new Promise((resolve) => setImmediate(resolve));
        quiet = moving === 0 ? quiet + 1 : 0;
      }
    },
  };
}

export interface Collected {
  /** All bytes, once the peer has ended its direction; rejects on a reset. */
  readonly ended: Promise<Buffer>;
}

/** Reads a stream to its end. */
export function collect(stream: MuxStream): Collected {
  const parts: Buffer[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const sink: StreamSink = {
    onData: (s, bytes, start, end) => {
      parts.push(Buffer.from(bytes.subarray(start, end)));
      s.consumed(end - start);
    },
    onEnd: () => resolve(Buffer.concat(parts)),
    onReset: () => reject(new Error('stream was reset')),
    onDrain: () => {},
  };
  stream.sink = sink;
  return { ended: promise };
}

/** `size` bytes that differ everywhere, so that a loss, a repeat or a swap is seen. */
export function patternBytes(size: number): Buffer {
  const bytes = Buffer.allocUnsafe(size);
  let x = 2_463_534_242;
  for (let i = 0; i < size; i++) {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    bytes[i] = x & 0xff;
  }
  return bytes;
}
