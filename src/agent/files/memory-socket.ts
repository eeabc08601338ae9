/**
 * Both ends of a connection inside this process: the HTTP server of a folder has one, the pipe of a visitor's stream the other. No port
 * and no file is opened, so that nothing else on the machine can connect. Bytes are copied on the way in: a pipe overwrites its buffers.
 */
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/** What one end holds for the other before its writer waits. */
const HIGH_WATER_BYTES = 262_144;

export class MemorySocket extends Duplex {
  /** As net.Socket has it: it is always connected. */
  readonly connecting = false;
  #peer: MemorySocket | undefined;
  /** The writer's callback, while the other end has no room. */
  #waiting: (() => void) | undefined;

  constructor() {
    super({ readableHighWaterMark: HIGH_WATER_BYTES, writableHighWaterMark: HIGH_WATER_BYTES, allowHalfOpen: true });
  }

  /** `near` has the type of what a pipe reads and writes: it has all that is used of it there. */
  static pair(): { near: Socket; far: MemorySocket } {
    const near = new MemorySocket();
    const far = new MemorySocket();
    near.#peer = far;
    far.#peer = near;
    return { near: near as unknown as Socket, far };
  }

  setNoDelay(): this {
    return this;
  }

  /** The other end fails as that of a connection that was reset. */
  resetAndDestroy(): this {
    return this.destroy();
  }

  override _read(): void {
    const peer = this.#peer;
    if (peer !== undefined) peer.#goOn();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    const peer = this.#peer;
    if (peer === undefined || peer.destroyed) return done(brokenPipe());
    if (chunk.length === 0 || peer.push(Buffer.from(chunk))) return done();
    this.#waiting = done;
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#peer?.push(null);
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    const peer = this.#peer;
    this.#peer = undefined;
    this.#goOn();
    // Ended in order, it leaves to the other end what that has not read yet. Else its bytes are no whole message.
    if (peer !== undefined && !peer.destroyed && !this.writableFinished) peer.destroy(connectionReset());
    else if (peer !== undefined && !peer.writableFinished) peer.#goOn();
    done(error);
  }

  /** The other end has room, or reads no more. */
  #goOn(): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.();
  }
}

function connectionReset(): Error {
  return Object.assign(new Error('the connection was reset'), { code: 'ECONNRESET' });
}

function brokenPipe(): Error {
  return Object.assign(new Error('the other end is closed'), { code: 'EPIPE' });
}
