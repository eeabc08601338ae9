/**
 * An edge without sockets, for millions of cases: the real Visitor with all that it uses (parser, bodies, dispatch, forwarding, kept streams,
 * responses), between a socket and a session that only remember what was said to them. Everything happens at once: when `send` returns, all
 * that the bytes lead to has happened.
 */
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { Sweeper, systemClock } from '../../src/base/clock.ts';
import { type Logger, silentLog } from '../../src/base/log.ts';
import { SlabPool } from '../../src/base/bytes/slab.ts';
import { type EdgeContext, edgeContext, type EdgeLimits } from '../../src/data/edge/exchange/context.ts';
import { Drops } from '../../src/data/faults/drops.ts';
import { HOLD_BOUNDS, Holds } from '../../src/data/edge/exchange/holds.ts';
import { LatencyRecorder } from '../../src/data/latency/latency-recorder.ts';
import { AccessLog } from '../../src/data/access-log/access-log.ts';
import { Recorder } from '../../src/data/inspect/recorder.ts';
import { Visitor } from '../../src/data/edge/h1/visitor.ts';
import { testRoute } from '../../src/data/fixtures/link.ts';
import { type ServedTunnel, TunnelMeter } from '../../src/data/routing/entry.ts';
import { RouteTable } from '../../src/data/routing/table.ts';
import type { MuxSession } from '../../src/mux/session.ts';
import { RESPONSE_LIMITS, USUAL_LIMITS } from '../../src/http1/head-limits.ts';
import { deafSink, type MuxStream } from '../../src/mux/stream.ts';
import { CONNECTED_REPLY } from '../../src/wire/preamble.ts';

const MANY_MS = 1_000_000;
/** Those of HTTP/2 are not asked for here. */
const LIMITS = {
  headTimeoutMs: MANY_MS,
  idleTimeoutMs: MANY_MS,
  bodyIdleTimeoutMs: MANY_MS,
  minBytesPerSecond: 0,
  localTimeoutMs: MANY_MS,
  websocketIdleMs: 0,
  lingerTimeoutMs: MANY_MS,
  tlsHandshakeTimeoutMs: MANY_MS,
  head: USUAL_LIMITS,
  responseHead: RESPONSE_LIMITS,
  http2ResetsPerSecond: 20,
  http2MemoryBytes: 1 << 28,
} satisfies Partial<EdgeLimits> as EdgeLimits;

/** All of them, with bodies that are cut. */
const RECORDED = {
  maxBodyBytes: 64,
  maxPerSecond: 0,
  maxPerSecondPerTunnel: 0,
  maxMemoryMb: 16,
  websocketFrames: true,
};

/** A fault of the edge's own fails the case. */
const failing: Logger = {
  ...silentLog,
  error: (fields, message) => {
    throw new Error(message, { cause: fields });
  },
};

const ROOM_BEFORE = 7;

/** A stream towards the service, which remembers what was written. */
export class DryStream {
  sink = deafSink;
  gone = false;
  ended = false;
  endedHere = false;
  readonly room = Number.POSITIVE_INFINITY;
  lastUsedMs = 0;
  /** What comes behind a response comes in another turn here: a kept stream meets it while it waits. */
  isClear = true;
  /** All bytes for the service, latin1. */
  text = '';
  /** How many of them the service has looked at. */
  read = 0;
  readonly session: MuxSession;
  #replied = false;
  #out: Buffer = Buffer.alloc(0);

  constructor(session: MuxSession) {
    this.session = session;
  }

  write(bytes: Buffer, start = 0, end: number = bytes.length): boolean {
    if (!this.gone && !this.endedHere) this.text += bytes.toString('latin1', start, end);
    return true;
  }

  /** As in a real one, a part of a larger buffer. */
  reserve(length: number): number {
    if (this.gone || this.endedHere) return -1;
    this.#out = Buffer.alloc(length + ROOM_BEFORE);
    return ROOM_BEFORE;
  }

  target(): Buffer {
    return this.#out;
  }

  settled(): boolean {
    this.text += this.#out.toString('latin1', ROOM_BEFORE);
    return true;
  }

  consumed(): void {}

  step(): void {}

  end(): void {
    this.endedHere = true;
    if (this.ended) this.gone = true;
  }

  reset(): void {
    this.sink = deafSink;
    this.gone = true;
  }

