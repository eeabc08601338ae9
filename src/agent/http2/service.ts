/**
 * A service that the agent speaks HTTP/2 to: its connections, which all streams of its tunnels share, and the requests that wait for one. A connection
 * more is made when those that are there take no more streams. Under `auto` a service that turns out to speak HTTP/1.1 gets connections of its own.
 */
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { Sweeper } from '../../base/clock.ts';
import { Head } from '../../http1/head.ts';
import { REPLY } from '../../wire/preamble.ts';
import { CONNECT_TIMEOUT_MS, LocalDial, type LocalFault } from '../local/local.ts';
import type { LocalTarget, LocalWay, WayOwner } from '../local/target.ts';
import { type ConnectionOwner, ServiceConnection } from './connection.ts';
import type { EdgeSocket, ResetPeer } from './edge-socket.ts';
import { FirstTry, type TriedService } from './first-try.ts';
import { Http1Socket } from './http1-socket.ts';
import type { StreamSource, Taker } from './source.ts';

/** Connections to one service. */
const MAX_CONNECTIONS = 8;
/** Requests that wait for room on them. */
const MAX_WAITING = 4_096;
/** After a connection that failed beside others that serve. */
const PAUSE_MS = 1_000;
/** The edge's own limits can be raised, and it adds fields. */
const HEAD_LIMITS = { headBytes: 131_072, fields: 512, targetBytes: 65_536 };

/** `auto`: HTTP/2 if the service offers it by ALPN, or speaks nothing else; else HTTP/1.1. */
export type Http2Mode = 'http2' | 'auto';
export type UpstreamProtocol = 'http1' | Http2Mode;

export function isUpstreamProtocol(text: string): text is UpstreamProtocol {
  return text === 'http1' || text === 'http2' || text === 'auto';
}

export class Http2Service implements LocalWay, StreamSource, ConnectionOwner, TriedService {
  readonly scheme: 'http' | 'https';
  readonly head = new Head(HEAD_LIMITS);
  readonly #target: LocalTarget;
  readonly #mode: Http2Mode;
  readonly #connections = new Set<ServiceConnection>();
  readonly #waiting = new Set<Taker>();
  #sweeper: Sweeper<ServiceConnection> | null = null;
  #dials: Sweeper<LocalDial> | null = null;
  #dial: LocalDial | null = null;
  /** The connection that is being made. */
  #next: ServiceConnection | null = null;
  #pausedUntilMs = 0;
  #isServing = false;
  #isClosed = false;
  /** Under `auto`: what it has spoken last. The second is for services without TLS. */
  #isHttp1 = false;
  #isHttp2 = false;

  constructor(target: LocalTarget, mode: Http2Mode) {
    this.scheme = target.tls ? 'https' : 'http';
    this.#mode = mode;
    const alpn = mode === 'auto' ? ['h2', 'http/1.1'] : ['h2'];
    this.#target = { ...target, alpn, way: undefined };
  }

  nowMs(): number {
    return performance.now();
  }

