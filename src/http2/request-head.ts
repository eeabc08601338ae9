/**
 * The head of an HTTP/2 request as one of HTTP/1.1 (RFC 9113 §8.3), for the parser that reads all heads: there is one set of checks. Refused here is
 * what the other form can't say: pseudo-fields that are missing, doubled or in the wrong place, fields of the connection, names in upper case.
 * Fields are written as they are decoded; pseudo-fields, Host and cookies are set aside, and go in front and behind once all is known.
 */
import { randomBytes } from 'node:crypto';
import { mayFollowBody } from '../http1/body.ts';
import { acceptOf } from '../http1/websocket-accept.ts';
import { KIND, type Kind, refusalOf } from './field-kind.ts';
import { copy } from './primitives.ts';
import { readPriority, resetPriority } from './priority.ts';
import { SetAside } from './set-aside.ts';
import { TABLE_BYTES } from './table.ts';
import type { Http2Limits, Priority, RequestHead } from './types.ts';

/** Of a block on the wire; a longer one makes the scratch grow. */
const USUAL_BLOCK = 16_384;
/** What is written beside the fields' own bytes, in front and behind. */
const MORE_ROOM = 256;
const MAX_LENGTH_DIGITS = 15;
const CR = 13;
const LF = 10;
const COLON = 58;

/** By kind. */
const PSEUDO_NAMES: readonly string[] = ['', ':method', ':path', ':scheme', ':authority', ':protocol'];

const CHUNKED = Buffer.from('transfer-encoding: chunked\r\n');
const UPGRADE = 'connection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-key: ';
const UPGRADE_LINES = 3;
const KEY_BYTES = 16;

/** One per process; holds the head of the last block until the next `begin`. */
export class HeadScratch implements RequestHead {
  bytes: Buffer;
  start = 0;
  /** While a block is decoded: where the next line goes. */
  end = 0;
  lines = 0;
  wireBytes = 0;
  reason = '';
  isTooLarge = false;
  isHead = false;
  isWebsocket = false;
  /** What `content-length` says; -1: there is none. */
  contentLength = -1;
  readonly priority: Priority = { urgency: 3, isIncremental: false };
  /** What a service must answer to the key that was made for it (RFC 6455 §4.2.2). */
  websocketAccept = '';

  readonly #maxBytes: number;
  readonly #maxFields: number;
  /** Where lines begin: the request line and Host go before. */
  readonly #front: number;
  readonly #aside: SetAside;
  /** The longest block that there is room for. */
  #blockRoom = USUAL_BLOCK;
  #fields = 0;
  #saysPriority = false;
  #pseudoFields = 0;
  /** Of all fields as lines. */
  #size = 0;

