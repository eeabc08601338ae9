/**
 * The stream of a connection to a service that has not spoken HTTP/1.1 yet. Its reply waits for the service's first bytes: most that speak TLS close a
 * connection on which plain HTTP comes without a word, those that speak HTTP/2 alone begin with its SETTINGS, and then the reply says so in place of
 * the close. Made by serve.ts for plain targets of HTTP tunnels, until one of their connections is proven.
 */
import type { PipeSink, PipeStream } from '../../base/bytes/pipe.ts';
import type { Slab } from '../../base/bytes/slab.ts';
import type { MuxStream } from '../../mux/stream.ts';
import { CONNECTED_REPLY } from '../../wire/preamble.ts';
import { beginsHttp2 } from './begins-http2.ts';

/** The first two bytes of a TLS alert: record type, and the major version. */
const ALERT = 0x15;
const TLS_MAJOR = 0x03;

export interface FirstContactOwner {
  /** The service has sent something that is no TLS. */
  onProven(): void;
  /** It has closed the connection without a word. `settle` is to be called once; true: it speaks TLS. */
  onSilence(settle: (isTls: boolean) => void): void;
  /** It speaks TLS, or HTTP/2 alone: answers the stream, and ends it. */
  onOther(spoken: 'tls' | 'http2'): void;
}

type State = 'waiting' | 'asking' | 'proven' | 'over';

export class FirstContact implements PipeStream {
  readonly #stream: MuxStream;
  readonly #owner: FirstContactOwner;
  #state: State = 'waiting';

  constructor(stream: MuxStream, owner: FirstContactOwner) {
    this.#stream = stream;
    this.#owner = owner;
  }

  get sink(): PipeSink {
    return this.#stream.sink;
  }

  set sink(sink: PipeSink) {
    this.#stream.sink = sink;
  }

  get session(): PipeStream['session'] {
    return this.#stream.session;
  }

  get gone(): boolean {
    return this.#stream.gone;
  }

  write(bytes: Uint8Array, start: number, end: number): boolean {
    if (!this.#passes(bytes, start, end)) return true;
    return this.#stream.write(bytes, start, end);
  }

  donate(slab: Slab, length: number): boolean | null {
    if (!this.#passes(slab.body, 0, length)) return true;
    return this.#stream.donate(slab, length);
  }

  clear(): void {
    if (this.#state === 'proven') this.#stream.clear();
  }

  consumed(bytes: number): void {
    this.#stream.consumed(bytes);
  }

  end(): void {
    this.#leave(() => this.#stream.end());
  }

  reset(): void {
    this.#leave(() => this.#stream.reset());
  }

  /** Whether these bytes of the service go on. */
  #passes(bytes: Uint8Array, start: number, end: number): boolean {
    if (this.#state === 'proven') return true;
    if (this.#state !== 'waiting') return false;
    if (bytes[start] === ALERT && (end - start < 2 || bytes[start + 1] === TLS_MAJOR)) {
      return this.#isOther('tls');
    }
    if (beginsHttp2(bytes, start, end)) return this.#isOther('http2');
    this.#prove();
    return true;
  }

  #isOther(spoken: 'tls' | 'http2'): false {
    this.#state = 'over';
    this.#owner.onOther(spoken);
    return false;
  }

  #prove(): void {
    this.#state = 'proven';
    this.#stream.write(CONNECTED_REPLY);
    this.#owner.onProven();
  }

  /** The connection is over: at once where the service has spoken, or the visitor has left. */
  #leave(go: () => void): void {
    if (this.#state === 'proven' || this.#stream.gone) return go();
    if (this.#state !== 'waiting') return;
    this.#state = 'asking';
    this.#owner.onSilence((isTls) => {
      this.#state = 'over';
      if (this.#stream.gone) return;
      if (isTls) return this.#owner.onOther('tls');
      this.#stream.write(CONNECTED_REPLY);
      go();
    });
  }
}
