/**
 * Serves the streams that the server opens: preamble → local target → reply → raw bytes both ways. Used by connect.ts, one
 * server per connection. It reads no protocol inside the stream: what the edge wrote goes to the service as it is, behind
 * a PROXY protocol header where the target asked for one. A relay takes its stream as it is. The agent's own page may look on (inspect/); it changes nothing.
 */
import type { Socket } from 'node:net';
import { type Clock, Sweeper } from '../base/clock.ts';
import { Pipe, type PipeMeter, type PipeOptions } from '../base/bytes/pipe.ts';
import { SLAB_BYTES, SlabPool } from '../base/bytes/slab.ts';
import { TurnEnd } from '../base/process/turn.ts';
import { deafSink, type MuxStream, type StreamSink } from '../mux/stream.ts';
import {
  CONNECTED_REPLY,
  decodePreamble,
  encodeReply,
  PREAMBLE_MAX,
  REPLY,
  type ReplyCode,
  type VisitorAddress,
} from '../wire/preamble.ts';
import type { StreamTaker } from './connect/channel.ts';
import type { AdviceCode } from '../wire/advice-codes.ts';
import { TappedPipe } from './inspect/tap/tapped-pipe.ts';
import type { Watch, WatchedConnection } from './inspect/watch.ts';
import { FirstContact, type FirstContactOwner } from './local/first-contact.ts';
import { EdgeSocket } from './http2/edge-socket.ts';
import { LocalDial, type LocalFault } from './local/local.ts';
import { proxyHeader } from './local/proxy-header.ts';
import type { LocalTarget, LocalWay } from './local/target.ts';
import { TlsProbes, WAIT_MS } from './local/tls-probe.ts';

/** What all streams of a process share. */
export class ServeFloor {
  readonly clock: Clock;
  readonly turn = new TurnEnd();
  readonly slabs = new SlabPool();
  readonly dials = new Sweeper<LocalDial>(1_000);
  /** Every local socket reads into this one: a read is framed before the next one starts. */
  readonly readBuffer = Buffer.allocUnsafeSlow(SLAB_BYTES);
  readonly meter: PipeMeter = { fromSocket: 0, toSocket: 0 };
  /** Those that have been used, to be closed with the agent. */
  readonly ways = new Set<LocalWay>();
  /** The agent's page; null: there is none, and nothing is inspected. */
  readonly watch: Watch | null;

  /** How long a visitor waits until it is known whether a silent service speaks TLS. */
  readonly tlsWaitMs: number;

  constructor(clock: Clock, watch: Watch | null = null, tlsWaitMs = WAIT_MS) {
    this.clock = clock;
    this.watch = watch;
    this.tlsWaitMs = tlsWaitMs;
  }

  close(): void {
    for (const way of this.ways) way.close();
    this.ways.clear();
    this.dials.close();
  }
}

export interface ServeOwner {
  /** `route`: place in the claim's routes; undefined: the stream names none. */
  targetOf(slot: number, route?: number): LocalTarget | undefined;
  takerOf(slot: number): StreamTaker | undefined;
  /** Whether a target can be reached changed; `fault` says why not. */
  onTarget(target: LocalTarget, fault: string | undefined): void;
  /** What the service says in its refusals; once per target. */
  onAdvice?(target: LocalTarget, code: AdviceCode): void;
  /** The last stream in flight ended. */
  onIdle(): void;
}

export class StreamServer {
  readonly floor: ServeFloor;
  readonly #owner: ServeOwner;
  readonly #faults = new Map<LocalTarget, string>();
  /** Plain targets that have spoken HTTP, or something else that is no TLS. */
  readonly #proven = new Set<LocalTarget>();
  readonly #probes: TlsProbes;
  /** Those that speak HTTP/2 alone, and are spoken to in HTTP/1.1. */
  readonly #http2 = new Set<LocalTarget>();
  #draining = false;
  #live = 0;

  constructor(floor: ServeFloor, owner: ServeOwner) {
    this.floor = floor;
    this.#owner = owner;
    this.#probes = new TlsProbes(() => floor.clock.monotonic(), floor.tlsWaitMs);
  }

  get inFlight(): number {
    return this.#live;
  }

  /** New streams are answered `draining` from now on. */
  drain(): void {
    this.#draining = true;
  }

  accept(stream: MuxStream): void {
    this.#live++;
    stream.sink = new ServedStream(this, stream);
  }

  // --- called by ServedStream only