  constructor(limits: Pick<Http2Limits, 'headBytes' | 'headFields'>) {
    this.#maxBytes = limits.headBytes;
    this.#maxFields = limits.headFields;
    this.#front = limits.headBytes + MORE_ROOM;
    this.#aside = new SetAside(limits.headBytes);
    this.bytes = Buffer.allocUnsafeSlow(this.#roomFor(USUAL_BLOCK));
  }

  // ------------------------------------------------------------------ from the decoder

  /** A block of `blockBytes` follows. */
  begin(blockBytes: number): void {
    if (blockBytes > this.#blockRoom) {
      this.#blockRoom = blockBytes;
      this.bytes = Buffer.allocUnsafeSlow(this.#roomFor(blockBytes));
    }
    this.end = this.start = this.#front;
    this.lines = this.wireBytes = this.#fields = this.#pseudoFields = this.#size = 0;
    this.reason = this.websocketAccept = '';
    this.isTooLarge = this.isHead = this.isWebsocket = false;
    this.contentLength = -1;
    resetPriority(this.priority);
    // A visitor that says nothing waits for no answer before another (RFC 9218 §10 leaves it to the server): its downloads share.
    this.priority.isIncremental = true;
    this.#saysPriority = false;
    this.#aside.reset();
  }

  /** The field of `kind` with the line `from[start, end)`. A literal lies where the next line goes: `from` is `bytes`, and `start` is `end`. */
  take(kind: Kind, from: Buffer, start: number, nameEnd: number, end: number): void {
    this.#size += end - start;
    if (++this.#fields > this.#maxFields || this.#size > this.#maxBytes) this.isTooLarge = true;
    // What is beyond is counted, and not written.
    if (this.isTooLarge) return;
    if (kind === KIND.plain) this.#keep(from, start, end);
    else this.#takeKnown(kind, from, start, nameEnd, end);
  }

  /** A row of plain fields, at once. False: one by one, it may be too much. */
  takeRow(lines: Buffer, length: number, fields: number): boolean {
    if (this.isTooLarge || this.#size + length > this.#maxBytes || this.#fields + fields > this.#maxFields)
      return false;
    this.#size += length;
    this.#fields += fields;
    this.lines += fields;
    this.end = copy(lines, 0, length, this.bytes, this.end);
    return true;
  }

  #takeKnown(kind: Kind, from: Buffer, start: number, nameEnd: number, end: number): void {
    const value = nameEnd + 2;
    const valueEnd = end - 2;
    switch (kind) {
      case KIND.method:
      case KIND.path:
      case KIND.scheme:
      case KIND.protocol:
        if (value === valueEnd) return this.#refuse(PSEUDO_NAMES[kind] as string);
        this.#takePseudo(kind, from, value, valueEnd);
        if (kind === KIND.method) this.isHead = this.#aside.isHead;
        return;
      case KIND.authority:
        // One that is empty is the parser's to refuse, as an empty Host.
        return this.#takePseudo(kind, from, value, valueEnd);
      case KIND.host:
        if (this.#aside.has(kind)) return this.#refuse('host');
        return this.#aside.put(kind, from, value, valueEnd);
      case KIND.cookie:
        return this.#aside.addCookie(from, value, valueEnd);
      case KIND.length:
        this.#takeLength(from, value, valueEnd);
        return this.#keep(from, start, end);
      case KIND.priority:
        if (!this.#saysPriority) resetPriority(this.priority);
        this.#saysPriority = true;
        readPriority(from, value, valueEnd, this.priority);
        return this.#keep(from, start, end);
      case KIND.websocketKey:
        // The edge makes its own where one is needed: extended CONNECT has none (RFC 8441 §5).
        if (!this.#aside.has(KIND.protocol)) this.#keep(from, start, end);
        return;
      case KIND.te:
        return this.#refuse('te');
      default:
        return this.#refuse(refusalOf(kind, from.toString('latin1', start, nameEnd)));
    }
  }

  #keep(from: Buffer, start: number, end: number): void {
    this.end = from === this.bytes ? end : copy(from, start, end, this.bytes, this.end);
    this.lines++;
  }

  /** Once each, and before the other fields (RFC 9113 §8.3). */
  #takePseudo(kind: Kind, from: Buffer, start: number, end: number): void {
    if (this.#aside.has(kind)) return this.#refuse(PSEUDO_NAMES[kind] as string);
    if (++this.#pseudoFields !== this.#fields) this.#refuse('a pseudo-header after a regular header');
    this.#aside.put(kind, from, start, end);
  }

  #takeLength(from: Buffer, start: number, end: number): void {
    if (this.contentLength >= 0) return this.#refuse('content-length');
    let length = end === start || end - start > MAX_LENGTH_DIGITS ? -1 : 0;
    for (let i = start; i < end && length >= 0; i++) {
      const digit = (from[i] as number) - 48;
      length = digit < 0 || digit > 9 ? -1 : length * 10 + digit;
    }
    if (length < 0) this.#refuse('invalid content-length');
    this.contentLength = length;
  }

  #refuse(reason: string): void {
    if (this.reason === '') this.reason = reason;
  }

  // ------------------------------------------------------------------ from the connection

  /** The block, of `wireBytes`, is decoded: writes what lies around its fields. `isWhole`: no body follows. */
  finish(isWhole: boolean, wireBytes: number): void {
    this.wireBytes = wireBytes;
    if (this.isTooLarge) this.reason = 'too large';
    else if (this.reason === '') this.reason = this.#check(isWhole);
    if (this.reason !== '') {
      this.end = this.start;
      this.lines = 0;
      return;
    }
    this.start = this.#aside.writeFront(this.bytes, this.#front, this.isWebsocket);
    if (this.#aside.hasHost) this.lines++;
    this.#writeBack(isWhole);
  }

  /** The block is decoded, and they are trailers: leaves out what has no place behind a body. Answers why they are refused, or ''. */
  finishTrailers(): string {
    if (this.isTooLarge) return 'too large';
    if (this.#pseudoFields > 0) return 'a pseudo-header behind a body';
    if (this.reason !== '') return this.reason;
    // It says how long a body is that has been read: a service that joins trailers with the head would believe it.
    if (this.contentLength >= 0) return 'content-length behind a body';
    const { bytes } = this;
    const stop = this.end;
    let to = this.start;
    this.lines = 0;
    for (let line = this.start; line < stop; ) {
      const nameEnd = bytes.indexOf(COLON, line);
      const end = bytes.indexOf(LF, nameEnd) + 1;
      if (mayFollowBody(bytes, line, nameEnd)) {
        bytes.copyWithin(to, line, end);
        to += end - line;
        this.lines++;
      }
      line = end;
    }
    this.end = to;
    return '';
  }

  #check(isWhole: boolean): string {
    const reason = this.#aside.check();
    if (reason !== '') return reason;
    if (this.#aside.has(KIND.protocol)) return this.#checkWebsocket(isWhole);
    return isWhole && this.contentLength > 0 ? 'content-length without a body' : '';
  }

  /** Extended CONNECT (RFC 8441 §4), of which there is `websocket` alone. */
  #checkWebsocket(isWhole: boolean): string {
    if (!this.#aside.isConnect || !this.#aside.isWebsocket) return ':protocol';
    if (isWhole || this.contentLength >= 0) return 'a WebSocket that is no open stream';
    this.isWebsocket = true;
    return '';
  }

  /** Cookies, what frames the body or asks for the upgrade, and the empty line. */
  #writeBack(isWhole: boolean): void {
    const { bytes } = this;
    let at = this.end;
    if (this.#aside.hasCookie) {
      at = this.#aside.writeCookie(bytes, at);
      this.lines++;
    }
    if (this.isWebsocket) {
      const key = randomBytes(KEY_BYTES).toString('base64');
      this.websocketAccept = acceptOf(key);
      at += bytes.write(`${UPGRADE}${key}\r\n`, at, 'latin1');
      this.lines += UPGRADE_LINES;
    } else if (!isWhole && this.contentLength < 0) {
      at = copy(CHUNKED, 0, CHUNKED.length, bytes, at);
      this.lines++;
    }
    bytes[at++] = CR;
    bytes[at++] = LF;
    this.end = at;
  }

  /** Lines within the limit, a literal that is beyond it (its name an entry's, its value five bits a character), and what is added. */
  #roomFor(blockBytes: number): number {
    return this.#front + this.#maxBytes + Math.ceil((blockBytes * 8) / 5) + TABLE_BYTES + MORE_ROOM;
  }
}
