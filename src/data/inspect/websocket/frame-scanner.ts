/**
 * Counts the frames in one direction of a WebSocket (RFC 6455 §5.2) as its bytes pass. Its state is a few numbers; it holds and allocates
 * nothing. Invalid framing ends the count and never the connection. One per direction, made by websocket-record.ts.
 */

export const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

const FIN = 0x80;
/** permessage-deflate (RFC 7692) marks a compressed message with it. */
const RSV1 = 0x40;
const RSV2_AND_3 = 0x30;
const MASKED = 0x80;
const LENGTH_16 = 126;
const LENGTH_64 = 127;
const MAX_CONTROL_BYTES = 125;
const MASK_BYTES = 4;
const CODE_BYTES = 2;

/** The next byte is the first of a header, or its second, or belongs to the length, to the mask key, or to the payload. */
const AT = { first: 0, second: 1, length: 2, mask: 3, payload: 4 } as const;

/** Receives frames as they pass: frame-capture.ts. Ranges are valid during the call. */
export interface FrameSink {
  /** A header is complete. `length`: of the payload, bytes. */
  begin(opcode: number, isFinal: boolean, isCompressed: boolean, length: number): void;
  /** A part of the payload, masked with `key` (0: not), whose first byte is the `offset`th of the payload. */
  payload(bytes: Buffer, start: number, end: number, key: number, offset: number): void;
  /** The payload is complete. */
  end(): void;
}

export class FrameScanner {
  /** Frames whose header has passed. */
  frames = 0;
  /** Invalid framing has ended the count. */
  isBroken = false;
  /** Of the first close frame; 0: none, or it has none. */
  closeCode = 0;
  /** A close frame has passed. */
  isClosed = false;
  readonly #isMasked: boolean;
  readonly #sink: FrameSink | null;
  #at: number = AT.first;
  #first = 0;
  /** Of the length, the mask key or the payload: bytes that are still to come. */
  #left = 0;
  #length = 0;
  #key = 0;
  /** A message has begun, and its last frame has not come. */
  #isInMessage = false;

  /** `isMasked`: visitors must mask, services must not (§5.1). */
  constructor(isMasked: boolean, sink: FrameSink | null) {
    this.#isMasked = isMasked;
    this.#sink = sink;
  }

  scan(bytes: Buffer, start: number, end: number): void {
    let at = start;
    while (at < end && !this.isBroken) {
      if (this.#at === AT.payload) {
        const stop = Math.min(end, at + this.#left);
        this.#payload(bytes, at, stop);
        at = stop;
      } else this.#header(bytes[at++] as number);
    }
  }

  #header(byte: number): void {
    switch (this.#at) {
      case AT.first:
        this.#first = byte;
        this.#at = AT.second;
        return;
      case AT.second:
        return this.#second(byte);
      case AT.length:
        this.#length = this.#length * 256 + byte;
        if (--this.#left === 0) this.#lengthDone();
        return;
      default:
        this.#key = (this.#key << 8) | byte;
        if (--this.#left === 0) this.#headerDone();
    }
  }

  #second(byte: number): void {
    const opcode = this.#first & 0x0f;
    const length = byte & 0x7f;
    if (!this.#isFrame(opcode, length) || ((byte & MASKED) !== 0) !== this.#isMasked) {
      this.isBroken = true;
      return;
    }
    this.#length = 0;
    if (length < LENGTH_16) {
      this.#length = length;
      return this.#lengthDone();
    }
    this.#left = length === LENGTH_64 ? 8 : 2;
    this.#at = AT.length;
  }

  /** By its first byte, and the length as the second one says it. */
  #isFrame(opcode: number, length: number): boolean {
    const isFinal = (this.#first & FIN) !== 0;
    if ((this.#first & RSV2_AND_3) !== 0) return false;
    const isCompressed = (this.#first & RSV1) !== 0;
    if (opcode >= OPCODE.close) return opcode <= OPCODE.pong && isFinal && !isCompressed && length <= MAX_CONTROL_BYTES;
    if (opcode > OPCODE.binary) return false;
    return opcode === OPCODE.continuation ? this.#isInMessage && !isCompressed : !this.#isInMessage;
  }

  #lengthDone(): void {
    if (this.#length > Number.MAX_SAFE_INTEGER) {
      this.isBroken = true;
      return;
    }
    this.#key = 0;
    if (!this.#isMasked) return this.#headerDone();
    this.#left = MASK_BYTES;
    this.#at = AT.mask;
  }

  #headerDone(): void {
    const opcode = this.#first & 0x0f;
    const isFinal = (this.#first & FIN) !== 0;
    this.frames++;
    if (opcode < OPCODE.close) this.#isInMessage = !isFinal;
    this.#sink?.begin(opcode, isFinal, (this.#first & RSV1) !== 0, this.#length);
    this.#left = this.#length;
    this.#at = AT.payload;
    if (this.#left === 0) this.#frameDone();
  }

  #payload(bytes: Buffer, start: number, end: number): void {
    const offset = this.#length - this.#left;
    if ((this.#first & 0x0f) === OPCODE.close && !this.isClosed) this.#closeBytes(bytes, start, end, offset);
    this.#sink?.payload(bytes, start, end, this.#key, offset);
    this.#left -= end - start;
    if (this.#left === 0) this.#frameDone();
  }

  /** The first two bytes of the payload are the code. */
  #closeBytes(bytes: Buffer, start: number, end: number, offset: number): void {
    for (let at = start; at < end && offset + at - start < CODE_BYTES; at++) {
      const shift = 24 - 8 * (offset + at - start);
      this.closeCode = (this.closeCode << 8) | ((bytes[at] as number) ^ ((this.#key >>> shift) & 0xff));
    }
  }

  #frameDone(): void {
    if ((this.#first & 0x0f) === OPCODE.close) {
      // A payload of one byte is no code.
      if (!this.isClosed && this.#length < CODE_BYTES) this.closeCode = 0;
      this.isClosed = true;
    }
    this.#at = AT.first;
    this.#sink?.end();
  }
}
