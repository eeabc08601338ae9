/**
 * Where a message's body ends (RFC 9112 §6, §7), followed over bytes cut anywhere, strictly: chunk sizes are hexadecimal digits
 * and CR LF and nothing else. Chunk extensions and forbidden trailers are not forwarded: `feed` stops before them, and the
 * caller forwards what lies between the stops. Chunk framing itself passes unchanged once it has been checked, unless payload alone is asked
 * for: then the bytes that were read are written over.
 */
import { CR, HEX, LF, TOKEN, VALUE } from './chars.ts';
import { FIELD, fieldOf, isForwardedName, REQUEST_NAMES } from './fields.ts';

/** Digits of a chunk size: 4 GB in one chunk is more than real peers send. */
const MAX_SIZE_DIGITS = 8;
/** All chunk extensions of one body, and its trailers. */
const MAX_EXTENSION_BYTES = 16_384;
const MAX_TRAILER_BYTES = 8_192;
/** Payload that is stripped of its framing is forwarded from where it lies when it is this long in one piece, else moved up to what came before. */
const MOVED_BYTES = 8_192;

export const FRAMING = { none: 0, length: 1, chunked: 2, untilClose: 3 } as const;
export type Framing = (typeof FRAMING)[keyof typeof FRAMING];

/** What `feed` came to. */
export const BODY = {
  /** All bytes up to `stop` belong to the body; more is to come. */
  more: 0,
  /** The body ends at `next`; forward up to `stop` and then `trailer`, if there is one. */
  done: 1,
  /** Forward up to `stop`, then go on from `next`: what lies between must not be forwarded. */
  cut: 2,
  /** Not a body that two readers would read alike. */
  bad: 3,
} as const;
export type BodyState = (typeof BODY)[keyof typeof BODY];

const S = {
  size: 0,
  extension: 1,
  sizeLf: 2,
  data: 3,
  dataCr: 4,
  dataLf: 5,
  trailerStart: 6,
  endLf: 7,
  trailers: 8,
} as const;
type ChunkState = (typeof S)[keyof typeof S];

/** Fields that frame, route or authenticate a message don't belong behind it (RFC 9110 §6.5.1). */
const FORBIDDEN_TRAILERS = new Set([
  ...[
    'authorization',
    'cookie',
    'set-cookie',
    'trailer',
    'content-type',
    'content-encoding',
    'content-range',
    'cache-control',
  ],
  ...[
    'location',
    'culvert-error',
    'www-authenticate',
    'range',
    'if-match',
    'if-none-match',
    'max-forwards',
    'vary',
    'date',
    'age',
  ],
]);
const SEMICOLON = 59;

/** Names that are not taken from behind a body; a policy's header rule. */
export interface TrailerRule {
  /** Whether the line that begins at `bytes[line]` has one of them. */
  isNamed(bytes: Buffer, line: number): boolean;
}

/** Hears of a body's payload, without what frames chunks, before it is forwarded. It must neither keep nor change the bytes. */
export interface BodyTap {
  /** `bytes[start, end)` is the next piece. */
  payload(bytes: Buffer, start: number, end: number): void;
}

export class Body {
  framing: Framing = FRAMING.none;
  stop = 0;
  next = 0;
  /** Trailers to forward behind `stop` once `feed` is done, closing line included; null when there are none. */
  trailer: Buffer | null = null;
  /** Forward payload only: for a visitor that speaks HTTP/1.0 and knows no chunks, or HTTP/2 and has frames. `trailer` gets its bytes all the same. */
  #strip = false;
  #rule: TrailerRule | null = null;
  /** Until the body is done: an idle connection holds no record. */
  #tap: BodyTap | null = null;
  #left = 0;
  #state: ChunkState = S.size;
  #digits = 0;
  #extensionBytes = 0;
  #trailerBytes: Buffer | null = null;

