/**
 * A response in the form of HTTP/2 (RFC 9113 §8.3.2): the head as a list of fields, the body as data, trailers behind it. What the response is
 * was decided before: see data/edge/exchange/response.ts.
 */
import type { ServerHttp2Stream } from 'node:http2';
import type { Slab } from '../../../base/bytes/slab.ts';
import type { Head } from '../../../http1/head.ts';
import type { FaultParts } from '../../faults/fault.ts';
import type { FirstPart, ResponseSink } from '../exchange/response-sink.ts';
import { addLine } from './fields.ts';
import { type HeldRanges, StreamWriter } from './stream-writer.ts';

export class Http2Sink implements ResponseSink {
  readonly framesItself = true;
  /** Node sends no others (RFC 9110 §15 has none). */
  readonly maxStatus = 599;
  readonly #head: Head;
  readonly #exchange: { readonly isHead: boolean };
  readonly #stream: ServerHttp2Stream;
  readonly #writer: StreamWriter;
  readonly #onCredit: (bytes: number) => void;
  readonly #onFault: (error: unknown) => void;
  /** The head said that there is no body. */
  #isBodiless = false;
  #trailers: Record<string, string[]> | null = null;
  #isComplete = false;

  constructor(of: {
    stream: ServerHttp2Stream;
    head: Head;
    exchange: { readonly isHead: boolean };
    ranges: HeldRanges;
    onCredit: (bytes: number) => void;
    /** An error outside of any call. */
    onFault: (error: unknown) => void;
  }) {
    this.#stream = of.stream;
    this.#head = of.head;
    this.#exchange = of.exchange;
    this.#onCredit = of.onCredit;
    this.#onFault = of.onFault;
    this.#writer = new StreamWriter(of.stream, of.ranges, of.onCredit);
  }

  /** The visitor has reset the stream: Node throws on any write to it. */
  get #isOver(): boolean {
    return this.#stream.destroyed || this.#stream.closed;
  }

  /** Bytes that the visitor has yet to take. */
  get backlog(): number {
    return this.#writer.backlog;
  }

  /** What they take of the memory. */
  get heldBytes(): number {
    return this.#writer.heldBytes;
  }

  interim(bytes: Buffer): number {
    if (this.#isOver) return 0;
    const list: string[] = [];
    const count = this.#addFields(bytes, list);
    const fields: Record<string, string | number | string[]> = { ':status': this.#head.status };
    for (const [name, values] of Object.entries(grouped(list))) fields[name] = values;
    this.#stream.additionalHeaders(fields);
    return count;
  }

  final(bytes: Buffer, { headEnd, stop, added, credit, slab, isDone, trailer }: FirstPart): number {
    const head = this.#head;
    const list = [':status', String(head.status)];
    const count = this.#addFields(bytes, list) + (added.length === 0 ? 0 : addLines(added, list));
    // Its length would be that of a body which is not sent.
    if (head.status === 205) dropField('content-length', list);
    if (trailer !== null) this.trailer(trailer);
    this.#respond(list, {
      isBodiless:
        this.#exchange.isHead || isWithoutContent(head.status) || (isDone && stop === headEnd && trailer === null),
      isWhole: isDone && trailer === null,
    });
    if (stop > headEnd && !this.#isBodiless) this.#writer.push(bytes, headEnd, stop, credit, slab as Slab);
    else if (credit > 0) this.#onCredit(credit);
    return count + (stop - headEnd) + (trailer?.length ?? 0);
  }

  body(bytes: Buffer, start: number, end: number, credit: number, slab: Slab): void {
    if (this.#isBodiless) this.#onCredit(credit);
    else this.#writer.push(bytes, start, end, credit, slab);
  }

  trailer(trailer: Buffer): void {
    const list: string[] = [];
    addLines(trailer, list);
    if (list.length > 0) this.#trailers = grouped(list);
  }

  flush(): void {
    // The writer never waits for more.
  }

  /** What the edge answers by itself, to its end. */
  fault({ status, fields, body }: FaultParts): void {
    const list = [':status', String(status)];
    for (const field of fields) addLine(field, list);
    this.#respond(list, { isBodiless: this.#exchange.isHead, isWhole: true });
    if (!this.#isBodiless && !this.#isOver) this.#stream.write(body);
    this.end();
  }

  /** The response is complete. */
  end(): void {
    this.#isComplete = true;
    if (!this.#isBodiless) this.#writer.end();
  }

  drop(): void {
    this.#writer.drop();
  }

  /**
   * `isWhole`: the body is here. Else the end is sent with the trailers, for a stream that Node resets may have been ended before: half an
   * answer would pass for a whole one.
   */
  #respond(list: string[], of: { isBodiless: boolean; isWhole: boolean }): void {
    this.#isBodiless = of.isBodiless;
    if (this.#isOver) return;
    const waitForTrailers = !of.isWhole && !of.isBodiless;
    if (waitForTrailers) this.#stream.once('wantTrailers', () => this.#sendTrailers());
    // `sendDate`: a service that says no date has its reasons; HTTP/1.1 adds none either.
    const options = { endStream: of.isBodiless, waitForTrailers, sendDate: false };
    this.#stream.respond(list, options);
    // Node knows a HEAD also where the parser refused it.
    if (this.#stream.writableEnded) this.#isBodiless = true;
  }

  #sendTrailers(): void {
    if (!this.#isComplete || this.#isOver) return;
    try {
      this.#stream.sendTrailers(this.#trailers ?? {});
    } catch (error) {
      this.#onFault(error);
    }
  }

  /** The parsed head's lines without what is left out of them. Answers their bytes. */
  #addFields(bytes: Buffer, list: string[]): number {
    const { lines, lineCount, drops, dropCount } = this.#head;
    let count = 0;
    let d = 0;
    for (let l = 0; l < lineCount; l++) {
      const end = (lines[l + 1] as number) - 2;
      let from = lines[l] as number;
      let line = '';
      while (d < dropCount && (drops[2 * d] as number) < end) {
        line += bytes.toString('latin1', from, drops[2 * d]);
        from = drops[2 * d + 1] as number;
        d++;
      }
      if (from < end) line += bytes.toString('latin1', from, end);
      if (line !== '') count += addLine(line, list);
    }
    return count;
  }
}

/** Statuses after which an HTTP/2 stream ends (node:http2 ends it by itself): 205 too, which has no content either (RFC 9110 §15.3.6). */
function isWithoutContent(status: number): boolean {
  return status === 204 || status === 205 || status === 304;
}

function dropField(name: string, list: string[]): void {
  for (let i = list.length - 2; i >= 0; i -= 2) if (list[i] === name) list.splice(i, 2);
}

/** Whole lines, each with its CR LF. */
function addLines(bytes: Buffer, list: string[]): number {
  let count = 0;
  for (const line of bytes.toString('latin1').split('\r\n')) if (line !== '') count += addLine(line, list);
  return count;
}

/** As node:http2 takes fields where it takes no list. */
function grouped(list: readonly string[]): Record<string, string[]> {
  // A service may call a field `__proto__`.
  const out = Object.create(null) as Record<string, string[]>;
  for (let i = 0; i < list.length; i += 2) {
    const values = (out[list[i] as string] ??= []);
    values.push(list[i + 1] as string);
  }
  return out;
}
