/**
 * A request whose policy wants to see its body first: head and body as they came, kept until the body is whole. Then visitor.ts reads them once more,
 * as if they had just come.
 */
import { JoinedBytes } from '../../../base/bytes/joined-bytes.ts';
import { BODY, Body, type BodyTap, FRAMING, type Framing } from '../../../http1/body.ts';
import type { WantedBody } from '../exchange/wanted-body.ts';

interface Framed {
  readonly headBytes: number;
  readonly framing: Framing;
  /** Of the body, where the head says it. */
  readonly length: number;
}

export class CollectedRequest {
  readonly #joined = new JoinedBytes();
  readonly #body = new Body();
  readonly #wanted: WantedBody;
  readonly #of: Framed;
  /** Of the head, still to come. */
  #headLeft: number;
  #payload = 0;
  readonly #tap: BodyTap = { payload: (_bytes, start, end) => void (this.#payload += end - start) };

  constructor(wanted: WantedBody, of: Framed) {
    this.#wanted = wanted;
    this.#of = of;
    this.#headLeft = of.headBytes;
    this.#body.start(of.framing, of.length, false, null, this.#tap);
  }

  /** Keeps `bytes[start, end)`, which begin with the head. False: that was all, or more than may be kept; `wanted` has heard of it. */
  add(bytes: Buffer, start: number, end: number): boolean {
    this.#joined.add(bytes, start, end);
    const ofHead = Math.min(this.#headLeft, end - start);
    this.#headLeft -= ofHead;
    this.#payload = 0;
    const state = this.#feed(bytes, start + ofHead, end);
    if (!this.#wanted.grow(this.#payload, end - start)) return false;
    if (state === BODY.bad)
      this.#wanted.refuse({ code: 'bad_request', detail: 'The request was refused: invalid body framing.' });
    return state === BODY.more;
  }

  /** All that has come. To be called once. */
  take(): Buffer {
    const whole = Buffer.concat(this.#joined.takeAll());
    if (this.#wanted.isWanted) this.#wanted.end(this.#bodyIn(whole));
    return whole;
  }

  #feed(bytes: Buffer, start: number, end: number): typeof BODY.more | typeof BODY.done | typeof BODY.bad {
    for (let at = start; at < end; at = this.#body.next) {
      const state = this.#body.feed(bytes, at, end);
      if (state === BODY.done || state === BODY.bad) return state;
    }
    return BODY.more;
  }

  #bodyIn(whole: Buffer): Buffer {
    const { headBytes, framing, length } = this.#of;
    if (framing === FRAMING.length) return whole.subarray(headBytes, headBytes + length);
    const pieces: Buffer[] = [];
    const body = new Body();
    body.start(framing, length, false, null, {
      payload: (bytes, start, end) => void pieces.push(bytes.subarray(start, end)),
    });
    let at = headBytes;
    while (body.feed(whole, at, whole.length) !== BODY.done) at = body.next;
    return Buffer.concat(pieces);
  }
}
