/**
 * For tests of this folder and of its users: two sessions joined in memory, with control over how the bytes between them are
 * cut, and one session whose peer is played by the test.
 */
import type { Clock } from '../base/clock.ts';
import { SlabPool } from '../base/bytes/slab.ts';
import { HEADER_BYTES, TYPE, writeHeader } from './frame.ts';
import { MuxSession, type SessionOptions } from './session.ts';
import { deafSink, type MuxStream, type StreamSink } from './stream.ts';
import type { MuxError, MuxErrorCode, MuxTransport } from './types.ts';
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
  /** The same for the client. */
  readonly acceptClient?: (stream: MuxStream) => void;
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
          const taker = side === 'server' ? options.accept : options.acceptClient;
          if (taker) return taker(stream);
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

/** A frame as a test reads or writes it. */
export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly id: number;
  readonly length: number;
  readonly payload?: Buffer;
}

export function encodeFrame(frame: Partial<Frame>): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  const length = frame.length ?? frame.payload?.length ?? 0;
  writeHeader(header, 0, frame.type ?? TYPE.data, frame.flags ?? 0, frame.id ?? 0, length);
  return frame.payload ? Buffer.concat([header, frame.payload]) : header;
}

/** Takes a recorded byte stream apart; throws when it is not a whole number of frames. */
export function decodeFrames(bytes: Buffer): Frame[] {
  const frames: Frame[] = [];
  let at = 0;
  while (at < bytes.length) {
    if (bytes[at] !== 0) throw new Error(`no frame begins at ${at}`);
    const type = bytes.readUInt8(at + 1);
    const length = bytes.readUInt32BE(at + 8);
    const end = at + HEADER_BYTES + (type === TYPE.data ? length : 0);
    if (end > bytes.length) throw new Error(`frame at ${at} is cut`);
    const payload = bytes.subarray(at + HEADER_BYTES, end);
    frames.push({ type, flags: bytes.readUInt16BE(at + 2), id: bytes.readUInt32BE(at + 4), length, payload });
    at = end;
  }
  return frames;
}

/** A clock that stands still until a test moves it. */
export class TestClock implements Clock {
  ms = 1_000_000;
  now(): number {
    return this.ms;
  }
  monotonic(): number {
    return this.ms;
  }
}

/** A session whose peer is the test itself: it says bytes and sees what was written. */
export class Scripted {
  readonly session: MuxSession;
  readonly budget = new WindowBudget(256 << 20);
  readonly clock = new TestClock();
  readonly streams: MuxStream[] = [];
  readonly faults: unknown[] = [];
  error: MuxError | undefined;
  closes = 0;
  goAways = 0;
  ended = false;
  destroyed = false;
  /** False: the peer reads nothing, the first write stays under way. */
  reading = true;
  #unread: Array<() => void> = [];
  #parts: Buffer[] = [];

  constructor(options: Partial<SessionOptions> & { accept?: (stream: MuxStream) => void } = {}) {
    this.session = new MuxSession({
      role: 'server',
      slabs: new SlabPool(),
      budget: this.budget,
      clock: this.clock,
      transport: {
        write: (bytes, done) => {
          this.#parts.push(Buffer.from(bytes));
          if (this.reading) setImmediate(done);
          else this.#unread.push(done);
        },
        end: () => {
          this.ended = true;
        },
        destroy: () => {
          this.destroyed = true;
        },
      },
      handler: {
        onStream: (stream) => {
          this.streams.push(stream);
          options.accept?.(stream);
        },
        onClose: (_session, error) => {
          this.closes++;
          this.error = error;
        },
        onFault: (_stream, error) => this.faults.push(error),
        onGoAway: () => {
          this.goAways++;
        },
      },
      ...options,
    });
  }

  /** The peer sends these bytes or frames, in one read. */
  says(...parts: Array<Buffer | Partial<Frame>>): void {
    const bytes = Buffer.concat(parts.map((part) => (Buffer.isBuffer(part) ? part : encodeFrame(part))));
    this.session.feed(bytes, 0, bytes.length);
  }

  /** The peer reads what waits, and goes on reading. */
  readOn(): void {
    this.reading = true;
    for (const done of this.#unread.splice(0)) setImmediate(done);
  }

  /** One write is read, no more. */
  readOne(): void {
    this.#unread.shift()?.();
  }

  /** All bytes that the transport was given. */
  get sent(): Buffer {
    const all = Buffer.concat(this.#parts);
    this.#parts = [all];
    return all;
  }

  /** Looks no more at what was sent so far. */
  forgetSent(): void {
    this.#parts = [];
  }

  /** Why the session ended, if it has. */
  code(): MuxErrorCode | undefined {
    return this.error?.code;
  }

  get frames(): Frame[] {
    return decodeFrames(this.sent);
  }
}

/** Lets the turns of the event loop go by in which queued writes are handed over. */
export async function turns(count = 4): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
}

/** A sink of which a test gives only what it looks at. */
export function sinkOf(part: Partial<StreamSink>): StreamSink {
  return { ...deafSink, ...part };
}
