/**
 * Reads HTTP/1.1 responses off a connection, strictly: what is not exactly a response is an error, and a body counts as complete only when
 * its framing says so. Own code and not Node's client, which can't pipeline and hides how a message ended.
 */
export interface Response {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
}

export interface ReaderEvents {
  onHead(response: Response): void;
  onBody(bytes: Buffer): void;
  /** The response is complete by its framing. */
  onComplete(): void;
}

const MAX_HEAD = 16_384;

type State = 'head' | 'length' | 'chunk-size' | 'chunk' | 'chunk-end' | 'trailers' | 'until-end';

export class ResponseReader {
  readonly #events: ReaderEvents;
  #state: State = 'head';
  /** Bytes of a line or head that are not whole yet. */
  #held: Buffer = Buffer.alloc(0);
  #left = 0;

  constructor(events: ReaderEvents) {
    this.#events = events;
  }

  /** The peer has ended its direction in good order, which is how a response without length says that it is whole. */
  end(): void {
    if (this.#state === 'until-end') this.#complete();
  }

  /** Throws when the bytes are no HTTP/1.1. */
  feed(bytes: Buffer): void {
    let rest = this.#held.length === 0 ? bytes : Buffer.concat([this.#held, bytes]);
    this.#held = Buffer.alloc(0);
    while (rest.length > 0) {
      const used = this.#step(rest);
      if (used === 0) {
        if (rest.length > MAX_HEAD) throw new Error('a head or line without end');
        this.#held = Buffer.from(rest);
        return;
      }
      rest = rest.subarray(used);
    }
  }

  /** Takes what it can from the start of `bytes`; 0 when it needs more. */
  #step(bytes: Buffer): number {
    switch (this.#state) {
      case 'head': {
        const end = bytes.indexOf('\r\n\r\n');
        if (end >= 0) this.#head(bytes.toString('latin1', 0, end));
        return end < 0 ? 0 : end + 4;
      }
      case 'length':
      case 'chunk': {
        const take = Math.min(this.#left, bytes.length);
        this.#left -= take;
        this.#events.onBody(bytes.subarray(0, take));
        if (this.#left > 0) return take;
        if (this.#state === 'chunk') this.#state = 'chunk-end';
        else this.#complete();
        return take;
      }
      case 'until-end':
        this.#events.onBody(bytes);
        return bytes.length;
      case 'chunk-size':
      case 'chunk-end':
      case 'trailers': {
        const end = bytes.indexOf('\r\n');
        if (end >= 0) this.#line(bytes.toString('latin1', 0, end));
        return end < 0 ? 0 : end + 2;
      }
      default:
        return this.#state satisfies never;
    }
  }

  #line(line: string): void {
    if (this.#state === 'trailers') {
      if (line === '') this.#complete();
      return;
    }
    if (this.#state === 'chunk-end') {
      if (line !== '') throw new Error(`a chunk is longer than it said: ${JSON.stringify(line)}`);
      this.#state = 'chunk-size';
      return;
    }
    if (!/^[0-9a-fA-F]{1,8}$/.test(line)) throw new Error(`no chunk size: ${JSON.stringify(line)}`);
    this.#left = Number.parseInt(line, 16);
    this.#state = this.#left === 0 ? 'trailers' : 'chunk';
  }

  #head(text: string): void {
    const [first = '', ...lines] = text.split('\r\n');
    const match = /^HTTP\/1\.1 (\d{3}) /.exec(`${first} `);
    if (match === null) throw new Error(`no status line: ${JSON.stringify(first)}`);
    const status = Number(match[1]);
    if (status < 200) return; // an interim response: the real one follows
    const headers = new Map<string, string>();
    for (const line of lines) {
      const colon = line.indexOf(':');
      const name = line.slice(0, colon).toLowerCase();
      if (colon < 1 || headers.has(name)) throw new Error(`a bad or repeated header: ${JSON.stringify(line)}`);
      headers.set(name, line.slice(colon + 1).trim());
    }
    this.#frame(headers);
    this.#events.onHead({ status, headers });
    if (this.#state === 'length' && this.#left === 0) this.#complete();
  }

  #frame(headers: ReadonlyMap<string, string>): void {
    const length = headers.get('content-length');
    const encoding = headers.get('transfer-encoding');
    if (encoding === 'chunked' && length === undefined) {
      this.#state = 'chunk-size';
    } else if (encoding === undefined && length !== undefined && /^\d+$/.test(length)) {
      this.#state = 'length';
      this.#left = Number(length);
    } else if (encoding === undefined && length === undefined && headers.get('connection') === 'close') {
      this.#state = 'until-end';
    } else {
      throw new Error(`a response whose end can't be known: ${String(encoding)}, ${String(length)}`);
    }
  }

  #complete(): void {
    this.#state = 'head';
    this.#events.onComplete();
  }
}
