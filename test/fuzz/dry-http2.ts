/**
 * HTTP/2 streams on an edge without sockets: the real exchange with its head, body and response, on a stream that only remembers what was said
 * to it. What nghttp2 would refuse before comes here too: what it lets pass may change.
 */
import { EventEmitter } from 'node:events';
import { constants, type ServerHttp2Stream } from 'node:http2';
import { type WrittenHead, writeRequestHead } from '../../src/data/edge/h2-node/request-head.ts';
import { Http2Exchange } from '../../src/data/edge/h2-node/exchange.ts';
import type { DryEdge } from './dry-edge.ts';

export interface StreamCase {
  /** Names and values in turn, latin1. */
  readonly fields: readonly string[];
  /** DATA frames, latin1; null: the head has END_STREAM. */
  readonly data: readonly string[] | null;
  /** How it ends then. */
  readonly ends: 'end' | 'reset' | 'not';
}

class DryHttp2Stream extends EventEmitter {
  closed = false;
  destroyed = false;
  writableEnded = false;
  readonly readableLength = 0;
  rstCode = constants.NGHTTP2_NO_ERROR;
  /** Of final responses. */
  readonly statuses: string[] = [];
  body = '';

  respond(list: readonly string[], options: { endStream?: boolean }): void {
    this.statuses.push(list[1] ?? '');
    if (options.endStream === true) this.writableEnded = true;
  }

  additionalHeaders(): void {}

  sendTrailers(): void {}

  write(bytes: Buffer | string, done?: () => void): boolean {
    this.body += bytes.toString('latin1');
    done?.();
    return true;
  }

  end(): void {
    if (this.writableEnded) return;
    this.writableEnded = true;
    this.emit('finish');
  }

  close(code: number): void {
    if (this.closed) return;
    this.closed = true;
    this.rstCode = code;
  }

  pause(): void {}

  resume(): void {}

  cork(): void {}

  uncork(): void {}

  /** Nothing more will happen on it. */
  leave(): void {
    this.closed = this.destroyed = true;
    this.emit('close');
  }
}

/** Runs a stream; `serve` is called whenever the service may have something to read. What came back, at its end. */
export function runStream(
  edge: DryEdge,
  of: StreamCase,
  serve: () => void,
): { statuses: readonly string[]; body: string } {
  const headBuffer = edge.context.readBuffer;
  const written: WrittenHead = { length: 0, lines: 0, reason: '' };
  const exchange = new Http2Exchange({
    context: edge.context,
    origin: { ip: '127.0.0.1', tls: true, names: null, load: null },
    own: [],
    headBuffer,
    written,
    ranges: { held: 0 },
    useful: 0,
    readHead: (raw, isWhole) => {
      writeRequestHead(raw, isWhole, headBuffer, written);
      return Math.max(0, written.length);
    },
    bodyCame: () => {},
    left: () => {},
  });
  const stream = new DryHttp2Stream();
  const flags = of.data === null ? constants.NGHTTP2_FLAG_END_STREAM : 0;
  exchange.begin(stream as unknown as ServerHttp2Stream, flags, of.fields);
  serve();
  for (const piece of of.data ?? []) {
    if (stream.closed) break;
    stream.emit('data', Buffer.from(piece, 'latin1'));
    serve();
  }
  if (of.data !== null && of.ends === 'end' && !stream.closed) {
    stream.emit('end');
    serve();
  }
  if (of.ends === 'reset' && !stream.closed) {
    // Node tells of an end behind a reset with NO_ERROR.
    stream.closed = true;
    if (of.data !== null) stream.emit('end');
    serve();
  }
  const { statuses, body } = stream;
  stream.leave();
  return { statuses, body };
}
