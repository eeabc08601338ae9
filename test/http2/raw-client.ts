/**
 * An HTTP/2 client that writes frames by hand and reads them one after the other. Each wait has a deadline; a wait that is not met says what came
 * instead. Frames and fields are made with test/harness/h2-frames.ts.
 */
import { once } from 'node:events';
import { connect, type TLSSocket } from 'node:tls';
import { FLAG, FRAME, type Frame, frame, setting } from '../harness/h2-frames.ts';

export const ERROR = {
  none: 0,
  protocol: 1,
  flowControl: 3,
  streamClosed: 5,
  frameSize: 6,
  refusedStream: 7,
  cancel: 8,
  compression: 9,
  calm: 11,
} as const;

export const SETTING = {
  tableSize: 1,
  enablePush: 2,
  maxStreams: 3,
  window: 4,
  frameSize: 5,
  headList: 6,
} as const;

export const PREFACE: Buffer = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const HOST = 'shop.example.test';
const NAMES = Object.fromEntries(Object.entries(FRAME).map(([name, type]) => [type, name.toUpperCase()]));
const NO_BYTES = Buffer.alloc(0);

/** What the server did is not what was expected. */
export class Unmet extends Error {}

export type Event = Frame | 'closed' | 'silent';

export class RawClient {
  readonly socket: TLSSocket;
  /** The server's SETTINGS, by identifier. */
  readonly settings = new Map<number, number>();
  /** Called for each thing that happens, for those that `take` it. */
  onEvent: () => void = () => {};
  readonly #deadlineMs: number;
  readonly #events: (Frame | 'closed')[] = [];
  readonly #seen: string[] = [];
  #buffered: Buffer = NO_BYTES;
  #wake: (() => void) | undefined;

