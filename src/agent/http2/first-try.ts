/**
 * A connection in HTTP/1.1 to a service that may speak HTTP/2 alone (`--upstream-protocol auto`, without TLS). Its first bytes show which: a service
 * that begins with SETTINGS has read nothing of the request, which is sent once more in HTTP/2. Made by service.ts until that is known.
 */
import type { Socket } from 'node:net';
import { cutSocket } from '../../base/bytes/socket.ts';
import { beginsHttp2 } from '../local/begins-http2.ts';
import { EdgeSocket, type ResetPeer } from './edge-socket.ts';

/** Of a request, kept until the service has answered: one that is longer by then fails. */
const MAX_KEPT_BYTES = 65_536;

/** What is found out, and how to go on in HTTP/2. */
export interface TriedService {
  answered(protocol: 'http1' | 'http2'): void;
  socketOverHttp2(peer: ResetPeer | null): EdgeSocket;
}

export class FirstTry extends EdgeSocket {
  override readonly isProven = false;
  readonly #service: TriedService;
  #to: Socket | EdgeSocket;
  /** What was written so far; null: it is known what the service speaks, or it is too much. */
  #kept: Buffer[] | null = [];
  #keptBytes = 0;
  #isTrying = true;
  /** The write that the socket has yet to take. */
  #done: (() => void) | null = null;

  constructor(socket: Socket, service: TriedService) {
    super();
    this.#service = service;
    this.#to = socket;
    this.#follow(socket);
  }

  override _read(): void {
    this.#to.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#keep(chunk);
    this.#send(chunk, done);
  }

  override _final(done: () => void): void {
    this.#to.end();
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    // A service must not take a request that was cut for a whole one.
    cutSocket(this.#to as Socket);
    done(error);
  }

  #keep(chunk: Buffer): void {
    if (this.#kept === null) return;
    this.#keptBytes += chunk.length;
    if (this.#keptBytes > MAX_KEPT_BYTES) this.#kept = null;
    // The pipe reads into these bytes again.
    else this.#kept.push(Buffer.from(chunk));
  }

  #send(bytes: Buffer, done: (() => void) | null): void {
    const to = this.#to;
    this.#done = done;
    to.write(bytes, () => {
      // Of a socket that was left its error comes here too.
      if (to !== this.#to) return;
      const taken = this.#done;
      this.#done = null;
      taken?.();
    });
  }

  #follow(socket: Socket | EdgeSocket): void {
    socket.on('data', (bytes: Buffer) => {
      if (socket === this.#to) this.#received(bytes);
    });
    socket.on('end', () => {
      if (socket === this.#to) this.push(null);
    });
    socket.on('error', () => undefined); // its close follows
    socket.on('close', () => {
      if (socket === this.#to && !socket.readableEnded) this.destroy();
    });
  }

  #received(bytes: Buffer): void {
    if (this.#isTrying) {
      this.#isTrying = false;
      const kept = this.#kept;
      this.#kept = null;
      if (beginsHttp2(bytes, 0, bytes.length)) return this.#change(kept);
      this.#service.answered('http1');
    }
    if (!this.push(bytes)) this.#to.pause();
  }

  #change(kept: readonly Buffer[] | null): void {
    const before = this.#to;
    this.#service.answered('http2');
    if (kept === null) return void this.destroy();
    this.#to = this.#service.socketOverHttp2(this.peer);
    before.destroy();
    this.#follow(this.#to);
    this.#send(Buffer.concat(kept), this.#done);
  }
}
