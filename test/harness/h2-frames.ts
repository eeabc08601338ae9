/**
 * A visitor that writes HTTP/2 frames by hand, right ones and wrong ones: what no client library would send. Fields are HPACK literals, never
 * indexed and not compressed, so that a test says each byte.
 */
import { EventEmitter, once } from 'node:events';
import { connect, type TLSSocket } from 'node:tls';

export const FRAME = {
  data: 0,
  headers: 1,
  priority: 2,
  rst: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  window: 8,
  continuation: 9,
} as const;

export const FLAG = { none: 0, ack: 1, endStream: 1, endHeaders: 4, padded: 8, priority: 32 } as const;

export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

export type Fields = ReadonlyArray<readonly [string, string]>;

const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
/** Frames that are kept for a test to look at; older ones are dropped. */
const KEPT = 10_000;

/** `[length, type, flags, stream]` and the payload. */
export function frame(type: number, flags: number, stream: number, payload: Buffer | string = ''): Buffer {
  const body = typeof payload === 'string' ? Buffer.from(payload, 'latin1') : payload;
  const head = Buffer.alloc(9);
  head.writeUIntBE(body.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, body]);
}

/** Literal fields without indexing (RFC 7541 §6.2.2), names and values as they are. */
export function literals(fields: Fields): Buffer {
  return Buffer.concat(fields.flatMap(([name, value]) => [Buffer.from([0]), text(name), text(value)]));
}

/** A literal that is added to the peer's dynamic table (RFC 7541 §6.2.1): of use to bombs. */
export function indexedLiteral(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.from([0x40]), text(name), text(value)]);
}

export function request(method = 'GET', path = '/', ...more: Fields): Fields {
  return [[':method', method], [':scheme', 'https'], [':authority', 'shop.example.test'], [':path', path], ...more];
}

export function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** One entry of SETTINGS. */
export function setting(id: number, value: number): Buffer {
  const bytes = Buffer.alloc(6);
  bytes.writeUInt16BE(id);
  bytes.writeUInt32BE(value, 2);
  return bytes;
}

/** A string with its length as a 7-bit prefix integer (RFC 7541 §5.1, §5.2). */
function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'latin1');
  if (bytes.length < 127) return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  const prefix = [127];
  let rest = bytes.length - 127;
  while (rest >= 128) {
    prefix.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  prefix.push(rest);
  return Buffer.concat([Buffer.from(prefix), bytes]);
}

export class FrameVisitor {
  readonly socket: TLSSocket;
  /** Emits `moved` for whatever happens; never an error, as the socket does. */
  readonly news = new EventEmitter().setMaxListeners(0);
  readonly frames: Frame[] = [];
  /** Data bytes that came, by stream. */
  readonly bodies = new Map<number, string>();
  isOver = false;
  #buffered = Buffer.alloc(0);

  constructor(socket: TLSSocket) {
    this.socket = socket;
    socket.on('data', (bytes: Buffer) => this.#read(bytes));
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.isOver = true;
      this.news.emit('moved');
    });
  }

  /** Connects and says the preface with `settings`. Acknowledges the server's settings. */
  static async open(port: number, options: { settings?: Buffer; name?: string } = {}): Promise<FrameVisitor> {
    const socket = connect({
      host: '127.0.0.1',
      port,
      servername: options.name ?? 'shop.example.test',
      ALPNProtocols: ['h2'],
      rejectUnauthorized: false,
    });
    const visitor = new FrameVisitor(socket);
    await once(socket, 'secureConnect');
    // Else a second frame waits for the answer to the first.
    socket.setNoDelay(true);
    socket.write(Buffer.concat([Buffer.from(PREFACE), frame(FRAME.settings, 0, 0, options.settings ?? '')]));
    await visitor.until((f) => f.type === FRAME.settings && (f.flags & FLAG.ack) === 0);
    visitor.send(FRAME.settings, FLAG.ack, 0);
    return visitor;
  }

  send(type: number, flags: number, stream: number, payload: Buffer | string = ''): void {
    this.raw(frame(type, flags, stream, payload));
  }

  raw(bytes: Buffer): void {
    if (!this.isOver) this.socket.write(bytes);
  }

  /** Opens stream `id` with a whole head. */
  ask(id: number, fields: Fields = request(), flags: number = FLAG.endStream): void {
    this.send(FRAME.headers, flags | FLAG.endHeaders, id, literals(fields));
  }

  /** The first frame, come or to come, that `wanted` wants. Rejects when the connection ends before. */
  async until(wanted: (frame: Frame) => boolean): Promise<Frame> {
    for (;;) {
      const found = this.frames.find(wanted);
      if (found !== undefined) return found;
      if (this.isOver) throw new Error('the connection ended before that frame');
      await once(this.news, 'moved');
    }
  }

  /** Resolves once the server has closed the connection. */
  async over(): Promise<void> {
    while (!this.isOver) await once(this.news, 'moved');
  }

  /** How the server ended `stream`: the code of its reset, or null for a good end. */
  async endOf(stream: number): Promise<number | null> {
    const end = await this.until(
      (f) =>
        f.stream === stream &&
        (f.type === FRAME.rst ||
          ((f.type === FRAME.data || f.type === FRAME.headers) && (f.flags & FLAG.endStream) !== 0)),
    );
    return end.type === FRAME.rst ? end.payload.readUInt32BE(0) : null;
  }

  /** The code of GOAWAY, when there was one. */
  get goaway(): number | null {
    return this.frames.findLast((f) => f.type === FRAME.goaway)?.payload.readUInt32BE(4) ?? null;
  }

  #read(bytes: Buffer): void {
    let all = Buffer.concat([this.#buffered, bytes]);
    while (all.length >= 9) {
      const length = all.readUIntBE(0, 3);
      if (all.length < 9 + length) break;
      const got: Frame = {
        type: all[3] as number,
        flags: all[4] as number,
        stream: all.readUInt32BE(5),
        payload: all.subarray(9, 9 + length),
      };
      all = all.subarray(9 + length);
      this.frames.push(got);
      if (this.frames.length > KEPT) this.frames.shift();
      if (got.type === FRAME.data)
        this.bodies.set(got.stream, (this.bodies.get(got.stream) ?? '') + got.payload.toString('latin1'));
    }
    this.#buffered = Buffer.from(all);
    this.news.emit('moved');
  }
}
