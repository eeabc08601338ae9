/**
 * A response in the form of HTTP/2 (RFC 9113 §8.3.2): HEADERS, the body as DATA, trailers behind it. What the response is was decided before:
 * see data/edge/exchange/response.ts.
 */
import type { Slab } from '../../../base/bytes/slab.ts';
import type { Head } from '../../../http1/head.ts';
import { equalsFolded, word } from '../../../http1/fields.ts';
import type { Http2Stream } from '../../../http2/types.ts';
import type { FaultParts } from '../../faults/fault.ts';
import type { FirstPart, ResponseSink } from '../exchange/response-sink.ts';

const NOTHING = Buffer.alloc(0);
/** Of an upgrade, for which HTTP/2 has a status of success (RFC 8441 §5). */
const SWITCHING = 101;
const OK = 200;
/** The proof of a key that the visitor never had: exchange/response.ts has checked it. */
const ACCEPT = word('sec-websocket-accept');
/** Trailers end with an empty line in HTTP/1.1. */
const CLOSING_BYTES = 2;

export class Http2Sink implements ResponseSink {
  readonly framesItself = true;
  /** RFC 9110 §15 has no others. */
  readonly maxStatus = 599;
  readonly #head: Head;
  readonly #exchange: { readonly isHead: boolean };
  readonly #onCredit: (bytes: number) => void;
  readonly #onGone: () => void;
  #stream: Http2Stream | null = null;
  /** The head said that there is no body, and that the stream ends. */
  #isBodiless = false;
  #trailer: Buffer | null = null;

  constructor(of: {
    head: Head;
    exchange: { readonly isHead: boolean };
    /** For bytes that go to no visitor. */
    onCredit: (bytes: number) => void;
    /** A head could not be sent: the stream was reset, and the fault is logged. */
    onGone: () => void;
  }) {
    this.#head = of.head;
    this.#exchange = of.exchange;
    this.#onCredit = of.onCredit;
    this.#onGone = of.onGone;
  }

  /** The response to come goes out on `stream`. */
  begin(stream: Http2Stream): void {
    this.#stream = stream;
    this.#isBodiless = false;
    this.#trailer = null;
  }

  /** Forgets the stream. */
  leave(): void {
    this.#stream = null;
    this.#trailer = null;
  }

  /** Bytes that the visitor has yet to take. */
  get backlog(): number {
    return this.#stream === null ? 0 : this.#stream.backlog;
  }

  interim(bytes: Buffer, _start: number, _headEnd: number, added: Buffer): number {
    const head = this.#head;
    if (head.status === SWITCHING) {
      head.status = OK;
      dropLine(bytes, head, ACCEPT);
    }
    return this.#respond(bytes, added, false);
  }

  final(bytes: Buffer, { headEnd, stop, added, credit, slab, isDone, trailer }: FirstPart): number {
    const head = this.#head;
    const { status } = head;
    // Its length would be that of a body which is not sent.
    if (status === 205 && head.contentLength >= 0) head.drop(head.lengthLine, head.lengthLineEnd);
    const isEmpty = isDone && stop === headEnd && trailer === null;
    this.#isBodiless = this.#exchange.isHead || isWithoutContent(status) || isEmpty;
    const count = this.#respond(bytes, added, this.#isBodiless);
    if (stop > headEnd && !this.#isBodiless) this.#stream?.push(bytes, headEnd, stop, credit, slab as Slab);
    else if (credit > 0) this.#onCredit(credit);
    if (trailer !== null) this.trailer(trailer);
    return count + (stop - headEnd) + (trailer?.length ?? 0);
  }

  #respond(bytes: Buffer, added: Buffer, isEnd: boolean): number {
    const stream = this.#stream;
    if (stream === null) return 0;
    const count = stream.respond(bytes, this.#head, added, isEnd);
    if (stream.gone) this.#onGone();
    return count;
  }

  body(bytes: Buffer, start: number, end: number, credit: number, slab: Slab): void {
    if (this.#isBodiless) this.#onCredit(credit);
    else this.#stream?.push(bytes, start, end, credit, slab);
  }

  trailer(trailer: Buffer): void {
    if (trailer.length > CLOSING_BYTES) this.#trailer = trailer.subarray(0, trailer.length - CLOSING_BYTES);
  }

  flush(): void {
    // The connection gathers what a turn brings by itself.
  }

  /** What the edge answers by itself, to its end. */
  fault({ status, fields, body }: FaultParts): void {
    this.#isBodiless = true;
    this.#stream?.answer(status, fields, this.#exchange.isHead ? NOTHING : body, true);
  }

  /** The response is complete. */
  end(): void {
    if (this.#isBodiless) return;
    if (this.#trailer === null) this.#stream?.end();
    else this.#stream?.trailers(this.#trailer);
  }
}

/** Statuses that no body follows: 205 has no content either (RFC 9110 §15.3.6). */
function isWithoutContent(status: number): boolean {
  return status === 204 || status === 205 || status === 304;
}

/** Leaves out the lines that are called `name`. */
function dropLine(bytes: Buffer, head: Head, name: Uint8Array): void {
  for (let l = 0; l < head.lineCount; l++) {
    const start = head.lines[l] as number;
    const colon = start + name.length;
    if (bytes[colon] === 58 && equalsFolded(bytes, start, colon, name)) head.drop(start, head.lines[l + 1] as number);
  }
}
