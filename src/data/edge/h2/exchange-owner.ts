/** A visitor's connection, as the exchanges on it see it. */
import type { EdgeContext } from '../context.ts';
import type { VisitorOrigin } from '../forwarded.ts';
import type { OwnStreams } from '../upstream.ts';
import type { Http2Exchange } from './exchange.ts';
import type { WrittenHead } from './request-head.ts';
import type { HeldRanges } from './stream-writer.ts';

/** What the exchanges of a connection share. */
export interface ExchangeOwner {
  readonly context: EdgeContext;
  readonly origin: VisitorOrigin;
  readonly own: OwnStreams;
  /** Heads are written here for the parser. */
  readonly headBuffer: Buffer;
  readonly written: WrittenHead;
  readonly ranges: HeldRanges;
  /** Bytes that the visitor had a reason to send: heads, bodies, and one for so many that it has taken. */
  useful: number;
  /**
   * Writes a head of these fields into `headBuffer`, see request-head.ts. Answers its bytes on the wire, or -1: HPACK has expanded too much,
   * and the connection ends.
   */
  readHead(raw: readonly string[], isWhole: boolean): number;
  /** `bytes` of a body came. */
  bodyCame(bytes: number): void;
  /** The stream is closed and the exchange free for another one. `code`: with which it ended before its answer did and not by the edge's will. */
  left(exchange: Http2Exchange, code: number | null): void;
}
