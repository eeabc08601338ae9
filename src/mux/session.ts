/**
 * One multiplexed connection: the receive state machine over a byte stream cut anywhere, the map of streams, pings, go-away
 * and the limits against hostile peers. Speaks yamux (frame.ts); sending is in sender.ts, windows are in stream.ts.
 * Reasons: docs/decisions/0001-own-multiplexer.md. Length: one state machine, whose parts share what the last bytes have left open.
 */
import { type Clock, systemClock } from '../base/clock.ts';
import type { Slab, SlabPool } from '../base/bytes/slab.ts';
import { FLAG, GO_AWAY, HEADER_BYTES, INITIAL_WINDOW, readUint32, RESET_CODE_BIT, TYPE } from './frame.ts';
import { Pulse } from './pulse.ts';
import { FrameSender, QUICK } from './sender.ts';
import { MuxStream, type StreamHost } from './stream.ts';
import { MuxError, type MuxErrorCode, type MuxTransport } from './types.ts';
import type { WindowBudget } from './window.ts';

/** What a stream of ours that has ended may still bring: its FIN, RST and window updates, which were under way. */
const LATE_FRAMES = 4;

/** Made once: a closure for each request and frame would be garbage. */
const FAIL = (stream: MuxStream): void => stream.fail();
const STEP_ARRIVED = (stream: MuxStream): void => stream.stepArrived();
const RST_ARRIVED = (stream: MuxStream): void => stream.rstArrived();
const FIN_ARRIVED = (stream: MuxStream): void => stream.finArrived();

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

export class MuxSession implements StreamHost {
  readonly sender: FrameSender;
  readonly budget: WindowBudget;
  readonly #handler: SessionHandler;
  readonly #onStream = (stream: MuxStream): void => this.#handler.onStream(stream);
  readonly #transport: MuxTransport;
  readonly #clock: Clock;
  readonly #client: boolean;
  readonly maxStreams: number;
  readonly #maxUnacknowledged: number;
  readonly #controlPerSecond: number;

  /** This side says when nothing waits behind what it has sent on a stream (`stream.clear`), and the peer does. Agreed on by their users. */
  saysClear = false;
  hearsClear = false;

  /** Where the bytes of the present `feed` are: a sink that needs them longer holds it. Set by the caller of `feed`. */
  readSlab: Slab;

  readonly #streams = new Map<number, MuxStream>();
  #nextId: number;
  #unacknowledged = 0;
  #closed = false;
  /** The highest id that the peer has opened: data for a later one can't be late, it is an offence. */
  #highestTheirs = 0;
  #localGoAway = false;
  #remoteGoAway = false;

  /** Receive state: a header cut by the end of a read, or the payload that is under way. */
  readonly #header = Buffer.alloc(HEADER_BYTES);
  #headerBytes = 0;
  #payloadLeft = 0;
  #payloadFlags = 0;
  #payloadStream: MuxStream | null = null;

  /** Data that streams which we left may still receive; beyond it, data without a stream is an offence. */
  #strayAllowance = 0;
  #controlFrames = 0;

  #lastSweepMs: number;
  readonly pulse: Pulse;

  constructor(options: SessionOptions) {
    this.#handler = options.handler;
    this.#transport = options.transport;
    this.#clock = options.clock ?? systemClock;
    this.#client = options.role === 'client';
    this.#nextId = this.#client ? 1 : 2;
    this.maxStreams = options.maxStreams ?? 4_096;
    this.#maxUnacknowledged = options.maxUnacknowledged ?? 4_096;
    this.#controlPerSecond = options.controlPerSecond ?? 2_000;
    this.budget = options.budget;
    this.readSlab = options.slabs.foreign;
    this.#lastSweepMs = this.#clock.monotonic();
    this.sender = new FrameSender(options.transport, {
      pool: options.slabs,
      onFault: (error) => this.#fail('transport', error.message),
      onFlood: () => this.#fail('flood', 'the peer requests responses but does not read them'),
    });
    this.pulse = new Pulse({
      clock: this.#clock,
      heartbeatMs: options.heartbeatMs ?? 10_000,
      deadAfterMs: options.deadAfterMs ?? 20_000,
      send: (value) => this.sender.control(QUICK, TYPE.ping, FLAG.syn, 0, value),
    });
  }

