/**
 * Reads of a pipe's socket. Usually into a buffer shared by all sockets of the thread, from where the multiplexer copies; while a
 * download runs, into slabs that are handed to the multiplexer whole, which saves that copy (a tenth of the agent's time per GB).
 */
import type { Slab, SlabPool } from './slab.ts';
import type { ReadTarget } from './socket.ts';

/** A read this long is a download: the next one goes into a slab of its own. Two thirds of what services send at full speed. */
const BULK_READ = 131_072;
/** Shorter reads are copied even then: a slab is one write to the server, and small writes cost more than copies. */
const DONATE_FROM = 65_536;

/** Where the bytes go; base/bytes/pipe.ts. */
export interface PipeInput {
  fromSocket(bytes: Buffer, start: number, count: number): boolean;
  /** Takes the slab, or answers null and leaves it. */
  donate(slab: Slab, count: number): boolean | null;
  /** A read was passed on. `wasShort`: its buffer had room for more, so the kernel had no more. `goesOn`: the socket is read on. */
  passed(wasShort: boolean, goesOn: boolean): void;
}

export class PipeReader implements ReadTarget {
  readonly #pipe: PipeInput;
  readonly #shared: Buffer;
  readonly #slabs: SlabPool;
  /** The slab that the socket reads into now; null: the shared buffer. */
  #own: Slab | null = null;
  #lastRead = 0;

  constructor(pipe: PipeInput, shared: Buffer, slabs: SlabPool) {
    this.#pipe = pipe;
    this.#shared = shared;
    this.#slabs = slabs;
  }

  view(): Buffer {
    if (this.#lastRead < BULK_READ) {
      this.close();
      return this.#shared;
    }
    this.#own ??= this.#slabs.take();
    return this.#own.body;
  }

  filled(count: number): boolean {
    this.#lastRead = count;
    const view = this.#own?.body ?? this.#shared;
    const goOn = this.#passOn(count);
    this.#pipe.passed(count < view.length, goOn);
    return goOn;
  }

  chunk(bytes: Buffer): boolean {
    const goOn = this.#pipe.fromSocket(bytes, 0, bytes.length);
    this.#pipe.passed(false, goOn);
    return goOn;
  }

  #passOn(count: number): boolean {
    const own = this.#own;
    if (own === null) return this.#pipe.fromSocket(this.#shared, 0, count);
    if (count >= DONATE_FROM) {
      const goOn = this.#pipe.donate(own, count);
      if (goOn !== null) {
        this.#own = null;
        return goOn;
      }
    }
    return this.#pipe.fromSocket(own.body, 0, count);
  }

  /** Gives its slab back. The socket must read no more, or ask `view` first. */
  close(): void {
    this.#own?.retire();
    this.#own = null;
  }
}
