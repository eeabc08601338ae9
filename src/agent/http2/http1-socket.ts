/**
 * What a pipe takes for a connection to the service: requests that are written to it in the form of HTTP/1.1, one after the other, become streams of
 * the service's HTTP/2 connections, and their responses are read from it in that form. So all that looks on at bytes, the inspector and
 * replays, works as with a service that speaks HTTP/1.1. docs/decisions/0029-http2-to-services.md
 */
import { constants } from 'node:http2';
import type { Socket } from 'node:net';
import { cutSocket } from '../../base/bytes/socket.ts';
import { CutHead } from '../../http1/cut-head.ts';
import { INCOMPLETE, parseRequestHead } from '../../http1/head.ts';
import { EdgeSocket } from './edge-socket.ts';
import { type ExchangeOwner, ServiceExchange } from './exchange.ts';
import { noWebSockets, serviceRequest } from './messages.ts';
import type { StreamSource } from './source.ts';

export class Http1Socket extends EdgeSocket implements ExchangeOwner {
  override readonly isProven = true;
  readonly #service: StreamSource;
  #exchange: ServiceExchange | null = null;
  /** The beginning of a head that the end of a read has cut. */
  #part: Buffer | null = null;
  #cut: CutHead | null = null;
  /** The head of a WebSocket, until the service has answered it. */
  #upgrade: Buffer | null = null;
  /** The connection of a WebSocket for which HTTP/1.1 was needed, and what gives up the way there. */
  #detour: Socket | null = null;
  #giveUp: (() => void) | null = null;

  constructor(service: StreamSource) {
    super();
    this.#service = service;
  }

  override _read(): void {
    this.#exchange?.resume();
    this.#detour?.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (chunk.length === 0) return done();
    if (this.#detour !== null) return void this.#detour.write(chunk, () => done());
    if (this.#exchange !== null) return this.#exchange.send(chunk, 0, done);
    const part = this.#part;
    if (part === null) return this.#head(chunk, done);
    this.#part = this.#cut?.add(part, chunk, 0, chunk.length) ?? null;
    if (this.#part !== null) return done();
    this.#head(Buffer.concat([part, chunk]), done);
  }

  override _final(done: () => void): void {
    this.#exchange?.end();
    this.#detour?.end();
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#exchange?.cancel(this.peer?.resetCode ?? 0);
    this.#giveUp?.();
    if (this.#detour !== null) cutSocket(this.#detour);
    done(error);
  }

  answer(bytes: Buffer): boolean {
    return this.push(bytes);
  }

  onAnswered(): void {
    if (this.#exchange?.isSent === true) this.#exchange = null;
  }

  onRawEnd(): void {
    this.push(null);
  }

  /** Under `auto` the service may take it in HTTP/1.1. */
  onNoWebSockets(): void {
    const head = this.#upgrade;
    this.#exchange = this.#upgrade = null;
    if (head === null || !this.#service.mayTryHttp1) {
      this.push(noWebSockets());
      return;
    }
    this.#giveUp = this.#service.dialHttp1({
      onConnected: (socket) => this.#goOnBy(socket, head),
      onFault: () => this.onFailed(0),
    });
  }

  #goOnBy(socket: Socket, head: Buffer): void {
    this.#giveUp = null;
    this.#detour = socket;
    socket.on('data', (bytes: Buffer) => {
      if (!this.push(bytes)) socket.pause();
    });
    socket.on('end', () => this.push(null));
    socket.on('error', () => this.destroy());
    socket.on('close', () => {
      if (!socket.readableEnded) this.destroy();
    });
    socket.write(head);
  }

  onFailed(code: number): void {
    this.peer?.reset(code);
    this.destroy();
  }

  #head(bytes: Buffer, done: () => void): void {
    const { head } = this.#service;
    const end = parseRequestHead(bytes, 0, bytes.length, head);
    if (end === INCOMPLETE) {
      this.#cut ??= new CutHead(head.maxBytes);
      this.#part = this.#cut.keep(bytes, 0, bytes.length);
      return done();
    }
    if (end < 0) {
      this.onFailed(constants.NGHTTP2_PROTOCOL_ERROR);
      return done();
    }
    const request = serviceRequest(bytes, 0, head, this.#service.scheme);
    const exchange = new ServiceExchange(request, this.#service, this);
    this.#exchange = exchange;
    this.#upgrade = request.webSocketKey === null ? null : Buffer.from(bytes.subarray(0, end));
    exchange.begin();
    if (end < bytes.length) exchange.send(bytes, end, done);
    else done();
  }
}
