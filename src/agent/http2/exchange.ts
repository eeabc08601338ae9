/**
 * One request and its response on a stream of the service: what comes from the edge in the form of HTTP/1.1 goes out in frames, and the other way
 * round. Back-pressure passes both ways: a piece of a body is taken when the service's window has taken it, and the stream is read as its socket is.
 * States: it waits for a connection → it is open → its stream is closed.
 */
import { type ClientHttp2Stream, constants } from 'node:http2';
import { BODY, Body, FRAMING } from '../../http1/body.ts';
import type { LocalFault } from '../local/local.ts';
import type { ServiceConnection } from './connection.ts';
import { chunkOf, fieldIn, framingOf, lastChunk, requestTrailers, responseHead, switchingHead } from './messages.ts';
import type { ResponseFraming, ServiceRequest } from './messages.ts';
import type { StreamSource } from './source.ts';

const {
  NGHTTP2_CANCEL,
  NGHTTP2_ENHANCE_YOUR_CALM,
  NGHTTP2_FLAG_END_STREAM,
  NGHTTP2_PROTOCOL_ERROR,
  NGHTTP2_REFUSED_STREAM,
} = constants;

/** A request that the service has not begun is sent once more. */
const MAX_TRIES = 2;

export interface ExchangeOwner {
  /** Bytes for the edge. False: `resume` follows. */
  answer(bytes: Buffer): boolean;
  /** The response is whole. */
  onAnswered(): void;
  /** A WebSocket: the service has ended its direction. */
  onRawEnd(): void;
  /** A WebSocket is asked for, and the service takes none on its HTTP/2 connections. */
  onNoWebSockets(): void;
  /** There will be no whole response. `code`: with which the service has reset the stream; 0: it has not. */
  onFailed(code: number): void;
}

export class ServiceExchange {
  readonly #request: ServiceRequest;
  readonly #service: StreamSource;
  readonly #owner: ExchangeOwner;
  readonly #body = new Body();
  #giveUp: (() => void) | null = null;
  #connection: ServiceConnection | null = null;
  #stream: ClientHttp2Stream | null = null;
  #tries = 0;
  /** What had come on the connection when the request went out. */
  #bytesBefore = 0;
  /** A piece of the body that came while the request waits for a connection. */
  #held: { readonly bytes: Buffer; readonly start: number; readonly taken: () => void } | null = null;
  #trailers: Record<string, string[]> | null = null;
  #framing: ResponseFraming = 'none';
  #left = 0;
  #lastFields: readonly string[] = [];
  /** The service has ended the response, and not just its stream. */
  #isEnded = false;
  #hasHead = false;
  #isOver = false;
  /** All of the request is written. */
  isSent: boolean;
  isAnswered = false;
  /** A WebSocket is open: bytes pass as they are. */
  #isRaw = false;

  constructor(request: ServiceRequest, service: StreamSource, owner: ExchangeOwner) {
    this.#request = request;
    this.#service = service;
    this.#owner = owner;
    this.isSent = !request.isChunked && request.contentLength === 0 && request.webSocketKey === null;
    this.#body.start(request.isChunked ? FRAMING.chunked : FRAMING.length, request.contentLength, true);
  }