  constructor(socket: TLSSocket, deadlineMs: number) {
    this.socket = socket;
    this.#deadlineMs = deadlineMs;
    socket.on('data', (bytes: Buffer) => this.#read(bytes));
    socket.on('error', () => undefined); // 'close' follows
    socket.on('close', () => this.#add('closed'));
  }

  /** Connects over TLS with ALPN h2; nothing is sent yet. */
  static async connect(port: number, deadlineMs = 10_000): Promise<RawClient> {
    const to = { host: '127.0.0.1', port, servername: HOST, ALPNProtocols: ['h2'], rejectUnauthorized: false };
    const socket = connect(to);
    await once(socket, 'secureConnect');
    if (socket.alpnProtocol !== 'h2') throw new Unmet(`ALPN chose ${String(socket.alpnProtocol)}`);
    return new RawClient(socket, deadlineMs);
  }

  /** Preface and SETTINGS, both ways and acknowledged. */
  async handshake(...entries: Buffer[]): Promise<void> {
    this.send(PREFACE, frame(FRAME.settings, 0, 0, Buffer.concat(entries)));
    const { payload } = await this.expect('SETTINGS', (got) => got.type === FRAME.settings && !isAck(got));
    for (let at = 0; at < payload.length; at += 6)
      this.settings.set(payload.readUInt16BE(at), payload.readUInt32BE(at + 2));
    this.send(frame(FRAME.settings, FLAG.ack, 0));
    await this.expectSettingsAck();
  }

  send(...pieces: Buffer[]): void {
    if (this.socket.writable) this.socket.write(Buffer.concat(pieces));
  }

  /** The next thing that happened; `silent` at the deadline. */
  async next(): Promise<Event> {
    if (this.#events.length === 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, this.#deadlineMs);
      this.#wake = resolve;
      await promise;
      clearTimeout(timer);
      this.#wake = undefined;
    }
    return this.#events.shift() ?? 'silent';
  }

  /** What has come and was not looked at yet. */
  take(): Frame | 'closed' | undefined {
    return this.#events.shift();
  }

  /** Reads on to the frame that is wanted. */
  async expect(wanted: string, isWanted: (got: Frame) => boolean): Promise<Frame> {
    for (;;) {
      const event = await this.#nextOf(wanted);
      if (event === 'closed') throw this.#unmet(wanted);
      if (isWanted(event)) return event;
    }
  }

  expectSettingsAck(): Promise<Frame> {
    return this.expect('SETTINGS with ACK', (got) => got.type === FRAME.settings && isAck(got));
  }

  expectHeaders(stream: number): Promise<Frame> {
    return this.expect(`HEADERS of stream ${stream}`, (got) => got.type === FRAME.headers && got.stream === stream);
  }

  expectData(stream: number): Promise<Frame> {
    return this.expect(`DATA of stream ${stream}`, (got) => got.type === FRAME.data && got.stream === stream);
  }

  expectPong(data: Buffer): Promise<Frame> {
    return this.expect('PING with ACK', (got) => got.type === FRAME.ping && isAck(got) && got.payload.equals(data));
  }

  /** A response on the stream, whole. */
  expectEnd(stream: number): Promise<Frame> {
    return this.expect(`END_STREAM of stream ${stream}`, (got) => isEnd(got) && got.stream === stream);
  }

  /** GOAWAY with one of the codes. A connection that is closed without GOAWAY also counts: GOAWAY is only a SHOULD (RFC 9113 §5.4.1). */
  async expectConnectionError(...codes: number[]): Promise<void> {
    const wanted = `GOAWAY with ${codes.join(' or ')}`;
    for (;;) {
      const event = await this.#nextOf(wanted);
      if (event === 'closed') return;
      if (event.type !== FRAME.goaway) continue;
      if (!codes.includes(event.payload.readUInt32BE(4))) throw this.#unmet(wanted);
      return;
    }
  }

  /** RST_STREAM with one of the codes, or the whole connection ended with one of them: that is allowed for each stream error (§5.4). */
  async expectStreamError(stream: number, ...codes: number[]): Promise<void> {
    const wanted = `RST_STREAM of stream ${stream} with ${codes.join(' or ')}`;
    for (;;) {
      const event = await this.#nextOf(wanted);
      if (event === 'closed') return;
      const code = codeOf(event, stream);
      if (code === null) continue;
      if (!codes.includes(code)) throw this.#unmet(wanted);
      return;
    }
  }

  /** The server closes the TCP connection. */
  async expectClose(): Promise<void> {
    while ((await this.#nextOf('a closed connection')) !== 'closed');
  }

  destroy(): void {
    this.socket.destroy();
  }

  async #nextOf(wanted: string): Promise<Frame | 'closed'> {
    const event = await this.next();
    if (event === 'silent') throw this.#unmet(wanted);
    return event;
  }

  #unmet(wanted: string): Unmet {
    return new Unmet(`expected ${wanted}; the server sent ${this.#seen.join(', ') || 'nothing'}`);
  }

  #add(event: Frame | 'closed'): void {
    this.#events.push(event);
    this.#seen.push(event === 'closed' ? event : nameOf(event));
    this.#wake?.();
    this.onEvent();
  }

  #read(bytes: Buffer): void {
    let all = this.#buffered.length === 0 ? bytes : Buffer.concat([this.#buffered, bytes]);
    while (all.length >= 9) {
      const end = 9 + all.readUIntBE(0, 3);
      if (all.length < end) break;
      const [type, flags] = [all[3] as number, all[4] as number];
      this.#add({ type, flags, stream: all.readUInt32BE(5), payload: all.subarray(9, end) });
      all = all.subarray(end);
    }
    this.#buffered = Buffer.from(all);
  }
}

/** SETTINGS of one entry. */
export function settingsFrame(...entries: ReadonlyArray<readonly [number, number]>): Buffer {
  return frame(FRAME.settings, 0, 0, Buffer.concat(entries.map(([id, value]) => setting(id, value))));
}

export function isAck(got: Frame): boolean {
  return (got.flags & FLAG.ack) !== 0;
}

/** The end of a response. */
export function isEnd(got: Frame): boolean {
  return (got.type === FRAME.data || got.type === FRAME.headers) && (got.flags & FLAG.endStream) !== 0;
}

function codeOf(got: Frame, stream: number): number | null {
  if (got.type === FRAME.goaway) return got.payload.readUInt32BE(4);
  return got.type === FRAME.rst && got.stream === stream ? got.payload.readUInt32BE(0) : null;
}

function nameOf(got: Frame): string {
  const code = codeOf(got, got.stream);
  return `${NAMES[got.type] ?? got.type}(stream ${got.stream}, flags ${got.flags}${code === null ? '' : `, code ${code}`})`;
}
