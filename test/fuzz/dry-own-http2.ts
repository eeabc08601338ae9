/**
 * HTTP/2 streams of our own on an edge without sockets: HPACK, head, exchange, body and response, on a stream that only remembers what was said to
 * it. What the connection would refuse before, by the length of a body, is refused here as it does.
 */
import type { Head } from '../../src/http1/head.ts';
import type { Slab } from '../../src/base/bytes/slab.ts';
import { BufferPool } from '../../src/http2/connection/sending/out-buffer.ts';
import { Decoder } from '../../src/http2/decoder.ts';
import { HeadScratch } from '../../src/http2/request-head.ts';
import { CODE, type Http2Stream, type Http2StreamSink } from '../../src/http2/types.ts';
import { Http2Exchange } from '../../src/data/edge/h2/exchange.ts';
import { literals } from '../harness/h2-frames.ts';
import type { DryEdge } from './dry-edge.ts';
import type { StreamCase } from './dry-http2.ts';

const POOL = new BufferPool();
const HEAD = new HeadScratch({ headBytes: 32_768, headFields: 500 });

class DryStream implements Http2Stream {
  readonly id = 1;
  // Set by the exchange's owner before anything comes.
  sink!: Http2StreamSink;
  readonly priority = { urgency: 3, isIncremental: false };
  readonly backlog = 0;
  readonly heldBytes = 0;
  gone = false;
  ended = false;
  /** Of final responses. */
  readonly statuses: string[] = [];
  body = '';

  consumed(): void {}

  respond(_bytes: Buffer, head: Head): number {
    if (!this.gone && head.status >= 200) this.statuses.push(String(head.status));
    return 0;
  }

  answer(status: number, _fields: readonly string[], body: Buffer): void {
    if (this.gone) return;
    if (status >= 200) this.statuses.push(String(status));
    this.body += body.toString('latin1');
  }

  // oxlint-disable-next-line max-params -- as the contract has it
  push(bytes: Buffer, start: number, end: number, credit: number, _slab: Slab): void {
    if (this.gone) return;
    this.body += bytes.toString('latin1', start, end);
    this.sink.onCredit(this, credit);
  }

  trailers(): void {}

  end(): void {}

  endHalf(): void {}

  reset(): void {
    this.gone = true;
  }

  /** By the visitor, or for its doing. */
  leave(code: number): void {
    if (this.gone) return;
    this.gone = true;
    this.sink.onReset(this, code);
  }
}

/** Runs a stream; `serve` is called whenever the service may have something to read. What came back, at its end. */
export function runOwnStream(
  edge: DryEdge,
  of: StreamCase,
  serve: () => void,
): { statuses: readonly string[]; body: string } {
  const block = literals(pairs(of.fields));
  const stream = new DryStream();
  if (!new Decoder().decode(block, 0, block.length, HEAD)) return stream;
  HEAD.finish(of.data === null, block.length);
  const length = HEAD.reason === '' ? HEAD.contentLength : -1;
  const exchange = new Http2Exchange({
    context: edge.context,
    origin: { ip: '127.0.0.1', tls: true, names: null, load: null },
    own: [],
    pieces: POOL,
    expanded: () => true,
    left: () => {},
  });
  stream.sink = exchange;
  stream.ended = of.data === null;
  exchange.begin(stream, HEAD, of.data === null);
  serve();
  let received = 0;
  for (const piece of of.data ?? []) {
    const bytes = Buffer.from(piece, 'latin1');
    received += bytes.length;
    if (length >= 0 && received > length) stream.leave(CODE.protocol);
    if (stream.gone) break;
    if (bytes.length > 0) exchange.onData(stream, bytes, 0, bytes.length);
    serve();
  }
  if (of.data !== null && of.ends === 'end' && !stream.gone) {
    if (received < length) stream.leave(CODE.protocol);
    else {
      stream.ended = true;
      exchange.onEnd();
    }
    serve();
  }
  if (of.ends === 'reset') {
    stream.leave(CODE.none);
    serve();
  }
  const { statuses, body } = stream;
  stream.leave(CODE.cancel);
  return { statuses, body };
}

function pairs(fields: readonly string[]): Array<readonly [string, string]> {
  return Array.from({ length: fields.length / 2 }, (_, i) => [fields[2 * i] as string, fields[2 * i + 1] as string]);
}