  begin(): void {
    this.#tries++;
    this.#giveUp = this.#service.take({
      onConnection: (connection) => this.#open(connection),
      onHttp1: (socket) => {
        socket.destroy();
        this.#fail(0);
      },
      onFault: (_fault: LocalFault) => this.#fail(0),
    });
  }

  /** Sends `bytes[start, …)` of the body, and calls `taken` when the service has taken them. */
  send(bytes: Buffer, start: number, taken: () => void): void {
    const stream = this.#stream;
    if (this.isSent) {
      // The edge sends one request after the other.
      this.#fail(NGHTTP2_PROTOCOL_ERROR);
      return taken();
    }
    if (this.#mustWait) {
      this.#held = { bytes, start, taken };
      return;
    }
    if (this.#isRaw) return this.#write(stream, [bytes.subarray(start)], taken);
    const pieces: Buffer[] = [];
    for (let from = start; from < bytes.length; from = this.#body.next) {
      const state = this.#body.feed(bytes, from, bytes.length);
      if (state === BODY.bad || (state === BODY.done && this.#body.next < bytes.length)) {
        this.#fail(NGHTTP2_PROTOCOL_ERROR);
        return taken();
      }
      if (this.#body.stop > from) pieces.push(bytes.subarray(from, this.#body.stop));
      if (state !== BODY.done) continue;
      this.isSent = true;
      break;
    }
    this.#write(stream, pieces, taken);
    if (this.isSent && this.isAnswered) this.#owner.onAnswered();
  }

  /** There is no stream yet, or the service has yet to take the WebSocket. */
  get #mustWait(): boolean {
    if (this.#isOver) return false;
    return this.#stream === null || (this.#request.webSocketKey !== null && !this.#isRaw && !this.isAnswered);
  }

  /** The edge will send nothing more. */
  end(): void {
    if (this.#isRaw) this.#stream?.end();
  }

  /** The socket has room again. */
  resume(): void {
    this.#stream?.resume();
  }

  /** The edge has given it up. `code`: with which its visitor has reset the stream; 0: not said. */
  cancel(code: number): void {
    if (this.#isOver) return;
    this.#leave();
    if (!this.#hasHead) this.#connection?.suspect(this.#bytesBefore);
    const stream = this.#stream;
    if (stream !== null && !stream.closed) stream.close(code === 0 ? NGHTTP2_CANCEL : code);
  }

  // ------------------------------------------------------------------ to the service

  #open(connection: ServiceConnection): void {
    const { fields, isChunked, webSocketKey } = this.#request;
    this.#giveUp = null;
    if (webSocketKey !== null && !connection.takesWebSockets) {
      connection.release();
      this.#leave();
      return this.#owner.onNoWebSockets();
    }
    this.#connection = connection;
    let stream: ClientHttp2Stream;
    try {
      stream = connection.request(fields, { endStream: this.isSent, waitForTrailers: isChunked });
    } catch {
      connection.release();
      // It has just closed; else these are fields that HTTP/2 can't say.
      if (!connection.isOpen && this.#tries < MAX_TRIES) return this.begin();
      return this.#fail(NGHTTP2_PROTOCOL_ERROR);
    }
    this.#stream = stream;
    this.#bytesBefore = connection.bytesRead;
    this.#listen(stream);
    this.#sendHeld();
  }

  #sendHeld(): void {
    const held = this.#held;
    this.#held = null;
    if (held !== null) this.send(held.bytes, held.start, held.taken);
  }

  #write(stream: ClientHttp2Stream | null, pieces: Buffer[], taken: () => void): void {
    if (stream === null || stream.closed || stream.destroyed || stream.writableEnded) return taken();
    this.#trailers = this.isSent ? requestTrailers(this.#body.trailer) : null;
    const last = pieces.pop();
    for (const piece of pieces) stream.write(piece);
    // An error is one of the stream, which says so by its close.
    const done = (): void => taken();
    if (last === undefined) {
      if (this.isSent) stream.end();
      taken();
    } else if (this.isSent) stream.end(last, done);
    else stream.write(last, done);
  }

  #sendTrailers(stream: ClientHttp2Stream): void {
    if (stream.closed || stream.destroyed) return;
    try {
      stream.sendTrailers(this.#trailers ?? {});
    } catch {
      // Versions of Node for which the package `culvert` is made take some names once.
      this.#fail(NGHTTP2_PROTOCOL_ERROR);
    }
  }

  // ------------------------------------------------------------------ from the service

  #listen(stream: ClientHttp2Stream): void {
    noteEnd(stream, () => {
      this.#isEnded = true;
    });
    stream.on('headers', (_fields, _flags, raw) => this.#interim(raw));
    stream.on('response', (_fields, flags, raw) => this.#response(raw, flags));
    stream.on('trailers', (_fields, _flags, raw) => {
      this.#lastFields = raw;
    });
    stream.on('wantTrailers', () => this.#sendTrailers(stream));
    stream.on('data', (bytes: Buffer) => this.#data(bytes));
    stream.on('end', () => this.#end());
    stream.on('error', () => undefined); // its code comes with 'close'
    stream.on('close', () => this.#closed(stream));
  }

  #interim(raw: readonly string[]): void {
    if (this.#isOver || this.isAnswered) return;
    // A stream that is paused brings heads all the same.
    if (!this.#owner.answer(responseHead(raw, 'none', false))) this.#fail(NGHTTP2_ENHANCE_YOUR_CALM);
  }

  #response(raw: readonly string[], flags: number): void {
    if (this.#isOver) return;
    const status = Number(fieldIn(raw, ':status'));
    const { webSocketKey } = this.#request;
    if (webSocketKey !== null && status === 200) return this.#switched(raw, webSocketKey);
    const isBodiless = this.#request.isHead || status === 204 || status === 304;
    const isEnd = (flags & NGHTTP2_FLAG_END_STREAM) !== 0;
    this.#hasHead = true;
    this.#framing = framingOf(raw, isEnd, isBodiless);
    this.#left = this.#framing === 'length' ? Number(fieldIn(raw, 'content-length') ?? 0) : 0;
    this.#owner.answer(responseHead(raw, this.#framing, isEnd));
    if (this.#framing !== 'chunked' && this.#left === 0) this.#answered();
  }

  #switched(raw: readonly string[], key: string): void {
    this.#hasHead = this.#isRaw = true;
    this.#owner.answer(switchingHead(raw, key));
    this.#sendHeld();
  }

  #data(bytes: Buffer): void {
    if (this.#isOver || this.isAnswered || bytes.length === 0) return;
    const goesOn = this.#owner.answer(this.#framing === 'chunked' ? chunkOf(bytes) : bytes);
    if (!goesOn) this.#stream?.pause();
    if (this.#framing !== 'length') return;
    this.#left -= bytes.length;
    // The edge takes it for whole by its length: what may follow has no place there.
    if (this.#left <= 0) this.#answered();
  }

  /** Node says so of a stream that was reset with NO_ERROR too: half a response must not pass for a whole one. */
  #end(): void {
    if (this.#isOver || this.isAnswered || !this.#isEnded) return;
    if (this.#isRaw) return this.#owner.onRawEnd();
    if (this.#framing !== 'chunked') return;
    this.#owner.answer(lastChunk(this.#lastFields));
    this.#answered();
  }

  #answered(): void {
    this.isAnswered = true;
    this.#owner.onAnswered();
    this.#stream?.resume();
  }

  #closed(stream: ClientHttp2Stream): void {
    if (this.#isOver || stream !== this.#stream) return;
    if (this.isAnswered || (this.#isRaw && this.#isEnded && stream.rstCode === 0)) return this.#leave();
    const isLost = this.#connection?.isLost === true;
    const code = isLost ? 0 : stream.rstCode;
    if (this.#mayRepeat(code, isLost)) {
      this.#stream = this.#connection = null;
      return this.begin();
    }
    this.#fail(code);
  }

  /** A service that goes away refuses what it has not begun; one that restarts just closes. */
  #mayRepeat(code: number, isLost: boolean): boolean {
    const { isChunked, contentLength, isSafe } = this.#request;
    if (this.#hasHead || isChunked || contentLength > 0 || this.#tries >= MAX_TRIES) return false;
    return code === NGHTTP2_REFUSED_STREAM || (isLost && isSafe);
  }

  #fail(code: number): void {
    if (this.#isOver) return;
    this.cancel(code);
    this.#owner.onFailed(code);
  }

  #leave(): void {
    this.#isOver = true;
    this.#giveUp?.();
    this.#giveUp = null;
    const held = this.#held;
    this.#held = null;
    held?.taken();
  }
}

/**
 * Calls back when the peer ends `stream` in order. Node pushes the end of what can be read also when it was reset, and by then says that it is closed;
 * with NO_ERROR nothing else tells the two apart.
 */
function noteEnd(stream: ClientHttp2Stream, onEnd: () => void): void {
  const push = stream.push.bind(stream);
  let isFirst = true;
  stream.push = (chunk: unknown, encoding?: BufferEncoding) => {
    if (chunk === null && isFirst) {
      isFirst = false;
      if (!stream.closed) onEnd();
    }
    return push(chunk, encoding);
  };
}