  get closed(): boolean {
    return this.#closed;
  }

  get streamCount(): number {
    return this.#streams.size;
  }

  /** Last measured round trip in milliseconds; 0 before the first. */
  get rttMs(): number {
    return this.pulse.rttMs;
  }

  /** True when `open` would give a stream now. */
  get canOpen(): boolean {
    return (
      !this.#closed &&
      !this.#remoteGoAway &&
      !this.#localGoAway &&
      this.#streams.size < this.maxStreams &&
      this.#unacknowledged < this.#maxUnacknowledged &&
      this.#nextId < 0xffff_fffe
    );
  }

  /** A new stream, or null when a limit of `canOpen` is reached. Costs no round trip: data may follow at once. */
  open(): MuxStream | null {
    if (!this.canOpen) return null;
    const stream = new MuxStream(this, this.#nextId, false);
    this.#nextId += 2;
    this.#unacknowledged++;
    this.#streams.set(stream.id, stream);
    this.sender.control(QUICK, TYPE.window, FLAG.syn, stream.id, 0);
    return stream;
  }

  /** Round trip in milliseconds. Rejects when the session ends first. */
  ping(): Promise<number> {
    if (this.#closed) return Promise.reject(new MuxError('closed', 'the session is closed'));
    return this.pulse.measure();
  }

  /** Tells the peer that no more streams are wanted; those in flight go on. */
  goAway(): void {
    if (this.#localGoAway || this.#closed) return;
    this.#localGoAway = true;
    this.sender.control(QUICK, TYPE.goAway, 0, 0, GO_AWAY.normal);
  }

  /**
   * Ends in good order: what is queued goes out, then the transport ends. Streams still open are reset for their users at
   * once: while they went on writing, the queue might never be empty.
   */
  close(): void {
    if (this.#closed) return;
    this.goAway();
    for (const stream of [...this.#streams.values()]) this.#guard(stream, RST_ARRIVED);
    this.sender.whenEmpty(() => {
      if (this.#closed) return;
      this.#transport.end();
      this.#finish(new MuxError('closed', 'closed by this side'), false);
    });
  }

  /** Cuts at once, also a transport that is ending in good order. */
  destroy(message = 'cut by this side'): void {
    this.#finish(new MuxError('destroyed', message), true);
    this.#transport.destroy();
  }

  /** For the transport's owner: it has ended (no error) or failed. */
  transportClosed(error?: Error): void {
    this.#finish(
      error === undefined
        ? new MuxError('closed', 'the peer closed the connection')
        : new MuxError('transport', error.message),
      true,
    );
  }

  /** Call about once a second: heartbeat, silence, flood allowance. */
  sweep(nowMs: number): void {
    if (this.#closed) return;
    const elapsed = nowMs - this.#lastSweepMs;
    this.#lastSweepMs = nowMs;
    this.#controlFrames = Math.max(0, this.#controlFrames - (this.#controlPerSecond * elapsed) / 1000);
    const silentMs = this.pulse.sweep(nowMs, elapsed);
    if (silentMs > 0) this.#fail('heartbeat', `no data received for ${Math.round(silentMs / 1000)} s`);
  }

  /**
   * Feeds received bytes. They are used before this returns, or their slab is held by who needs longer.
   */
  feed(bytes: Buffer, start: number, end: number): void {
    this.pulse.heard = true;
    let at = start;
    while (at < end && !this.#closed) {
      if (this.#payloadLeft > 0) {
        const length = Math.min(this.#payloadLeft, end - at);
        this.#payloadLeft -= length;
        const stream = this.#payloadStream;
        if (stream !== null && !stream.gone) this.#deliver(stream, bytes, at, at + length);
        at += length;
        if (this.#payloadLeft === 0) this.#payloadDone();
        continue;
      }
      if (this.#headerBytes === 0 && end - at >= HEADER_BYTES) {
        this.#frame(bytes, at);
        at += HEADER_BYTES;
        continue;
      }
      const take = Math.min(HEADER_BYTES - this.#headerBytes, end - at);
      bytes.copy(this.#header, this.#headerBytes, at, at + take);
      this.#headerBytes += take;
      at += take;
      if (this.#headerBytes < HEADER_BYTES) return;
      this.#headerBytes = 0;
      this.#frame(this.#header, 0);
    }
  }

  // ------------------------------------------------------------------ called by streams only

  nowMs(): number {
    return this.#clock.monotonic();
  }

  /** The round-trip time for a decision about windows; asks for a new measurement when it is old. */
  freshRttMs(): number {
    return this.pulse.freshRttMs();
  }

  drained(stream: MuxStream): void {
    try {
      stream.sink.onDrain(stream);
    } catch (error) {
      this.#faultIn(stream, error);
    }
  }

  forget(stream: MuxStream): void {
    if (!this.#streams.delete(stream.id)) return;
    if (!stream.acked) this.#acknowledged(stream);
    if (this.#isOurs(stream.id)) this.#controlFrames = Math.max(0, this.#controlFrames - LATE_FRAMES);
    if (!stream.ended) this.#strayAllowance += stream.receiveAllowance;
  }

  // ------------------------------------------------------------------

  #frame(bytes: Buffer, at: number): void {
    const type = bytes[at + 1] as number;
    const flags = ((bytes[at + 2] as number) << 8) | (bytes[at + 3] as number);
    const id = readUint32(bytes, at + 4);
    const length = readUint32(bytes, at + 8);
    if (bytes[at] !== 0) return this.#fail('protocol', `unknown version ${bytes[at]}`);
    switch (type) {
      case TYPE.data:
        return this.#dataFrame(id, flags, length);
      case TYPE.window:
        return this.#windowFrame(id, flags, length);
      case TYPE.ping:
        return this.#pingFrame(flags, length);
      case TYPE.goAway:
        return this.#goAwayFrame(length);
      default:
        return this.#fail('protocol', `unknown frame type ${type}`);
    }
  }

  #dataFrame(id: number, flags: number, length: number): void {
    const stream = (flags & FLAG.syn) !== 0 ? this.#incoming(id) : this.#streams.get(id);
    if (this.#closed) return;
    if (stream === undefined) {
      this.#strayAllowance -= length;
      if (this.#strayAllowance < 0 || this.#neverWas(id))
        return this.#fail('protocol', `data for stream ${id}, which is not open`);
    } else {
      if (!stream.admit(length))
        return this.#fail('window_overrun', `${length} bytes on stream ${id} are more than its window`);
      if (stream.ended && length > 0) return this.#fail('protocol', `data on stream ${id} after its end`);
      if (length === 0 && !stream.explains(flags)) this.#countControl();
      if ((flags & FLAG.ack) !== 0) this.#acknowledged(stream);
      if (length > 0) {
        stream.isClear = false;
        if (stream.isOutOfStep) this.#guard(stream, FAIL);
      } else if ((flags & FLAG.step) !== 0) stream.stepAnswered();
      else if ((flags & FLAG.clear) !== 0) stream.clearArrived();
    }
    if (length === 0 && stream === undefined) this.#countControl();
    if (this.#closed) return;
    if (length > 0) this.pulse.heardData = true;
    this.#payloadLeft = length;
    this.#payloadStream = stream ?? null;
    this.#payloadFlags = flags;
    if (length === 0) this.#payloadDone();
  }

  #payloadDone(): void {
    const stream = this.#payloadStream;
    this.#payloadStream = null;
    if (stream !== null) this.#endFlags(stream, this.#payloadFlags);
  }

  #windowFrame(id: number, flags: number, delta: number): void {
    const stream = (flags & FLAG.syn) !== 0 ? this.#incoming(id) : this.#streams.get(id);
    if (this.#closed) return;
    const isStep = (flags & FLAG.step) !== 0 && this.saysClear;
    if (stream === undefined || (delta === 0 && !isStep && !stream.explains(flags))) this.#countControl();
    if (stream === undefined || this.#closed) return;
    if ((flags & FLAG.ack) !== 0) this.#acknowledged(stream);
    if ((flags & FLAG.step) !== 0) return this.#stepFrame(stream);
    if (!stream.windowGrew(delta)) return this.#fail('protocol', `window of stream ${id} over 32 bits`);
    this.#endFlags(stream, flags);
  }

  /** Only of a peer that sends requests. */
  #stepFrame(stream: MuxStream): void {
    if (this.saysClear) this.#guard(stream, STEP_ARRIVED);
  }

  #endFlags(stream: MuxStream, flags: number): void {
    if ((flags & FLAG.rst) !== 0) {
      stream.resetCode = flags >>> RESET_CODE_BIT;
      this.#guard(stream, RST_ARRIVED);
    } else if ((flags & FLAG.fin) !== 0) this.#guard(stream, FIN_ARRIVED);
  }

  #incoming(id: number): MuxStream | undefined {
    if (this.#isOurs(id) || id === 0) {
      this.#fail('protocol', `the peer opened stream ${id}, which is not its to open`);
      return undefined;
    }
    if (this.#streams.has(id)) {
      this.#fail('protocol', `stream ${id} opened twice`);
      return undefined;
    }
    this.#countControl();
    if (this.#closed) return undefined;
    if (id > this.#highestTheirs) this.#highestTheirs = id;
    if (this.#localGoAway || this.#streams.size >= this.maxStreams) {
      // Data that the peer sends before it hears of the reset is not its fault.
      this.#strayAllowance += INITIAL_WINDOW;
      this.sender.control(QUICK, TYPE.window, FLAG.rst, id, 0);
      return undefined;
    }
    const stream = new MuxStream(this, id, true);
    this.#streams.set(id, stream);
    this.sender.control(QUICK, TYPE.window, FLAG.ack, id, 0);
    if (this.#closed) return undefined; // that answer was one too many
    this.#guard(stream, this.#onStream);
    return stream;
  }

  #acknowledged(stream: MuxStream): void {
    if (stream.acked) return;
    stream.acked = true;
    this.#unacknowledged--;
  }

  #pingFrame(flags: number, value: number): void {
    this.#countControl();
    if ((flags & FLAG.syn) !== 0) {
      this.sender.control(QUICK, TYPE.ping, FLAG.ack, 0, value);
      return;
    }
    this.pulse.answered(value);
  }

  #goAwayFrame(reason: number): void {
    if (reason !== GO_AWAY.normal)
      return this.#fail(
        'go_away',
        `the peer went away: ${reason === GO_AWAY.protocol ? 'protocol error' : `reason ${reason}`}`,
      );
    this.#countControl();
    if (this.#remoteGoAway) return;
    this.#remoteGoAway = true;
    this.#handler.onGoAway?.(this);
  }

  #deliver(stream: MuxStream, bytes: Buffer, start: number, end: number): void {
    stream.isClear = this.#payloadLeft === 0 && (this.#payloadFlags & FLAG.clear) !== 0;
    try {
      stream.sink.onData(stream, bytes, start, end);
    } catch (error) {
      this.#faultIn(stream, error);
    }
  }

  /** A fault in the user of one stream ends that stream and no other. */
  #guard(stream: MuxStream, call: (stream: MuxStream) => void): void {
    try {
      call(stream);
    } catch (error) {
      this.#faultIn(stream, error);
    }
  }

  #faultIn(stream: MuxStream, error: unknown): void {
    stream.reset();
    this.#handler.onFault(stream, error);
  }

  #countControl(): void {
    if (++this.#controlFrames > this.#controlPerSecond * 10)
      this.#fail('flood', 'more control frames than traffic explains');
  }

  #isOurs(id: number): boolean {
    return (id & 1) === (this.#client ? 1 : 0);
  }

  #neverWas(id: number): boolean {
    return this.#isOurs(id) ? id >= this.#nextId : id > this.#highestTheirs;
  }

  #fail(code: MuxErrorCode, message: string): void {
    if (this.#closed) return;
    if (code === 'protocol' || code === 'window_overrun' || code === 'flood') {
      this.sender.control(QUICK, TYPE.goAway, 0, 0, GO_AWAY.protocol);
      this.sender.flush();
    }
    this.#finish(new MuxError(code, message), true);
  }

  #finish(error: MuxError, cut: boolean): void {
    if (this.#closed) return;
    this.#closed = true;
    this.sender.close();
    this.pulse.close(error);
    for (const stream of [...this.#streams.values()]) this.#guard(stream, RST_ARRIVED);
    if (cut) this.#transport.destroy();
    this.#handler.onClose(this, error);
  }
}
