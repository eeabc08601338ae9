/** The streams of a connection: those that are open, a few that are over and wait for the next requests, and those that were left before their time. */
import { LeftStreams } from './left-streams.ts';
import { Http2ServerStream, type StreamHost } from './stream.ts';
import { StreamMap } from './stream-map.ts';

/** Of those that are over. While a write is under way a busy connection has twice as many streams as its visitor counts. */
const KEEP_STREAMS = 128;

export class StreamTable {
  readonly left = new LeftStreams();
  /** The highest stream that came; and that was taken. */
  last = 0;
  lastTaken = 0;
  /** The highest that was reset, by either side: all above it are open, have ended on both sides, or never came. */
  lastCut = 0;
  /** Of the open ones, those whose end is with the socket: to the visitor they may be over already. */
  handed = 0;
  readonly #host: StreamHost;
  readonly #open = new StreamMap();
  #free: Http2ServerStream[] = [];

  constructor(host: StreamHost) {
    this.#host = host;
  }

  get size(): number {
    return this.#open.size;
  }

  get(id: number): Http2ServerStream | undefined {
    return this.#open.get(id);
  }

  /** No visitor has used the number yet. */
  isIdle(id: number): boolean {
    return id > this.last || (id & 1) === 0;
  }

  begin(id: number, sendWindow: number, contentLength: number): Http2ServerStream {
    const stream = this.#free.pop() ?? new Http2ServerStream(this.#host);
    stream.begin(id, sendWindow, contentLength);
    this.#open.add(stream);
    this.lastTaken = id;
    return stream;
  }

  /** This side has refused it. `mayBring`: the visitor may have sent more of it before it knows. */
  refused(id: number, mayBring: boolean, bytes: number): void {
    this.lastCut = id;
    if (mayBring) this.left.add(id, bytes);
  }

  /** It is over. `mayBring` as above; `isCut`: not by the end of both sides. */
  forget(stream: Http2ServerStream, mayBring: boolean, isCut: boolean): void {
    if (!this.#open.delete(stream)) return;
    if (isCut && stream.id > this.lastCut) this.lastCut = stream.id;
    if (stream.isHanded) this.handed--;
    if (mayBring) this.left.add(stream.id, stream.window.left);
    stream.leave();
    if (this.#free.length < KEEP_STREAMS) this.#free.push(stream);
  }

  all(): Http2ServerStream[] {
    return this.#open.all();
  }

  /** The visitor's settings let it take `more` on each stream. False: one window is too large by it. */
  widen(more: number, max: number): boolean {
    for (const stream of this.#open.all()) {
      stream.sendWindow += more;
      if (stream.sendWindow > max) return false;
      if (more > 0) stream.windowGrew();
    }
    return true;
  }

  /** An idle connection keeps none for later. */
  trim(): void {
    if (this.#open.size > 0) return;
    if (this.#free.length > 0) this.#free = [];
    this.#open.trim();
  }
}
