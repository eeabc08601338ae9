/**
 * Puts a session on a TLS (or, in tests, plain TCP) socket: reads into slabs, writes as the session's transport, and its end.
 * The socket must be connected and unread.
 */
import type { Socket } from 'node:net';
import type { Sweeper } from '../base/clock.ts';
import { type Slab, SLAB_BYTES, type SlabPool } from '../base/bytes/slab.ts';
import { type ReadTarget, readInto, resumeReading } from '../base/bytes/socket.ts';
import { MuxSession, type SessionHandler, type SessionOptions } from './session.ts';
import { ShapedBudget, type ShapedSide, type Shaper } from './shaper.ts';
import { SocketTransport } from './transport.ts';

export interface AttachOptions extends Omit<SessionOptions, 'transport' | 'handler'> {
  /** Sweeps the session about once a second until it closes. */
  readonly sweeper: Sweeper<MuxSession>;
  /** Where a bandwidth limit is set, later. */
  readonly shaper?: Shaper;
}

/** A TLS record is at most 16 KB: with less room than this a read would be cut in two. */
const MIN_READ_BYTES = 20_480;
/**
 * Read per turn of the event loop. libuv reads one socket up to 32 times in a row (2 MB of a TLS connection) before it looks at
 * the others: behind a download every other visitor would wait for that at each hop.
 */
const TURN_BYTES = 262_144;
/** A read as short as this is a ping: the connection is idle and needs no slab of its own. */
const IDLE_READ_BYTES = 24;

/** Starts a session on `socket`. The handler hears of its end; the socket needs no other listener. */
export function attachSession(socket: Socket, handler: SessionHandler, options: AttachOptions): MuxSession {
  const { sweeper, shaper = null } = options;
  const session = new MuxSession({
    ...options,
    budget: shaper === null ? options.budget : new ShapedBudget(options.budget, shaper),
    transport: new SocketTransport(socket, shaper),
    handler: {
      onStream: (stream) => handler.onStream(stream),
      onFault: (stream, error) => handler.onFault(stream, error),
      onGoAway: (ended) => handler.onGoAway?.(ended),
      onClose: (ended, error) => {
        sweeper.delete(ended);
        handler.onClose(ended, error);
      },
    },
  });
  shaper?.begin(session);
  sweeper.add(session);
  let failure: Error | undefined;
  socket.setNoDelay(true);
  socket.on('error', (error) => {
    failure ??= error;
  });
  const reader = new SessionReader(socket, session, { pool: options.slabs, shaper });
  socket.on('end', () => {
    reader.feedHeld();
    session.transportClosed();
  });
  socket.on('close', () => {
    reader.close();
    shaper?.lift();
    session.transportClosed(failure);
  });
  readInto(socket, reader);
  return session;
}

/** Reads of one session: into the pool's shared slab while it is idle, into a slab of its own while it carries traffic. */
class SessionReader implements ReadTarget, ShapedSide {
  readonly #socket: Socket;
  readonly #session: MuxSession;
  readonly #pool: SlabPool;
  readonly #shaper: Shaper | null;
  readonly #nextTurn = (): void => this.#turnIsOver();
  #slab: Slab;
  #offset = 0;
  #lastRead = 0;
  /** Bytes read in this turn; 0 when no turn has begun. */
  #turnBytes = 0;
  #paused = false;
  /** What was decrypted along with bytes that are not paid for yet; at most what one read of the connection below brings, 64 KB. */
  #held: Buffer[] = [];
  debt = 0;
  allowance = 0;

  constructor(socket: Socket, session: MuxSession, deps: { pool: SlabPool; shaper: Shaper | null }) {
    this.#socket = socket;
    this.#session = session;
    this.#pool = deps.pool;
    this.#shaper = deps.shaper;
    this.#slab = deps.pool.shared;
    this.#shaper?.join(this);
  }

  view(): Buffer {
    const slab = this.#slab;
    if (slab.held) {
      if (SLAB_BYTES - this.#offset >= MIN_READ_BYTES) return slab.bytes.subarray(this.#offset);
      this.#change(this.#pool.take());
    } else if (this.#lastRead > IDLE_READ_BYTES) {
      if (slab.shared) this.#change(this.#pool.take());
    } else if (!slab.shared) {
      this.#change(this.#pool.shared);
    }
    this.#offset = 0;
    return this.#slab.bytes;
  }

  filled(count: number): boolean {
    const at = this.#offset;
    if (this.debt > 0) return this.#hold(this.#slab.bytes.subarray(at, at + count));
    this.#offset = at + count;
    this.#lastRead = count;
    this.#session.readSlab = this.#slab;
    this.#session.feed(this.#slab.bytes, at, at + count);
    if (this.#turnBytes === 0) setImmediate(this.#nextTurn);
    this.#turnBytes += count;
    if (this.#turnBytes >= TURN_BYTES) this.#paused = true;
    return this.#pays(count) && !this.#paused;
  }

  chunk(bytes: Buffer): boolean {
    if (this.debt > 0) return this.#hold(bytes);
    this.#session.readSlab = this.#pool.foreign;
    this.#session.feed(bytes, 0, bytes.length);
    return this.#pays(bytes.length);
  }

  paid(): void {
    this.#session.pulse.excused = false;
    for (;;) {
      const held = this.#held.shift();
      if (held === undefined) break;
      this.#session.readSlab = this.#pool.foreign;
      this.#session.feed(held, 0, held.length);
      if (!this.#pays(held.length)) return;
    }
    if (!this.#paused) resumeReading(this.#socket);
  }

  /** Not at once: the limit may be lifted by what is being fed. */
  lifted(): void {
    setImmediate(() => this.paid());
  }

  /** The peer has ended: nothing more will come that could be late. It counts, so that the next session pays for it. */
  feedHeld(): void {
    this.#session.readSlab = this.#pool.foreign;
    for (const held of this.#held.splice(0)) {
      this.#session.feed(held, 0, held.length);
      this.#pays(held.length);
    }
  }

  close(): void {
    this.#held = [];
    this.#change(this.#pool.shared);
  }

  #hold(bytes: Buffer): boolean {
    this.#held.push(Buffer.from(bytes));
    return false;
  }

  /** False: what was read is more than the limit allows by now, and reading stops until it is paid for. */
  #pays(count: number): boolean {
    const bucket = this.#shaper?.bucket ?? null;
    if (bucket === null || bucket.spend(this, count)) return true;
    this.#session.pulse.excused = true;
    return false;
  }

  #turnIsOver(): void {
    this.#turnBytes = 0;
    if (!this.#paused) return;
    this.#paused = false;
    if (this.debt === 0) resumeReading(this.#socket);
  }

  #change(to: Slab): void {
    if (!this.#slab.shared) this.#slab.retire();
    this.#slab = to;
    this.#offset = 0;
  }
}
