/**
 * Joins a socket and a multiplexed stream as raw bytes, both ways: back-pressure, half-close, resets and counters. Used by the
 * agent (service), by tcp tunnels and by connections that were upgraded.
 */
import type { Socket } from 'node:net';
import { Clearance } from './clearance.ts';
import type { Slab, SlabPool } from './slab.ts';
import { type PipeInput, PipeReader } from './pipe-reader.ts';
import { cutSocket, readInto, resumeReading } from './socket.ts';
import { SocketWriter } from './socket-writer.ts';
import type { TurnEnd } from '../process/turn.ts';

/** What the pipe needs of a stream; mux/stream.ts has it. Kept as an interface: base knows no multiplexer. */
export interface PipeStream {
  sink: PipeSink;
  readonly session: { readonly readSlab: Slab };
  readonly gone: boolean;
  write(bytes: Uint8Array, start: number, end: number): boolean;
  donate(slab: Slab, length: number): boolean | null;
  clear(): void;
  consumed(bytes: number): void;
  end(): void;
  /** `code`: why, as an error code of HTTP/2; 0: not said. */
  reset(code?: number): void;
}

export interface PipeSink {
  onData(stream: unknown, bytes: Buffer, start: number, end: number): void;
  onEnd(stream: unknown): void;
  onReset(stream: unknown): void;
  onDrain(stream: unknown): void;
}

/** Plain numbers that the pipe adds to while bytes flow. */
export interface PipeMeter {
  /** From the socket into the stream. */
  fromSocket: number;
  /** From the stream into the socket. */
  toSocket: number;
}

export interface PipeOptions {
  readonly turn: TurnEnd;
  readonly slabs: SlabPool;
  readonly meter: PipeMeter;
  /** The socket is a TLSSocket. */
  readonly tls: boolean;
  /** Notifies the stream's peer when nothing waits behind what the socket has sent: it ends messages by that. */
  readonly saysClear?: boolean;
  /** Called once when both directions are over or either side broke. */
  readonly onClose?: () => void;
}

export class Pipe implements PipeSink, PipeInput {
  readonly #stream: PipeStream;
  readonly #socket: Socket;
  readonly #writer: SocketWriter;
  readonly #meter: PipeMeter;
  readonly #slabs: SlabPool;
  readonly #onClose: (() => void) | undefined;
  readonly #clearance: Clearance | null;
  /** One read of a TLSSocket does not show that there is no more. */
  readonly #isTls: boolean;
  #reader: PipeReader | null = null;
  #closed = false;
  #socketEnded = false;
  /** Set whenever bytes flow; an owner with an idle limit reads and clears it. */
  busy = true;

  /**
   * Takes the socket's 'end', 'error' and 'close'. Its reads are directed here by `read`, or by the owner to `fromSocket` where
   * the socket is read already.
   */
  constructor(stream: PipeStream, socket: Socket, options: PipeOptions) {
    this.#stream = stream;
    this.#socket = socket;
    this.#meter = options.meter;
    this.#slabs = options.slabs;
    this.#onClose = options.onClose;
    this.#writer = new SocketWriter(socket, {
      tls: options.tls,
      slabs: options.slabs,
      turn: options.turn,
      onCredit: (bytes) => this.#stream.consumed(bytes),
    });
    this.#isTls = options.tls;
    this.#clearance = options.saysClear === true ? new Clearance(options.turn, () => this.#clear()) : null;
    stream.sink = this;
    socket.on('end', () => {
      this.#socketEnded = true;
      stream.end();
    });
    socket.on('error', () => this.#socketGone());
    socket.on('close', () => this.#socketGone());
  }

  /** Starts reading the socket, into `shared` unless a download runs. */
  read(shared: Buffer): void {
    this.#reader = new PipeReader(this, shared, this.#slabs);
    readInto(this.#socket, this.#reader);
  }

  donate(slab: Slab, count: number): boolean | null {
    const goOn = this.#stream.donate(slab, count);
    if (goOn === null) return null;
    this.busy = true;
    this.#meter.fromSocket += count;
    return goOn;
  }

  /** Read callback of the socket: false pauses it until the stream has room again. */
  fromSocket(bytes: Buffer, start: number, count: number): boolean {
    this.busy = true;
    this.#meter.fromSocket += count;
    return this.#stream.write(bytes, start, start + count);
  }

  passed(wasShort: boolean, goesOn: boolean): void {
    const clearance = this.#clearance;
    if (clearance === null) return;
    if (goesOn && wasShort && !this.#isTls) {
      clearance.cancel();
      this.#stream.clear();
    } else if (goesOn) clearance.ask();
    else clearance.cancel();
  }

  onData(_stream: unknown, bytes: Buffer, start: number, end: number): void {
    this.busy = true;
    this.#meter.toSocket += end - start;
    this.#writer.push(bytes, start, end, end - start, this.#stream.session.readSlab);
  }

  onEnd(): void {
    this.#writer.end();
  }

  onReset(): void {
    // What arrived before the reset still goes: a service may answer and cut in one breath, and the answer says why.
    this.#writer.flush();
    this.destroy();
  }

  onDrain(): void {
    resumeReading(this.#socket);
    this.#clearance?.ask();
  }

  /** Cuts both sides. */
  destroy(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#writer.drop();
    this.#stream.reset();
    // RST rather than FIN towards the socket: its peer must not take a cut stream for a complete one.
    cutSocket(this.#socket);
    this.#reader?.close();
    this.#onClose?.();
  }

  #clear(): void {
    if (!this.#closed) this.#stream.clear();
  }

  #socketGone(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#writer.drop();
    this.#socket.destroy();
    this.#reader?.close();
    if (this.#socketEnded) {
      // Its last bytes and FIN may still wait for the window (a service that answers 413 and closes in the middle of an upload):
      // they go out; what comes towards the closed socket is swallowed until the peer ends too.
      this.#stream.sink = swallow;
    } else {
      this.#stream.reset();
    }
    this.#onClose?.();
  }
}

const swallow: PipeSink = {
  onData: (stream, _bytes, start, end) => (stream as PipeStream).consumed(end - start),
  onEnd: () => {},
  onReset: () => {},
  onDrain: () => {},
};