  /** The service says `text`. */
  say(text: string): void {
    if (this.gone || this.ended) return;
    const bytes = Buffer.from(text, 'latin1');
    const all = this.#replied ? bytes : Buffer.concat([CONNECTED_REPLY, bytes]);
    this.#replied = true;
    this.sink.onData(this.#asMux(), all, 0, all.length);
  }

  /** The service ends its direction, or cuts. */
  leave(how: 'end' | 'reset'): void {
    if (this.gone || this.ended) return;
    const { sink } = this;
    if (how === 'end') {
      this.ended = true;
      if (this.endedHere) this.gone = true;
      sink.onEnd(this.#asMux());
    } else {
      this.reset();
      sink.onReset(this.#asMux());
    }
  }

  #asMux(): MuxStream {
    return this as unknown as MuxStream;
  }
}

/** A visitor's socket, which remembers what was written. */
class DrySocket extends EventEmitter {
  readonly writableLength = 0;
  writableEnded = false;
  destroyed = false;
  connecting = false;
  paused = false;
  text = '';
  readonly #early: Buffer[] = [];
  #delivers = false;

  write(bytes: Buffer): boolean {
    if (bytes.length > 0 && !this.writableEnded) this.text += bytes.toString('latin1');
    return true;
  }

  end(): void {
    this.writableEnded = true;
  }

  destroy(): void {
    this.destroyed = true;
  }

  resetAndDestroy(): void {
    this.destroyed = true;
  }

  setKeepAlive(): void {}

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    this.paused = false;
    this.#deliver();
  }

  arrive(bytes: Buffer): void {
    this.#early.push(bytes);
    this.#deliver();
  }

  #deliver(): void {
    if (this.#delivers) return;
    this.#delivers = true;
    while (!this.paused && !this.destroyed) {
      const next = this.#early.shift();
      if (next === undefined) break;
      this.emit('data', next);
    }
    this.#delivers = false;
  }
}

export class DryEdge {
  readonly context: EdgeContext;
  readonly meter = new TunnelMeter();
  /** All streams since `begin`. */
  readonly streams: DryStream[] = [];
  readonly #sweeper = new Sweeper<Visitor>(MANY_MS);
  readonly #served: ServedTunnel;

  constructor() {
    const table = new RouteTable('example.test');
    table.load({ version: 1, routes: [testRoute('shop')], accessKeys: [], visitorKey: '', relays: [] });
    const drops = new Drops();
    const sweeper = this.#sweeper;
    this.context = edgeContext({
      table,
      limits: LIMITS,
      sweeper,
      log: failing,
      trusted: null,
      redirect: null,
      ownHosts: null,
      drops,
      holds: new Holds({ holdMs: 0, ...HOLD_BOUNDS }, { drops, clock: systemClock }),
      // A fault in it fails the case too.
      latency: new LatencyRecorder({ outbox: { addLatency: () => {}, hasLatency: () => false }, log: failing }),
      recorder: new Recorder(RECORDED, { link: { inspect: async () => {} }, log: failing }),
      accessLog: new AccessLog(null, { link: { logAccess: async () => {} }, log: failing }),
    });
    const slabs = new SlabPool();
    const session = { readSlab: slabs.foreign, maxStreams: 4_096, streamCount: 0, closed: false, hearsClear: true };
    const open = (): DryStream => {
      const stream = new DryStream(session as unknown as MuxSession);
      this.streams.push(stream);
      return stream;
    };
    const served = {
      session: { ...session, open } as unknown as MuxSession,
      ...{
        agentId: 'a',
        tokenId: 't',
        slot: 0,
        inFlight: 0,
        draining: false,
        cut: false,
        isAlone: true,
        watched: false,
        inspected: true,
        narrowing: null,
        rewrite: null,
        routes: null,
        idleMs: 55_000,
      },
      payer: { tokenId: 't', exhausted: false, charge: () => {} },
      meter: this.meter,
      preamble: Buffer.alloc(0),
      idle: [],
      resting: new Set<MuxStream>(),
      note: () => {},
      forgive: () => {},
      services: [] as ServedTunnel[],
    };
    this.#served = Object.assign(served, { tunnel: served as unknown as ServedTunnel });
    served.services.push(this.#served);
    for (const entry of table.entries()) entry.served = this.#served;
  }

  /** Forgets the streams of the case before. */
  begin(): void {
    this.streams.length = 0;
    this.#served.idle.length = 0;
    this.#served.resting.clear();
    this.#served.inFlight = 0;
    this.meter.requests = 0;
  }

  /** Requests under way. */
  get inFlight(): number {
    return this.#served.inFlight;
  }

  visit(): DryVisitor {
    return new DryVisitor(this.context);
  }

  close(): void {
    this.#sweeper.close();
  }
}

/** A visitor's connection as its other end has it. */
export class DryVisitor {
  readonly #socket = new DrySocket();
  readonly #visitor: Visitor;

  constructor(context: EdgeContext) {
    const socket = this.#socket as unknown as Socket;
    this.#visitor = new Visitor(context, socket, {
      tls: false,
      ip: '127.0.0.1',
      names: null,
      load: null,
      secure: false,
    });
  }

  /** All that came back, latin1. */
  get text(): string {
    return this.#socket.text;
  }

  /** The edge has ended the connection, in good order or with a cut. */
  get over(): boolean {
    return this.#socket.writableEnded || this.#socket.destroyed;
  }

  get cut(): boolean {
    return this.#socket.destroyed;
  }

  send(text: string): void {
    if (!this.#socket.destroyed) this.#socket.arrive(Buffer.from(text, 'latin1'));
  }

  /** Leaves. */
  leave(): void {
    this.#visitor.destroy();
  }
}
