/**
 * `traceparent` of W3C Trace Context (https://www.w3.org/TR/trace-context/#traceparent-header): read from bytes, and begun. It passes through as it
 * came: the edge writes no spans, so it is no parent of any.
 */
import { randomFillSync } from 'node:crypto';

const TRACE_AT = 3;
const PARENT_AT = 36;
const FLAGS_AT = 53;
const LENGTH = 55;
const DASH = 45;
/** `ff` is no version. */
const F = 102;
const ZERO = 48;

/** Bytes that are drawn at once: ids of 170 traces. */
const POOL_BYTES = 4_080;
const TRACE_BYTES = 16;
const PARENT_BYTES = 8;

/** The trace id in `bytes[start, end)`; '' where that is no valid traceparent. A later version may have more behind its flags. */
export function traceIdIn(bytes: Buffer, start: number, end: number): string {
  const length = end - start;
  if (length < LENGTH) return '';
  const isFirst = bytes[start] === ZERO && bytes[start + 1] === ZERO;
  if (isFirst ? length !== LENGTH : length > LENGTH && bytes[start + LENGTH] !== DASH) return '';
  if (bytes[start] === F && bytes[start + 1] === F) return '';
  for (let i = 0; i < LENGTH; i++) {
    const c = bytes[start + i] as number;
    const isDash = i === TRACE_AT - 1 || i === PARENT_AT - 1 || i === FLAGS_AT - 1;
    if (isDash ? c !== DASH : !isHex(c)) return '';
  }
  if (isZero(bytes, start + TRACE_AT, start + PARENT_AT - 1) || isZero(bytes, start + PARENT_AT, start + FLAGS_AT - 1))
    return '';
  return bytes.toString('latin1', start + TRACE_AT, start + PARENT_AT - 1);
}

/** Lower case alone: the specification allows no other. */
function isHex(c: number): boolean {
  return (c >= ZERO && c <= 57) || (c >= 97 && c <= F);
}

function isZero(bytes: Buffer, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (bytes[i] !== ZERO) return false;
  return true;
}

/** Begins traces. */
export class TraceIds {
  readonly #pool = Buffer.allocUnsafeSlow(POOL_BYTES);
  #at = POOL_BYTES;

  nextTrace(): string {
    return this.#next(TRACE_BYTES);
  }

  /**
   * The header line that begins this trace, with its CR LF. Sampled: a service that decides by its parent would else record nothing.
   */
  line(traceId: string): Buffer {
    return Buffer.from(`traceparent: 00-${traceId}-${this.#next(PARENT_BYTES)}-01\r\n`, 'latin1');
  }

  #next(length: number): string {
    if (this.#at + length > POOL_BYTES) {
      randomFillSync(this.#pool);
      this.#at = 0;
    }
    const at = this.#at;
    this.#at += length;
    return this.#pool.toString('hex', at, at + length);
  }
}
