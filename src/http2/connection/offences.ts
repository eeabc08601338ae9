/** What a hostile or mistaken visitor is answered with: the end of a stream, or of its connection. All of it is counted, and bounded. */
import { CODE, type Http2Offence, type Http2StreamSink, type Http2User } from '../types.ts';
import type { Floods } from './flood.ts';
import type { FrameSender } from './sending/sender.ts';
import type { Http2ServerStream } from './stream.ts';

/** The connection. */
export interface OffenceHost {
  readonly user: Http2User;
  readonly sender: FrameSender;
  readonly isOver: boolean;
  /** The connection ends for the visitor's doing. */
  fail(code: number, offence: Http2Offence): void;
  /** The stream is over. `mayBring`: more of it may be under way. `isCut`: not by the end of both sides. */
  forget(stream: Http2ServerStream, mayBring: boolean, isCut: boolean): void;
}

export class Offences {
  readonly #host: OffenceHost;
  readonly #floods: Floods;

  constructor(host: OffenceHost, floods: Floods) {
    this.#host = host;
    this.#floods = floods;
  }

  /** `bytes` came that bring nothing. True: they were too many, and the connection is over. */
  isWaste(bytes: number): boolean {
    if (this.#floods.overhead(bytes)) return false;
    this.fail(CODE.calm, 'h2_overhead');
    return true;
  }

  /** Something came that has to be answered. False: once too often, and the connection is over. */
  isAnswered(offence: Http2Offence): boolean {
    if (this.#floods.control()) return true;
    this.fail(CODE.calm, offence);
    return false;
  }

  /** The visitor breaks the protocol on a stream: that one ends. */
  offend(stream: Http2ServerStream, code: number, offence: Http2Offence = 'h2_protocol'): void {
    this.refuse(stream.id, code, offence);
    if (!this.#host.isOver) this.#drop(stream, code, !stream.ended);
  }

  /** Resets what is no stream, or not any more. */
  refuse(id: number, code: number, offence: Http2Offence | null): void {
    if (!this.isAnswered('h2_made_resets')) return;
    if (offence !== null) this.#host.user.onOffence(offence);
    this.#host.sender.reset(id, code);
  }

  /** The visitor resets a stream. */
  reset(stream: Http2ServerStream, code: number): void {
    // One whose answer was on its way had no work any more.
    const isFlood = !stream.isHanded && !this.#floods.reset();
    this.#drop(stream, code, false);
    if (isFlood) this.fail(CODE.calm, 'h2_reset_flood');
  }

  /** The connection ends. */
  fail(code: number, offence: Http2Offence = 'h2_protocol'): void {
    this.#host.fail(code, offence);
  }

  #drop(stream: Http2ServerStream, code: number, mayBring: boolean): void {
    const sink: Http2StreamSink = stream.sink;
    this.#host.forget(stream, mayBring, true);
    try {
      sink.onReset(stream, code);
    } catch (error) {
      this.#host.user.onFault(error);
    }
  }
}
