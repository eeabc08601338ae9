/**
 * The body of a request whose policy wants to see it before it is forwarded: what the step waits for, and the bounds. The connection collects
 * it (h1/collected-request.ts, h2/request-body.ts, h2-node/collected-upload.ts) and reports here. One per dispatch.
 */
import type { EdgeRefusal } from '../../faults/fault.ts';
import type { RequestBodyReader } from '../../policy/step.ts';
import type { BodyParty, BodyRoom } from './body-room.ts';

/** As large as a delivery to a webhook receiver may be. */
export const MAX_WANTED_BYTES = 1 << 20;

const TOO_LARGE: EdgeRefusal = { code: 'body_too_large' };
const FULL: EdgeRefusal = {
  code: 'overloaded',
  detail: 'Too many webhooks are being verified. Please try again in a moment.',
};
const LEFT: EdgeRefusal = { code: 'bad_request', detail: 'The request ended before all of it had come.' };

export class WantedBody implements RequestBodyReader {
  readonly #room: BodyRoom;
  #party: BodyParty = ['', ''];
  #resolve: ((body: Buffer | EdgeRefusal) => void) | null = null;
  #taken = 0;
  #payload = 0;

  constructor(room: BodyRoom) {
    this.#room = room;
  }

  /** The connection must collect it. */
  get isWanted(): boolean {
    return this.#resolve !== null;
  }

  read(party: BodyParty): Promise<Buffer | EdgeRefusal> {
    const { promise, resolve } = Promise.withResolvers<Buffer | EdgeRefusal>();
    this.#party = party;
    this.#payload = 0;
    this.#resolve = resolve;
    return promise;
  }

  /** More has come: `payload` of the body itself, `kept` in memory. False: too much, and the request is refused. */
  grow(payload: number, kept: number): boolean {
    this.#payload += payload;
    // Chunks of one byte each have five times as many bytes around them.
    if (this.#payload > MAX_WANTED_BYTES || this.#taken + kept > 2 * MAX_WANTED_BYTES) return this.#refused(TOO_LARGE);
    if (!this.#room.take(this.#party, kept)) return this.#refused(FULL);
    this.#taken += kept;
    return true;
  }

  /** It is whole. */
  end(body: Buffer): void {
    this.#settle(body);
  }

  /** It will never be whole; undefined: the visitor has left. May be called at any time. */
  refuse(refusal: EdgeRefusal = LEFT): void {
    this.#settle(refusal);
  }

  #refused(refusal: EdgeRefusal): false {
    this.#settle(refusal);
    return false;
  }

  #settle(result: Buffer | EdgeRefusal): void {
    const resolve = this.#resolve;
    if (resolve === null) return;
    this.#resolve = null;
    this.#room.give(this.#party, this.#taken);
    this.#taken = 0;
    resolve(result);
  }
}