  /** A socket to it, in the form of HTTP/1.1, once there is a connection. */
  connect(owner: WayOwner): () => void {
    const taker: Taker = {
      onConnection: (connection) => {
        connection.release();
        owner.onConnected(new Http1Socket(this) as unknown as Socket);
      },
      onHttp1: (socket) => owner.onConnected(socket),
      onFault: (fault) => owner.onFault(fault),
    };
    if (this.#mode === 'auto' && this.scheme === 'http' && !this.#isHttp2) return this.#tryHttp1(owner);
    if (this.#isHttp1) return this.#dialBoth(owner);
    for (const connection of this.#connections) {
      if (!connection.isOpen) continue;
      let isWanted = true;
      // Not at once, as a dial never ends at once. Room for its requests is theirs to wait for.
      queueMicrotask(() => {
        if (isWanted) owner.onConnected(new Http1Socket(this) as unknown as Socket);
      });
      return () => {
        isWanted = false;
      };
    }
    return this.take(taker);
  }

  /** Without TLS nothing but its first bytes shows what it speaks. */
  #tryHttp1(owner: WayOwner): () => void {
    return this.dialHttp1({
      onConnected: (socket) =>
        owner.onConnected(this.#isHttp1 ? socket : (new FirstTry(socket, this) as unknown as Socket)),
      onFault: (fault) => {
        // What comes up there next may be another one.
        this.#isHttp1 = false;
        owner.onFault(fault);
      },
    });
  }

  /** Its TLS has chosen HTTP/1.1 before, and may choose HTTP/2 by now: a connection for each, none waits for another. */
  #dialBoth(owner: WayOwner): () => void {
    let giveUp = this.#dialAs(this.#target, {
      onConnected: (socket) => {
        if (!speaksHttp2(socket)) return owner.onConnected(socket);
        this.#isHttp1 = false;
        socket.destroy();
        giveUp = this.connect(owner);
      },
      onFault: (fault) => {
        this.#isHttp1 = false;
        owner.onFault(fault);
      },
    });
    return () => giveUp();
  }

  /** What its first bytes in answer to HTTP/1.1 are. */
  answered(protocol: 'http1' | 'http2'): void {
    this.#isHttp1 = protocol === 'http1';
    this.#isHttp2 = protocol === 'http2';
  }

  socketOverHttp2(peer: ResetPeer | null): EdgeSocket {
    const socket = new Http1Socket(this);
    socket.peer = peer;
    return socket;
  }

  get mayTryHttp1(): boolean {
    return this.#mode === 'auto';
  }

  dialHttp1(owner: WayOwner): () => void {
    return this.#dialAs({ ...this.#target, alpn: undefined }, owner);
  }

  #dialAs(target: LocalTarget, owner: WayOwner): () => void {
    this.#dials ??= new Sweeper<LocalDial>(1_000);
    const dial = new LocalDial(target, { result: owner, sweeper: this.#dials, nowMs: this.nowMs() });
    return () => dial.cancel();
  }

  take(taker: Taker): () => void {
    if (this.#waiting.size === 0) {
      const free = this.#free();
      if (free !== undefined) {
        free.take();
        taker.onConnection(free);
        return () => undefined;
      }
    }
    const refusal = this.#isClosed
      ? 'the agent is ending'
      : this.#waiting.size >= MAX_WAITING && 'too many requests wait for a connection';
    if (refusal !== false) {
      taker.onFault({ code: REPLY.failed, text: `${this.#target.text}: ${refusal}` });
      return () => undefined;
    }
    this.#waiting.add(taker);
    this.#dialMore();
    return () => void this.#waiting.delete(taker);
  }

  /** Cuts all connections. Nothing is dialled any more, and no request waits. */
  close(): void {
    this.#isClosed = true;
    this.#waiting.clear();
    this.#dial?.cancel();
    this.#dial = null;
    this.#next?.destroy();
    for (const connection of this.#connections) connection.destroy();
    this.#closeSweepers();
  }

  // ------------------------------------------------------------------ of its connections (ConnectionOwner)

  onReady(connection: ServiceConnection): void {
    this.#next = null;
    this.#connections.add(connection);
    this.onRoom();
  }

  onFailed(connection: ServiceConnection, error: Error | undefined): void {
    this.#next = null;
    this.#sweeper?.delete(connection);
    this.#missed({ code: REPLY.failed, text: failureText(this.#target.text, error) });
  }

  onRoom(): void {
    // Who gives a connection back at once calls from within: the loop that runs serves all, or thousands that wait would fill the stack.
    if (this.#isServing) return;
    this.#isServing = true;
    for (const taker of this.#waiting) {
      const free = this.#free();
      if (free === undefined) break;
      this.#waiting.delete(taker);
      free.take();
      taker.onConnection(free);
    }
    this.#isServing = false;
    this.#dialMore();
  }

  onLeaving(connection: ServiceConnection): void {
    this.#connections.delete(connection);
    this.#sweeper?.delete(connection);
    // Dialled again at once, a service that takes no stream and hangs up would be dialled for ever.
    if (!connection.hasServed && this.#waiting.size > 0) {
      const { text } = this.#target;
      this.#missed({ code: REPLY.failed, text: `${text} closed its connection before it took a request` });
    } else this.#dialMore();
    this.#closeIdleSweepers();
  }

  // ------------------------------------------------------------------

  #free(): ServiceConnection | undefined {
    for (const connection of this.#connections) if (connection.hasRoom) return connection;
    return undefined;
  }

  #dialMore(): void {
    if (this.#waiting.size === 0 || this.#dial !== null || this.#next !== null) return;
    if (this.#connections.size >= MAX_CONNECTIONS) return;
    const nowMs = this.nowMs();
    if (this.#connections.size > 0 && nowMs < this.#pausedUntilMs) return;
    this.#dials ??= new Sweeper<LocalDial>(1_000);
    this.#dial = new LocalDial(this.#target, {
      result: {
        onConnected: (socket) => {
          this.#dial = null;
          this.#connected(socket, nowMs);
        },
        onFault: (fault) => {
          this.#dial = null;
          this.#missed(fault);
        },
      },
      sweeper: this.#dials,
      nowMs,
    });
  }

  #connected(socket: Socket, dialledMs: number): void {
    const { tls, text, connectTimeoutMs = CONNECT_TIMEOUT_MS } = this.#target;
    if (tls && !speaksHttp2(socket)) return this.#speaksHttp1(socket, text);
    this.#sweeper ??= new Sweeper<ServiceConnection>(1_000);
    const deadlineMs = dialledMs + connectTimeoutMs;
    this.#next = new ServiceConnection(socket, this, { scheme: this.scheme, deadlineMs });
    this.#sweeper.add(this.#next);
  }

  /** Its TLS has chosen HTTP/1.1: one connection for each that waits. */
  #speaksHttp1(socket: Socket, text: string): void {
    const [first] = this.#waiting;
    if (this.#mode === 'http2' || first === undefined) {
      socket.destroy();
      if (first === undefined) return;
      return this.#missed({
        code: REPLY.failed,
        text: `${text} does not offer HTTP/2. Use --upstream-protocol auto, or leave it out`,
      });
    }
    this.#isHttp1 = true;
    this.#waiting.delete(first);
    first.onHttp1(socket);
    this.#dialMore();
  }

  /** A connection was not made. Those who wait go on waiting for the others, if there are any. */
  #missed(fault: LocalFault): void {
    this.#pausedUntilMs = this.nowMs() + PAUSE_MS;
    if (this.#connections.size > 0) return;
    this.#isHttp2 = false;
    for (const taker of this.#waiting) {
      this.#waiting.delete(taker);
      taker.onFault(fault);
    }
    this.#closeIdleSweepers();
  }

  #closeIdleSweepers(): void {
    if (this.#connections.size === 0 && this.#next === null && this.#dial === null) this.#closeSweepers();
  }

  #closeSweepers(): void {
    this.#sweeper?.close();
    this.#dials?.close();
    this.#sweeper = this.#dials = null;
  }
}

function failureText(text: string, error: Error | undefined): string {
  // TLS was agreed on before the service read the agent's certificate, or missed it.
  const { reason } = (error ?? {}) as { reason?: string };
  if (reason !== undefined && /certificate/.test(reason))
    return `${text} refused the TLS connection (${reason}). Give it a certificate by --upstream-cert and --upstream-key`;
  const why = error === undefined ? '' : ` (${error.message})`;
  return `${text} does not speak HTTP/2${why}. Leave out --upstream-protocol http2`;
}

/** By ALPN. */
function speaksHttp2(socket: Socket): boolean {
  return (socket as TLSSocket).alpnProtocol === 'h2';
}

/** The target, spoken to in HTTP/2. */
export function overHttp2(target: LocalTarget, mode: Http2Mode): LocalTarget {
  return { ...target, way: new Http2Service(target, mode) };
}