  start(
    framing: Framing,
    length: number,
    strip = false,
    rule: TrailerRule | null = null,
    tap: BodyTap | null = null,
  ): void {
    this.framing = framing === FRAMING.length && length === 0 ? FRAMING.none : framing;
    this.trailer = null;
    this.#strip = strip;
    this.#rule = rule;
    this.#tap = this.framing === FRAMING.none ? null : tap;
    this.#left = framing === FRAMING.length ? length : 0;
    this.#state = S.size;
    this.#digits = this.#extensionBytes = 0;
    this.#trailerBytes = null;
  }

  /** Reads `bytes[start, end)`; see BODY for what `stop` and `next` then mean. */
  feed(bytes: Buffer, start: number, end: number): BodyState {
    switch (this.framing) {
      case FRAMING.none:
        this.stop = this.next = start;
        return BODY.done;
      case FRAMING.length:
        return this.#feedLength(bytes, start, end);
      case FRAMING.chunked:
        return this.#strip ? this.#feedStripped(bytes, start, end) : this.#feedChunks(bytes, start, end);
      default:
        if (this.#tap !== null) this.#tap.payload(bytes, start, end);
        this.stop = this.next = end;
        return BODY.more;
    }
  }

  #feedLength(bytes: Buffer, start: number, end: number): BodyState {
    const length = end - start;
    if (this.#tap !== null) this.#tap.payload(bytes, start, start + Math.min(length, this.#left));
    if (length < this.#left) {
      this.#left -= length;
      this.stop = this.next = end;
      return BODY.more;
    }
    this.stop = this.next = start + this.#left;
    this.framing = FRAMING.none;
    this.#tap = null;
    return BODY.done;
  }

  /**
   * Moves the payload of short chunks together, to where their framing began: a read is forwarded as one range, however many chunks it has.
   * Between `stop` and `next` lies what was left out.
   */
  #feedStripped(bytes: Buffer, start: number, end: number): BodyState {
    let to = start;
    let i = start;
    while (i < end) {
      if (this.#state === S.data) {
        const run = Math.min(end - i, this.#left);
        if (to < i) {
          if (run >= MOVED_BYTES) return this.#cutAt(to, i);
          moveDown(bytes, to, i, run);
        }
        if (this.#tap !== null) this.#tap.payload(bytes, to, to + run);
        to += run;
        i += run;
        this.#left -= run;
        if (this.#left === 0) this.#state = S.dataCr;
        continue;
      }
      // The same strict machine: it stops where payload begins.
      const state = this.#feedChunks(bytes, i, end);
      if (state === BODY.bad) return BODY.bad;
      if (state === BODY.done) {
        this.stop = to;
        return BODY.done;
      }
      i = this.next;
    }
    return this.#cutAt(to, end);
  }

  #cutAt(stop: number, next: number): BodyState {
    this.stop = stop;
    this.next = next;
    return BODY.cut;
  }

  #feedChunks(bytes: Buffer, start: number, end: number): BodyState {
    let i = start;
    while (i < end) {
      const c = bytes[i] as number;
      switch (this.#state) {
        case S.size: {
          const digit = HEX[c] as number;
          if (digit !== 255) {
            if (++this.#digits > MAX_SIZE_DIGITS) return BODY.bad;
            this.#left = this.#left * 16 + digit;
            i++;
          } else if (this.#digits > 0 && (c === CR || c === SEMICOLON)) this.#state = S.extension;
          else return BODY.bad;
          break;
        }
        case S.extension:
          if (c !== CR) return this.#cutExtension(bytes, i, end);
          this.#state = S.sizeLf;
          i++;
          break;
        case S.sizeLf:
          if (c !== LF) return BODY.bad;
          this.#digits = 0;
          this.#state = this.#left === 0 ? S.trailerStart : S.data;
          i++;
          break;
        case S.data: {
          if (this.#strip) return this.#cutAt(i, i);
          const run = Math.min(end - i, this.#left);
          if (this.#tap !== null) this.#tap.payload(bytes, i, i + run);
          i += run;
          this.#left -= run;
          if (this.#left === 0) this.#state = S.dataCr;
          break;
        }
        case S.dataCr:
        case S.dataLf:
          if (c !== (this.#state === S.dataCr ? CR : LF)) return BODY.bad;
          this.#state = this.#state === S.dataCr ? S.dataLf : S.size;
          i++;
          break;
        case S.trailerStart:
          if (c !== CR && TOKEN[c] === 0) return BODY.bad;
          this.#state = c === CR ? S.endLf : S.trailers;
          if (c === CR) i++;
          break;
        case S.endLf:
          if (c !== LF) return BODY.bad;
          return this.#end(i + 1, i + 1);
        case S.trailers:
          return this.#feedTrailers(bytes, i, end);
      }
    }
    this.stop = this.next = end;
    return BODY.more;
  }

  #end(stop: number, next: number): BodyState {
    this.stop = stop;
    this.next = next;
    this.framing = FRAMING.none;
    this.#tap = null;
    return BODY.done;
  }

  /** Leaves out `bytes[at, …)` up to the CR of the line, or as much of it as is here. */
  #cutExtension(bytes: Buffer, at: number, end: number): BodyState {
    let i = at;
    while (i < end && bytes[i] !== CR) if (VALUE[bytes[i++] as number] === 0) return BODY.bad;
    this.#extensionBytes += i - at;
    if (this.#extensionBytes > MAX_EXTENSION_BYTES) return BODY.bad;
    return this.#cutAt(at, i);
  }

  /** Collects trailers until their empty line, then keeps those that may be forwarded. */
  #feedTrailers(bytes: Buffer, at: number, end: number): BodyState {
    const before = this.#trailerBytes?.length ?? 0;
    const all = Buffer.concat([
      this.#trailerBytes ?? Buffer.alloc(0),
      bytes.subarray(at, Math.min(end, at + MAX_TRAILER_BYTES + 4)),
    ]);
    const close = all.indexOf('\r\n\r\n', Math.max(0, before - 3), 'latin1');
    if (close > MAX_TRAILER_BYTES || (close < 0 && all.length > MAX_TRAILER_BYTES + 3)) return BODY.bad;
    if (close < 0) {
      this.#trailerBytes = all;
      return this.#cutAt(at, end);
    }
    this.trailer = allowedTrailers(all.toString('latin1', 0, close), this.#rule);
    if (this.trailer === null) return BODY.bad;
    return this.#end(at, at + close + 4 - before);
  }
}

/** Shorter than a call to move it would cost: most runs that are moved are. */
const MOVED_BY_HAND = 64;

function moveDown(bytes: Buffer, to: number, from: number, length: number): void {
  if (length > MOVED_BY_HAND) bytes.copyWithin(to, from, from + length);
  else for (let i = 0; i < length; i++) bytes[to + i] = bytes[from + i] as number;
}

/** The lines of a trailer section (without its closing line) that may be forwarded, with the closing line; null when a line is none. */
export function allowedTrailers(section: string, rule: TrailerRule | null): Buffer | null {
  let out = '';
  for (const line of section.split('\r\n')) {
    const match = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[\t\x20-\x7e\x80-\xff]*$/.exec(line);
    if (match === null) return null;
    const name = Buffer.from(match[1] as string, 'latin1');
    // Who joins trailers with the head would take this value for the one that the rule has set there (RFC 9110 §6.5.1).
    if (rule !== null && rule.isNamed(Buffer.from(line, 'latin1'), 0)) continue;
    if (mayFollowBody(name, 0, name.length)) out += `${line}\r\n`;
  }
  return Buffer.from(`${out}\r\n`, 'latin1');
}

/** Whether a field may be a trailer, by its name `bytes[start, end)`. */
export function mayFollowBody(bytes: Buffer, start: number, end: number): boolean {
  if (fieldOf(REQUEST_NAMES, bytes, start, end - start) !== FIELD.none) return false;
  if (isForwardedName(bytes, start, end - start)) return false;
  return !FORBIDDEN_TRAILERS.has(bytes.toString('latin1', start, end).toLowerCase());
}
