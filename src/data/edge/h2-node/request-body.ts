/**
 * A request's body on its way from DATA frames to the service: by length where the head has one, else in chunks. It counts by itself
 * what nghttp2 counts too (RFC 9113 §8.1.1): a service must never take half a body for a whole one, nor the rest of one for the next request.
 */
import type { BodyTap } from '../../../http1/body.ts';
import type { MuxStream } from '../../../mux/stream.ts';

const LAST_CHUNK = Buffer.from('0\r\n\r\n');
const CRLF = Buffer.from('\r\n');

export class RequestBody {
  /** Bytes still to come; -1: any number, in chunks. */
  #left = 0;
  #tap: BodyTap | null = null;

  /** `length`: what the head says, -1 for nothing. `tap` hears of what is forwarded. */
  start(length: number, tap: BodyTap | null): void {
    this.#left = length;
    this.#tap = tap;
  }

  /** Sends a piece: null when it is more than the head said, else false when the caller must stop until the stream drains. */
  forward(bytes: Buffer, to: MuxStream): boolean | null {
    if (bytes.length === 0) return true;
    if (this.#left >= 0 && bytes.length > this.#left) return null;
    if (this.#tap !== null) this.#tap.payload(bytes, 0, bytes.length);
    if (this.#left < 0) return writeChunk(bytes, to);
    this.#left -= bytes.length;
    return to.write(bytes);
  }

  /** The visitor has sent all. False when that is less than the head said. */
  end(to: MuxStream): boolean {
    if (this.#left > 0) return false;
    if (this.#left < 0) to.write(LAST_CHUNK);
    return true;
  }
}

function writeChunk(bytes: Buffer, to: MuxStream): boolean {
  const size = `${bytes.length.toString(16)}\r\n`;
  const length = size.length + bytes.length + 2;
  const at = to.reserve(length);
  if (at < 0) {
    to.write(Buffer.from(size, 'latin1'));
    to.write(bytes);
    return to.write(CRLF);
  }
  const out = to.target();
  let next = at + out.write(size, at, 'latin1');
  next += bytes.copy(out, next);
  out[next] = 13;
  out[next + 1] = 10;
  return to.settled();
}
