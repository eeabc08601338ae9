/**
 * One visitor connection of a soak: sends a batch of requests, one after another or pipelined, reads the answers in order, breaks off where
 * a plan says so, and tells how each request ended.
 */
import { createHash, type Hash } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { SLOW_BYTES, SLOW_MS } from './origin.ts';
import type { Bodies, Plan } from './plan.ts';
import { type Response, ResponseReader } from './response-reader.ts';

export type Outcome =
  /** A whole response by its framing. `hash` is of the bytes that came. */
  | { readonly kind: 'complete'; readonly response: Response; readonly hash: string; readonly size: number }
  /** The connection ended before the response was whole: `heard` bytes of its body had come. */
  | { readonly kind: 'broken'; readonly heard: number; readonly why: string }
  /** By this visitor, as planned. */
  | { readonly kind: 'left' }
  /** What came was no HTTP, or nothing came at all for too long. */
  | { readonly kind: 'fault'; readonly why: string };

export interface Way {
  readonly port: number;
  readonly tls: boolean;
  readonly host: string;
  readonly pipelined: boolean;
}

/** Longer than anything here takes on a busy machine; a request that hangs is a finding. */
const PATIENCE_MS = 90_000;

export class VisitorConnection {
  readonly #way: Way;
  readonly #bodies: Bodies;
  readonly #socket: Socket;
  readonly #reader: ResponseReader;
  readonly #batch: readonly Plan[];
  readonly #outcomes: Outcome[] = [];
  readonly #done = Promise.withResolvers<readonly Outcome[]>();
  /** Resolved and renewed at each answer and at the end. */
  #moved = Promise.withResolvers<void>();
  #response: Response | undefined;
  #hash: Hash = createHash('sha256');
  #heard = 0;
  #over = false;

  constructor(way: Way, batch: readonly Plan[], bodies: Bodies) {
    this.#way = way;
    this.#batch = batch;
    this.#bodies = bodies;
    const { port, tls, host } = way;
    this.#socket = tls
      ? connectTls({
          host: '127.0.0.1',
          port,
          servername: host,
          rejectUnauthorized: false,
          ALPNProtocols: ['http/1.1'],
        })
      : connect({ host: '127.0.0.1', port });
    this.#socket.setNoDelay(true);
    this.#reader = new ResponseReader({
      onHead: (response) => (this.#response = response),
      onBody: (bytes) => this.#body(bytes),
      onComplete: () => this.#complete(),
    });
  }

  /** Resolves with an outcome for each request that was begun, in order. Never rejects. */
  async run(): Promise<readonly Outcome[]> {
    const socket = this.#socket;
    const timer = setTimeout(() => this.#finish({ kind: 'fault', why: 'nothing happened for too long' }), PATIENCE_MS);
    socket.on('data', (bytes: Buffer) => this.#read(bytes));
    socket.on('error', (error) => this.#broken(error.message));
    socket.on('end', () => {
      this.#reader.end();
      this.#broken('the connection was ended');
    });
    socket.on('close', () => this.#broken('the connection was closed'));
    void this.#write();
    const outcomes = await this.#done.promise;
    clearTimeout(timer);
    return outcomes;
  }

  get #current(): Plan | undefined {
    return this.#batch[this.#outcomes.length];
  }

  // --- sending

  async #write(): Promise<void> {
    for (const [index, plan] of this.#batch.entries()) {
      // What ends with a reset of the connection takes earlier answers with it that are still under way: they are waited for.
      const resets = plan.abort === 'visitor-up' || plan.downFraming === 'close';
      if (!this.#way.pipelined || resets) await this.#answered(index);
      if (this.#over) return;
      await this.#send(plan);
    }
  }

  async #answered(count: number): Promise<void> {
    while (this.#outcomes.length < count && !this.#over) await this.#moved.promise;
  }

  #move(): void {
    const { resolve } = this.#moved;
    this.#moved = Promise.withResolvers();
    resolve();
  }

  async #send(plan: Plan): Promise<void> {
    const body = this.#bodies.up(plan);
    const framing = plan.upFraming === 'length' ? `content-length: ${body.length}` : 'transfer-encoding: chunked';
    const head = `POST /soak/${plan.id} HTTP/1.1\r\nhost: ${this.#way.host}\r\nx-plan: ${plan.id}\r\n${framing}\r\n\r\n`;
    const stop = plan.abort === 'visitor-up' ? plan.abortAt : body.length;
    const slowly = plan.slow === 'visitor';
    const step = slowly ? SLOW_BYTES : 1 + ((plan.id * 6151) % 131_072);
    this.#socket.write(head, 'latin1');
    for (let at = 0; at < stop && !this.#over; at += step) {
      const part = body.subarray(at, Math.min(stop, at + step));
      const chunked = plan.upFraming === 'chunked';
      if (chunked) this.#socket.write(`${part.length.toString(16)}\r\n`, 'latin1');
      let flowing = this.#socket.write(part);
      if (chunked) flowing = this.#socket.write('\r\n', 'latin1');
      if (slowly) await pause(SLOW_MS);
      else if (!flowing) await this.#drained();
    }
    if (plan.abort === 'visitor-up') this.#leave(plan);
    else if (plan.upFraming === 'chunked' && !this.#over) this.#socket.write('0\r\n\r\n', 'latin1');
  }

  #drained(): Promise<void> {
    return new Promise((resolve) => {
      const go = (): void => {
        this.#socket.off('drain', go);
        this.#socket.off('close', go);
        resolve();
      };
      this.#socket.on('drain', go);
      this.#socket.on('close', go);
    });
  }

  /** Half of the visitors close the tab, the others fall off the network. */
  #leave(plan: Plan): void {
    this.#finish({ kind: 'left' }, plan.id % 2 === 0);
  }

  // --- reading

  #read(bytes: Buffer): void {
    if (this.#over) return;
    try {
      this.#reader.feed(bytes);
    } catch (error) {
      this.#finish({ kind: 'fault', why: error instanceof Error ? error.message : String(error) });
      return;
    }
    if (this.#current?.slow !== 'visitor' || this.#over) return;
    this.#socket.pause();
    setTimeout(() => this.#socket.resume(), SLOW_MS);
  }

  #body(bytes: Buffer): void {
    if (this.#over) return;
    this.#hash.update(bytes);
    this.#heard += bytes.length;
    const plan = this.#current;
    if (plan?.abort === 'visitor-down' && this.#heard >= plan.abortAt) this.#leave(plan);
  }

  #complete(): void {
    const response = this.#response;
    if (this.#over || response === undefined) return;
    if (this.#current === undefined) throw new Error('a response without a request');
    this.#outcomes.push({ kind: 'complete', response, hash: this.#hash.digest('base64'), size: this.#heard });
    this.#response = undefined;
    this.#hash = createHash('sha256');
    this.#heard = 0;
    this.#move();
    // An answer may say that it is the last: what was sent behind it was not looked at.
    const last = response.headers.get('connection') === 'close';
    if (last || this.#outcomes.length === this.#batch.length) this.#finish(undefined);
  }

  #broken(why: string): void {
    this.#finish({ kind: 'broken', heard: this.#heard, why });
  }

  #finish(last: Outcome | undefined, reset = false): void {
    if (this.#over) return;
    this.#over = true;
    if (last !== undefined) this.#outcomes.push(last);
    this.#move();
    if (reset && !this.#way.tls) this.#socket.resetAndDestroy();
    else this.#socket.destroy();
    this.#done.resolve(this.#outcomes);
  }
}
