/** For tests of this folder: a visitor that speaks frames, over a socket that is none. */
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import { SlabPool } from '../../base/bytes/slab.ts';
import { TurnEnd } from '../../base/process/turn.ts';
import { WindowBudget } from '../../mux/window.ts';
import { HeadScratch } from '../request-head.ts';
import type { Http2Limits, Http2Offence, Http2Stream, Http2StreamSink, Http2User, RequestHead } from '../types.ts';
import { Http2ServerConnection } from './connection.ts';
import { FLAG, HEADER_BYTES, PREFACE, readLength, readNumber, readUint32, TYPE, writeHeader } from './frame.ts';
import { BufferPool } from './sending/out-buffer.ts';

export const LIMITS: Http2Limits = { maxStreams: 100, resetsPerSecond: 20, headBytes: 32_768, headFields: 200 };
const EMPTY = Buffer.alloc(0);

export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly id: number;
  readonly payload: Buffer;
}

export function frame(type: number, flags: number, id: number, payload: Uint8Array = EMPTY): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES + payload.length);
  writeHeader(bytes, 0, type, flags, id, payload.length);
  bytes.set(payload, HEADER_BYTES);
  return bytes;
}

export function numbers(...values: number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  values.forEach((value, i) => bytes.writeUInt32BE(value, 4 * i));
  return bytes;
}

/** Settings, each as its number and its value. */
export function settings(...entries: Array<readonly [number, number]>): Buffer {
  const bytes = Buffer.alloc(6 * entries.length);
  entries.forEach(([id, value], i) => {
    bytes.writeUInt16BE(id, 6 * i);
    bytes.writeUInt32BE(value, 6 * i + 2);
  });
  return frame(TYPE.settings, 0, 0, bytes);
}

/** A block of literals that are not indexed. */
export function block(fields: Readonly<Record<string, string>>): Buffer {
  const parts: Buffer[] = [];
  for (const [name, value] of Object.entries(fields)) {
    parts.push(Buffer.from([0]), text(name), text(value));
  }
  return Buffer.concat(parts);
}

function text(value: string): Buffer {
  if (value.length > 126) {
    const more = value.length - 127;
    return Buffer.concat([Buffer.from([127, (more & 127) | 128, more >>> 7]), Buffer.from(value, 'latin1')]);
  }
  return Buffer.concat([Buffer.from([value.length]), Buffer.from(value, 'latin1')]);
}

export function requestBlock(more: Readonly<Record<string, string>> = {}): Buffer {
  return block({ ':method': 'GET', ':scheme': 'https', ':path': '/', ':authority': 'a.example', ...more });
}

/** HEADERS of a request; with `isEnd` it is whole. */
export function request(id: number, isEnd = true, more: Readonly<Record<string, string>> = {}): Buffer {
  return frame(TYPE.headers, FLAG.endHeaders | (isEnd ? FLAG.endStream : 0), id, requestBlock(more));
}

export class FakeSocket extends EventEmitter {
  readonly encrypted = true;
  writableEnded = false;
  destroyed = false;
  /** Number of `write` calls. */
  writes = 0;
  written: Buffer = EMPTY;
  /** False: writes stay under way until `finish`. */
  isFast = true;
  isPaused = false;
  #done: (() => void) | null = null;

  get writableLength(): number {
    return this.#done === null ? 0 : 1;
  }

  write(bytes: Buffer, done: () => void): boolean {
    this.writes++;
    // A copy: an encrypted write leaves the buffer to its owner.
    this.written = Buffer.concat([this.written, bytes]);
    this.#done = done;
    if (this.isFast) setImmediate(() => this.finish());
    return true;
  }

  finish(): void {
    const done = this.#done;
    this.#done = null;
    done?.();
  }

  pause(): this {
    this.isPaused = true;
    return this;
  }

  end(): void {
    this.writableEnded = true;
  }

  destroy(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.emit('close');
  }
}

/** The calls of a stream's sink, in order. */
export class Log implements Http2StreamSink {
  readonly events: string[] = [];
  readonly #pieces: Buffer[] = [];
  credit = 0;
  /** Bytes are consumed as they come. */
  isHungry = true;
  onDataHook: ((stream: Http2Stream) => void) | null = null;