  route(slot: number, route: number | undefined): LocalTarget | LocalFault {
    if (this.#draining) return { code: REPLY.draining, text: 'the agent is stopping' };
    return (
      this.#owner.targetOf(slot, route) ?? { code: REPLY.unknownSlot, text: 'the agent does not serve this tunnel' }
    );
  }

  /** Who takes streams to `slot` whole; undefined: `route` says what becomes of them. */
  taker(slot: number): StreamTaker | undefined {
    return this.#draining ? undefined : this.#owner.takerOf(slot);
  }

  reached(target: LocalTarget): void {
    // Its port takes connections: what is wrong is what comes on them.
    if (this.#probes.isTls(target) || this.#http2.has(target)) return;
    if (this.#faults.size > 0 && this.#faults.delete(target)) this.#owner.onTarget(target, undefined);
  }

  missed(target: LocalTarget, fault: string): void {
    // What comes up there next may be another one.
    this.#proven.delete(target);
    this.#http2.delete(target);
    if (this.#faults.get(target) === fault) return;
    this.#faults.set(target, fault);
    this.#owner.onTarget(target, fault);
  }

  /** `missed`, of a service that is there all the same. */
  speaksHttp2(target: LocalTarget, fault: string): void {
    this.missed(target, fault);
    this.#http2.add(target);
  }

  advise(target: LocalTarget, code: AdviceCode): void {
    this.#owner.onAdvice?.(target, code);
  }

  /** The stream of a connection to `target`, whose reply is sent at once or by this. */
  contact(stream: MuxStream, target: LocalTarget, onOther: FirstContactOwner['onOther']): MuxStream | FirstContact {
    if (target.tls || this.#proven.has(target)) {
      stream.write(CONNECTED_REPLY);
      return stream;
    }
    return new FirstContact(stream, {
      onOther,
      onSilence: (settle) => this.#probes.ask(target, this.floor.dials, settle),
      onProven: () => {
        this.#proven.add(target);
        this.#probes.forget(target);
        this.#http2.delete(target);
        this.reached(target);
      },
    });
  }

  left(): void {
    this.#live--;
    if (this.#live === 0) this.#owner.onIdle();
  }
}

/** A stream until its bytes flow: collects the preamble, dials, then hands over to a Pipe. */
class ServedStream implements StreamSink {
  readonly #server: StreamServer;
  readonly #stream: MuxStream;
  /** What came behind the preamble while the target was dialled. Bounded by the stream's window: nothing is consumed yet. */
  readonly #held: Buffer[] = [];
  #preamble: Buffer | undefined;
  #target: LocalTarget | undefined;
  #visitor: VisitorAddress | undefined;
  #dial: LocalDial | undefined;
  #dialledMs = 0;
  #watched: WatchedConnection | null = null;
  #socket: Socket | null = null;
  #ended = false;
  #over = false;

  constructor(server: StreamServer, stream: MuxStream) {
    this.#server = server;
    this.#stream = stream;
  }

  onData(_stream: MuxStream, bytes: Buffer, start: number, end: number): void {
    if (this.#over) return this.#stream.consumed(end - start);
    if (this.#target !== undefined) return this.#hold(bytes, start, end);
    if (this.#preamble === undefined) return this.#open(bytes, start, end);
    // A preamble cut in two, which only a peer that is not ours sends: put together what came.
    const whole = Buffer.concat([this.#preamble, bytes.subarray(start, end)]);
    this.#preamble = undefined;
    this.#open(whole, 0, whole.length);
  }

  onEnd(): void {
    this.#ended = true;
    if (this.#target === undefined && !this.#over)
      this.#fail({ code: REPLY.failed, text: 'the preamble is incomplete' });
  }

  onReset(): void {
    this.#leave();
  }

  onDrain(): void {}

  onConnected(socket: Socket): void {
    const stream = this.#stream;
    const { floor } = this.#server;
    const target = this.#target as LocalTarget;
    this.#dial = undefined;
    this.#socket = socket;
    this.#server.reached(target);
    // The reply is 2 bytes: it can't be what fills the window, and the pipe waits for room by itself.
    const own = socket instanceof EdgeSocket ? socket : null;
    if (own !== null) own.peer = stream;
    const contact = this.#contact(target, own?.isProven === true);
    // At once and in one write, whether the visitor says anything or not: many services wait for it before they speak first.
    if (target.proxyProtocol) socket.write(proxyHeader(this.#visitor, socket));
    this.#watched = floor.watch?.joined(target, (code) => this.#server.advise(target, code)) ?? null;
    const tap = this.#watched?.tap ?? null;
    const options: PipeOptions = {
      turn: floor.turn,
      slabs: floor.slabs,
      meter: floor.meter,
      tls: target.tls && own === null,
      // A preamble without a visitor is that of an HTTP tunnel, whose streams serve one request after another.
      saysClear: this.#visitor === undefined,
      onClose: () => this.#leave(),
    };
    const pipe =
      tap === null ? new Pipe(contact, socket, options) : new TappedPipe(contact, socket, { ...options, tap });
    pipe.read(floor.readBuffer);
    for (const bytes of this.#held) pipe.onData(stream, bytes, 0, bytes.length);
    this.#held.length = 0;
    if (this.#ended) pipe.onEnd();
  }

  /** A preamble without a visitor is that of an HTTP tunnel: its service answers what comes, and is not the first to speak. */
  #contact(target: LocalTarget, isProven: boolean): MuxStream | FirstContact {
    if (this.#visitor === undefined && !isProven) {
      return this.#server.contact(this.#stream, target, (spoken) =>
        spoken === 'tls' ? this.#speaksTls(target) : this.#speaksHttp2(target),
      );
    }
    this.#stream.write(CONNECTED_REPLY);
    return this.#stream;
  }

  /** The service wants TLS: the stream gets that in place of a connection. */
  #speaksTls(target: LocalTarget): void {
    const text = `the service speaks TLS: use culvert ${target.socketPath === undefined ? 'http https://' : 'https '}${target.text}`;
    this.#server.missed(target, text);
    this.#refuse(REPLY.speaksTls, text);
  }

  #speaksHttp2(target: LocalTarget): void {
    const text = 'the service speaks HTTP/2 only: add --upstream-protocol http2';
    this.#server.speaksHttp2(target, text);
    this.#refuse(REPLY.speaksHttp2, text);
  }

  #refuse(code: ReplyCode, text: string): void {
    const stream = this.#stream;
    stream.sink = deafSink;
    stream.write(encodeReply(code, text));
    stream.end();
    this.#socket?.destroy();
    this.#leave();
  }

  onFault(fault: LocalFault): void {
    const { watch, clock } = this.#server.floor;
    const target = this.#target as LocalTarget;
    this.#server.missed(target, fault.text);
    watch?.missed(target, this.#held, { fault, agoMs: clock.monotonic() - this.#dialledMs });
    this.#fail(fault);
  }

  #open(bytes: Buffer, start: number, end: number): void {
    const preamble = decodePreamble(bytes, start, end);
    if (preamble === 'more' && end - start < PREAMBLE_MAX) {
      this.#preamble = Buffer.from(bytes.subarray(start, end));
      return;
    }
    if (preamble === 'bad' || preamble === 'more') {
      this.#stream.reset();
      return this.#leave();
    }
    this.#stream.consumed(preamble.size);
    const taker = this.#server.taker(preamble.slot);
    if (taker !== undefined) return this.#handOver(taker, bytes.subarray(start + preamble.size, end));
    const found = this.#server.route(preamble.slot, preamble.route);
    if ('code' in found) {
      this.#stream.consumed(end - start - preamble.size);
      return this.#fail(found);
    }
    this.#target = found;
    if (found.way !== undefined) this.#server.floor.ways.add(found.way);
    this.#visitor = preamble.visitor;
    if (start + preamble.size < end) this.#hold(bytes, start + preamble.size, end);
    const { dials, clock } = this.#server.floor;
    this.#dialledMs = clock.monotonic();
    this.#dial = new LocalDial(found, { result: this, sweeper: dials, nowMs: this.#dialledMs });
  }

  /** A relay's stream lasts as long as the session: it is none of those that are waited for. */
  #handOver(taker: StreamTaker, rest: Buffer): void {
    const stream = this.#stream;
    stream.write(CONNECTED_REPLY);
    const sink = taker.take(stream);
    stream.sink = sink;
    if (rest.length > 0) sink.onData(stream, rest, 0, rest.length);
    if (this.#ended) sink.onEnd(stream);
    this.#leave();
  }

  #hold(bytes: Buffer, start: number, end: number): void {
    this.#held.push(Buffer.from(bytes.subarray(start, end)));
  }

  #fail(fault: LocalFault): void {
    const stream = this.#stream;
    for (const bytes of this.#held) stream.consumed(bytes.length);
    stream.sink = deafSink;
    stream.write(encodeReply(fault.code, fault.text));
    stream.end();
    this.#leave();
  }

  #leave(): void {
    if (this.#over) return;
    this.#over = true;
    this.#held.length = 0;
    this.#dial?.cancel();
    this.#dial = undefined;
    this.#watched?.close();
    this.#watched = null;
    this.#server.left();
  }
}
