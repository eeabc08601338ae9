/**
 * Makes the agent's connection to a server: discovery → TLS → multiplexer → control stream. The one place where the agent's
 * rules (agent.ts, session.ts) meet sockets.
 */
import type { TLSSocket } from 'node:tls';
import { cutFaulty, Sweeper, systemClock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { Outbound } from '../../base/net/outbound/outbound.ts';
import type { PipeMeter } from '../../base/bytes/pipe.ts';
import { SlabPool } from '../../base/bytes/slab.ts';
import { attachSession } from '../../mux/attach.ts';
import type { MuxSession, SessionHandler } from '../../mux/session.ts';
import { Shaper } from '../../mux/shaper.ts';
import type { MuxStream, StreamSink } from '../../mux/stream.ts';
import type { MuxError } from '../../mux/types.ts';
import { WindowBudget } from '../../mux/window.ts';
import { encodeLine, LineReader } from '../../wire/lines.ts';
import { DEAD_AFTER_MS, type FromAgent, type FromServer, fromServer, HEARTBEAT_MS } from '../../wire/messages.ts';
import type { Channel, ChannelSink, OpenChannel } from './channel.ts';
import { dialServer } from './dial.ts';
import { type AgentAddress, discover } from './discovery.ts';
import type { Watch } from '../inspect/watch.ts';
import { canReach, type Reach } from './reachability.ts';
import { ServeFloor, StreamServer } from '../serve.ts';
import { addressesOf, type Dial, dialFirst, type Dialed, Ways, type WayStore } from './ways.ts';

/** Growth of receive windows beyond 256 KB, for all streams of the process together. */
const WINDOW_BUDGET_BYTES = 128 << 20;
/** Streams that the server may have open: a visitor each. The next one is reset. */
const MAX_STREAMS = 65_536;
/** The server opens a stream per new visitor connection: that is no flood. */
const CONTROL_PER_SECOND = 50_000;
/** After the last message the server gets this long to take it. */
const CLOSE_MS = 1_000;

export interface Connector {
  readonly open: OpenChannel;
  readonly reach: Reach;
  /** Opens another connection and closes it. Rejects when none can be made. */
  readonly tryAnother: (signal: AbortSignal) => Promise<void>;
  /** Bytes of all streams since the start. */
  readonly meter: PipeMeter;
  /** Stops the shared timers, once no channel is left. */
  close(): void;
}

/** Everything that the connections of one agent share. `watch`: the agent's page, which looks on. */
export function makeConnector(options: {
  server: URL;
  log: Logger;
  watch?: Watch | undefined;
  /** Remembers the way to the server between runs, where given; else this process alone does. */
  ways?: WayStore | undefined;
  /** Proxy and trust; directly, where not given. */
  outbound?: Outbound | undefined;
}): Connector {
  const { server, log, outbound = new Outbound() } = options;
  const ways = new Ways(options.ways);
  const slabs = new SlabPool();
  const budget = new WindowBudget(WINDOW_BUDGET_BYTES);
  const sweeper = new Sweeper<MuxSession>(1_000, { onFault: cutFaulty(log, 'the connection to the server') });
  const floor = new ServeFloor(systemClock, options.watch);
  return {
    // Behind a proxy its own port is tried: with it the whole way may be open again.
    reach: (place) => canReach(outbound.firstHop(place)),
    meter: floor.meter,
    tryAnother: async (signal) => {
      (await dial({ server, ways, outbound }, signal)).socket.destroy();
    },
    open: async (sink, signal) => {
      const { socket, address, addresses } = await dial({ server, ways, outbound }, signal);
      const isProxied = outbound.proxyFor(address) !== undefined;
      const way = { proven: () => ways.proven(address), failed: () => ways.failed(address, addresses) };
      const channel = new MuxChannel({
        ...{ socket, sink, floor, log, way, isProxied },
        address: `${address.host}:${address.port}`,
      });
      channel.attach({ slabs, budget, sweeper });
      return channel;
    },
    close: () => {
      sweeper.close();
      floor.close();
    },
  };
}

/** Asks again where the server is and resolves its name again: either may have changed. */
async function dial(
  { server, ways, outbound }: { server: URL; ways: Ways; outbound: Outbound },
  signal: AbortSignal,
): Promise<Dialed & { readonly addresses: readonly AgentAddress[] }> {
  const addresses = ways.order(addressesOf(await discover(server, signal, outbound), server));
  const through: Dial = (address, stop) => dialServer(address, stop, outbound);
  return { ...(await dialFirst(addresses, signal, through)), addresses };
}

interface MuxChannelDeps {
  readonly socket: TLSSocket;
  readonly sink: ChannelSink;
  readonly floor: ServeFloor;
  readonly log: Logger;
  readonly address: string;
  /** The far end of the socket is a proxy. */
  readonly isProxied: boolean;
  /** What has become of the address. */
  readonly way: { proven(): void; failed(): void };
}

class MuxChannel implements Channel, SessionHandler, StreamSink {
  readonly address: string;
  readonly #socket: TLSSocket;
  readonly #isProxied: boolean;
  readonly #sink: ChannelSink;
  readonly #log: Logger;
  readonly #server: StreamServer;
  readonly #lines: LineReader;
  readonly #shaper = new Shaper();
  readonly #way: MuxChannelDeps['way'];
  #isProven = false;
  #mux: MuxSession | undefined;
  #control: MuxStream | undefined;
  /** No more is reported upwards. */
  #silent = false;

  constructor(deps: MuxChannelDeps) {
    this.address = deps.address;
    this.#socket = deps.socket;
    this.#isProxied = deps.isProxied;
    this.#sink = deps.sink;
    this.#log = deps.log;
    this.#way = deps.way;
    this.#server = new StreamServer(deps.floor, deps.sink);
    this.#lines = new LineReader((line) => this.#line(line));
  }

  attach(shared: { slabs: SlabPool; budget: WindowBudget; sweeper: Sweeper<MuxSession> }): void {
    const mux = attachSession(this.#socket, this, {
      role: 'client',
      ...shared,
      shaper: this.#shaper,
      maxStreams: MAX_STREAMS,
      controlPerSecond: CONTROL_PER_SECOND,
      heartbeatMs: HEARTBEAT_MS,
      deadAfterMs: DEAD_AFTER_MS,
    });
    this.#mux = mux;
    const control = mux.open();
    if (control === null) throw new Error('the connection closed before it was used');
    control.sink = this;
    this.#control = control;
    // For the screen: a round trip is known before the first heartbeat. A session that ends first says so by onClose.
    mux.ping().catch((error: unknown) => this.#log.debug({ cause: messageOf(error) }, 'first ping was not answered'));
  }

  get remote(): string | undefined {
    return this.#isProxied ? undefined : this.#socket.remoteAddress;
  }

  get local(): string | undefined {
    return this.#socket.localAddress?.replace(/^::ffff:/, '');
  }

  get sentBytes(): number {
    return this.#socket.bytesWritten;
  }

  ping(): Promise<unknown> {
    return this.#mux?.ping() ?? Promise.reject(new Error('the connection is not open yet'));
  }

  get rttMs(): number | undefined {
    const ms = this.#mux?.rttMs ?? 0;
    return ms === 0 ? undefined : ms;
  }

  get inFlight(): number {
    return this.#server.inFlight;
  }

  send(message: FromAgent): void {
    // Bounded: an agent says a claim per tunnel (at most 1,000, about 300 bytes each) and little else.
    this.#control?.write(encodeLine(message));
  }

  proven(): void {
    this.#isProven = true;
    this.#way.proven();
  }

  holdBack(megabitsPerSecond: number): void {
    this.#shaper.holdBack(megabitsPerSecond);
  }

  answerSoon(): void {
    if (this.#mux !== undefined) this.#mux.pulse.prompt = true;
  }

  sayClear(): void {
    if (this.#mux !== undefined) this.#mux.saysClear = true;
  }

  refuseStreams(): void {
    this.#server.drain();
  }

  close(): Promise<void> {
    this.#silent = true;
    this.#server.drain();
    this.#mux?.close();
    return new Promise((resolve) => {
      if (this.#socket.destroyed) return resolve();
      const timer = setTimeout(() => {
        this.#socket.destroy();
        resolve();
      }, CLOSE_MS);
      this.#socket.once('close', () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  destroy(): void {
    // As after a hello without a response.
    if (!this.#isProven && !this.#silent) this.#way.failed();
    this.#silent = true;
    this.#mux?.destroy();
  }

  // --- the multiplexer

  onStream(stream: MuxStream): void {
    this.#server.accept(stream);
  }

  onClose(_session: MuxSession, error: MuxError): void {
    this.#closed(error.message);
  }

  onFault(_stream: MuxStream, error: unknown): void {
    this.#log.error({ err: error }, 'internal error while handling a stream');
  }

  // --- the control stream

  onData(stream: MuxStream, bytes: Buffer, start: number, end: number): void {
    stream.consumed(end - start);
    if (this.#lines.feed(bytes, start, end) < 0) this.#break('it sent a message that is too long or too deeply nested');
  }

  onEnd(): void {
    this.#break('it ended the control stream');
  }

  onReset(): void {
    if (this.#mux?.closed === false) this.#break('it reset the control stream');
  }

  onDrain(): void {}

  #line(line: string): void {
    if (this.#silent) return;
    const message = parseMessage(line);
    if (message === undefined) return this.#break('it sent an unknown message');
    this.#sink.onMessage(message);
  }

  /** Reports the cause first: cutting the session would report a less exact one. */
  #break(what: string): void {
    // This side is leaving, or has said why: a cut now would take the last words with it that are on their way.
    if (this.#silent) return;
    this.#closed(`the server violated the protocol: ${what}`);
    this.#mux?.destroy();
  }

  #closed(cause: string): void {
    if (this.#silent) return;
    this.#silent = true;
    if (!this.#isProven) this.#way.failed();
    this.#sink.onClosed(cause);
  }
}

function parseMessage(line: string): FromServer | undefined {
  try {
    return fromServer.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined; // not JSON: the caller cuts the peer off and says so
  }
}