  get body(): Buffer {
    return Buffer.concat(this.#pieces);
  }

  onData(stream: Http2Stream, bytes: Buffer, start: number, end: number): void {
    this.#pieces.push(Buffer.from(bytes.subarray(start, end)));
    if (this.isHungry) stream.consumed(end - start);
    this.onDataHook?.(stream);
  }
  onTrailers(_stream: Http2Stream, bytes: Buffer, start: number, end: number): void {
    this.events.push(`trailers ${bytes.toString('latin1', start, end)}`);
  }
  onEnd(): void {
    this.events.push('end');
  }
  onCredit(_stream: Http2Stream, credit: number): void {
    this.credit += credit;
  }
  onReset(_stream: Http2Stream, code: number): void {
    this.events.push(`reset ${code}`);
  }
  onDone(): void {
    this.events.push('done');
  }
}

export interface Taken {
  readonly stream: Http2Stream;
  readonly head: string;
  readonly reason: string;
  readonly isWhole: boolean;
  readonly log: Log;
}

/** Keeps all calls. */
export class KeepingUser implements Http2User {
  readonly requests: Taken[] = [];
  readonly offences: Http2Offence[] = [];
  readonly faults: unknown[] = [];
  closes = 0;
  ends = 0;
  /** Called with each request. */
  handle: ((taken: Taken) => void) | null = null;

  onRequest(stream: Http2Stream, head: RequestHead, isWhole: boolean): void {
    const log = new Log();
    stream.sink = log;
    const taken = {
      stream,
      head: head.bytes.toString('latin1', head.start, head.end),
      reason: head.reason,
      isWhole,
      log,
    };
    this.requests.push(taken);
    this.handle?.(taken);
  }
  onOffence(reason: Http2Offence): void {
    this.offences.push(reason);
  }
  onVisitorEnd(): void {
    this.ends++;
  }
  onClose(): void {
    this.closes++;
  }
  onFault(error: unknown): void {
    this.faults.push(error);
  }
}

export class FakeClock implements Clock {
  ms = 1_000;
  now(): number {
    return this.ms;
  }
  monotonic(): number {
    return this.ms;
  }
}

export class Visitor {
  readonly socket = new FakeSocket();
  readonly user = new KeepingUser();
  readonly clock = new FakeClock();
  readonly slabs = new SlabPool();
  readonly budget = new WindowBudget(64 << 20);
  readonly pool = new BufferPool();
  readonly connection: Http2ServerConnection;
  #read = 0;

  constructor({ limits = LIMITS, holdBytes }: { limits?: Http2Limits; holdBytes?: number } = {}) {
    const socket = this.socket as unknown as Socket;
    this.connection = new Http2ServerConnection(socket, this.user, {
      limits,
      turn: new TurnEnd(),
      budget: this.budget,
      pool: this.pool,
      head: new HeadScratch(limits),
      readBuffer: Buffer.alloc(65_536),
      clock: this.clock,
      ...(holdBytes === undefined ? {} : { holdBytes }),
    });
    this.connection.start();
  }

  /** The `n`th request, from the end if below 0. */
  taken(n: number): Taken {
    const taken = this.user.requests.at(n);
    if (taken === undefined) throw new Error('there is no such request');
    return taken;
  }

  /** As one read. */
  send(...parts: Buffer[]): void {
    this.socket.emit('data', Buffer.concat(parts));
  }

  /** Preface and settings. */
  greet(...entries: Array<readonly [number, number]>): void {
    this.send(PREFACE, settings(...entries));
  }

  /** The frames that were written since the last call. */
  frames(): Frame[] {
    const { written } = this.socket;
    const frames: Frame[] = [];
    while (written.length - this.#read >= HEADER_BYTES) {
      const at = this.#read;
      const start = at + HEADER_BYTES;
      const payload = written.subarray(start, start + readLength(written, at));
      this.#read = start + payload.length;
      const id = readNumber(written, at + 5);
      frames.push({ type: written[at + 3] as number, flags: written[at + 4] as number, id, payload });
    }
    return frames;
  }

  /** The same, of one type, after the turns that are under way. */
  async framesOf(type: number): Promise<Frame[]> {
    await turns();
    return this.frames().filter((frame) => frame.type === type);
  }

  /** The code of the GOAWAY that was written last; -1: none. */
  async goneCode(): Promise<number> {
    const goAways = await this.framesOf(TYPE.goAway);
    const last = goAways.at(-1);
    return last === undefined ? -1 : readUint32(last.payload, 4);
  }
}

/** Lets gathered writes go out, and end. */
export async function turns(count = 8): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
}
