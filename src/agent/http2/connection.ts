/**
 * One HTTP/2 connection to a service. It is ready once the service's SETTINGS have come: they prove that it speaks HTTP/2, and say how many
 * streams it takes. Made and shared by service.ts.
 */
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type ClientSessionRequestOptions,
  connect,
  type OutgoingHttpHeaders,
  type Settings,
} from 'node:http2';
import type { Socket } from 'node:net';

/** What a service may have under way on a stream, and on a connection. */
const STREAM_WINDOW = 1 << 20;
const CONNECTION_WINDOW = 16 << 20;
/** Of response heads: more than any setting of the edge lets pass. */
const MAX_FIELDS = 1_024;
const MAX_HEAD_BYTES = 262_144;
/** Streams on one connection where the service sets no limit. */
const MAX_STREAMS = 1_000;
/** A connection without streams is closed after this, as those of HTTP/1.1 are. */
const IDLE_MS = 60_000;
/** A peer that has vanished is found by TCP: pings of HTTP/2 get a client of gRPC cut off. */
const KEEP_ALIVE_MS = 15_000;
/** An answer to the ping of a connection that is suspected takes no longer; the next suspicion pings again after so long. */
const PING_MS = 5_000;
const PING_PAUSE_MS = 30_000;

export interface ConnectionOwner {
  /** It takes streams. */
  onReady(connection: ServiceConnection): void;
  /** It will take none, and has taken none. `error`: what was wrong, where something says so. */
  onFailed(connection: ServiceConnection, error: Error | undefined): void;
  /** A stream has ended. */
  onRoom(): void;
  /** It takes no more streams; those that run go on. */
  onLeaving(connection: ServiceConnection): void;
  nowMs(): number;
}

export class ServiceConnection {
  readonly #session: ClientHttp2Session;
  readonly #socket: Socket;
  readonly #owner: ConnectionOwner;
  readonly #deadlineMs: number;
  #isReady = false;
  #isLeaving = false;
  #error: Error | undefined;
  #limit = 0;
  #streams = 0;
  /** It has had a stream. */
  hasServed = false;
  #idleSinceMs: number;
  #pingedMs = -PING_PAUSE_MS;
  #awaitsPing = false;

  /** `socket` is connected and unread. `deadlineMs`: until when it must be ready. */
  constructor(socket: Socket, owner: ConnectionOwner, options: { scheme: 'http' | 'https'; deadlineMs: number }) {
    this.#owner = owner;
    this.#socket = socket;
    this.#deadlineMs = options.deadlineMs;
    this.#idleSinceMs = owner.nowMs();
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    const session = connect(`${options.scheme}://service`, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: STREAM_WINDOW, maxHeaderListSize: MAX_HEAD_BYTES },
      maxHeaderListPairs: MAX_FIELDS,
      maxSendHeaderBlockLength: MAX_HEAD_BYTES,
      // A request is passed on as its visitor wrote it.
      strictSingleValueFields: false,
    } as Parameters<typeof connect>[1]);
    this.#session = session;
    session.on('connect', () => session.setLocalWindowSize(CONNECTION_WINDOW));
    session.on('remoteSettings', ({ maxConcurrentStreams = MAX_STREAMS }: Settings) => {
      this.#limit = Math.min(maxConcurrentStreams, MAX_STREAMS);
      if (this.#isReady) return owner.onRoom();
      this.#isReady = true;
      owner.onReady(this);
    });
    session.on('goaway', () => this.#leave());
    session.on('error', (error: Error) => {
      this.#error = error;
    });
    session.on('close', () => this.#leave());
    // Of a TLS alert behind the handshake node:http2 says nothing, and it leaves the socket open: so answers a service that wants a certificate.
    socket.on('error', (error: Error) => {
      this.#error ??= error;
      socket.destroy();
      this.#leave();
    });
    // An idle connection is no reason for a process to stay.
    session.unref();
  }

  /** Whether it takes another stream now. */
  get hasRoom(): boolean {
    return this.isOpen && this.#streams < this.#limit;
  }

  get isOpen(): boolean {
    return this.#isReady && !this.#isLeaving && !this.#session.closed && !this.#session.destroyed;
  }

  /** The connection itself was lost. */
  get isLost(): boolean {
    return this.#session.destroyed;
  }

  /** WebSockets pass as streams of their own (RFC 8441). */
  get takesWebSockets(): boolean {
    return this.#session.remoteSettings.enableConnectProtocol === true;
  }

  /** Keeps room for a stream: `request` or `release` follows. */
  take(): void {
    this.hasServed = true;
    this.#streams++;
  }

  release(): void {
    this.#streams--;
    if (this.#streams === 0) this.#idleSinceMs = this.#owner.nowMs();
    this.#owner.onRoom();
  }

  /** Opens the stream that `take` has kept room for; it is released with its end. @throws when the connection takes no more. */
  request(fields: readonly string[], options: ClientSessionRequestOptions): ClientHttp2Stream {
    const stream = this.#session.request(grouped(fields), options);
    stream.once('close', () => this.release());
    return stream;
  }

  /** What has come on it so far. */
  get bytesRead(): number {
    return this.#socket.bytesRead;
  }

  /**
   * A request was given up without an answer, and nothing has come since `bytesRead` was `before`: the service may be slow, or the connection dead. Where
   * anything comes it is not asked: gRPC servers end connections on which clients ping often.
   */
  suspect(before: number): void {
    const nowMs = this.#owner.nowMs();
    if (before !== this.bytesRead) return;
    if (this.#awaitsPing || !this.isOpen || nowMs - this.#pingedMs < PING_PAUSE_MS) return;
    this.#pingedMs = nowMs;
    this.#awaitsPing = true;
    this.#session.ping(() => {
      this.#awaitsPing = false;
    });
  }

  sweep(nowMs: number): void {
    if (!this.#isReady && nowMs > this.#deadlineMs) return this.destroy();
    if (this.#awaitsPing && nowMs - this.#pingedMs > PING_MS) return this.destroy();
    if (this.#streams === 0 && this.#isReady && nowMs - this.#idleSinceMs > IDLE_MS) this.#session.close();
  }

  destroy(): void {
    this.#session.destroy();
  }

  #leave(): void {
    if (this.#isLeaving) return;
    this.#isLeaving = true;
    if (this.#isReady) this.#owner.onLeaving(this);
    else this.#owner.onFailed(this, this.#error);
  }
}

/** Fields as node:http2 takes them: the package `culvert` runs on versions that take no list. */
function grouped(fields: readonly string[]): OutgoingHttpHeaders {
  // A visitor may call a field `__proto__`.
  const out = Object.create(null) as Record<string, string | string[]>;
  for (let i = 0; i < fields.length; i += 2) {
    const [name, value] = [fields[i] as string, fields[i + 1] as string];
    const before = out[name];
    if (before === undefined) out[name] = value;
    else if (typeof before === 'string') out[name] = [before, value];
    else before.push(value);
  }
  return out;
}
