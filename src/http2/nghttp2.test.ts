/** The oracle: what nghttp2 (node:http2) encodes is decoded here to the byte, and what is encoded here is decoded there. */
import assert from 'node:assert/strict';
import { type ClientHttp2Session, connect, type OutgoingHttpHeaders, sensitiveHeaders } from 'node:http2';
import { type Duplex, duplexPair } from 'node:stream';
import { test, type TestContext } from 'node:test';
import { rounds } from '../base/testing.ts';
import { Decoder } from './decoder.ts';
import { Encoder } from './encoder.ts';
import { HeadScratch } from './request-head.ts';
import { LIMITS } from './testing.ts';

const FRAME_HEAD = 9;
const TYPE = { headers: 1, settings: 4, continuation: 9 } as const;
const FLAG = { ack: 1, endStream: 1, endHeaders: 4 } as const;
const PREFACE_BYTES = 24;

class NoRows extends HeadScratch {
  override takeRow(): false {
    return false;
  }
}

/** The server's side: of each request, the head by `x-number`; answers with what `respond` says for it. */
class Peer {
  readonly heads = new Map<number, string>();
  readonly #socket: Duplex;
  readonly #respond: (number: number) => readonly string[];
  readonly #encoder = new Encoder();
  readonly #decoders = [new Decoder(), new Decoder()] as const;
  readonly #scratches = [new HeadScratch(LIMITS), new NoRows(LIMITS)] as const;
  #rest: Buffer = Buffer.alloc(0);
  #block: Buffer = Buffer.alloc(0);
  #isBegun = false;

  constructor(socket: Duplex, respond: (number: number) => readonly string[]) {
    this.#socket = socket;
    this.#respond = respond;
    socket.on('data', (bytes: Buffer) => this.#read(bytes));
    socket.write(frame(TYPE.settings, 0, 0, Buffer.alloc(0)));
  }

  #read(bytes: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    if (!this.#isBegun && this.#rest.length < PREFACE_BYTES) return;
    let at = this.#isBegun ? 0 : PREFACE_BYTES;
    this.#isBegun = true;
    while (at + FRAME_HEAD <= this.#rest.length) {
      const end = at + FRAME_HEAD + this.#rest.readUIntBE(at, 3);
      if (end > this.#rest.length) break;
      this.#frame(this.#rest.subarray(at, end));
      at = end;
    }
    this.#rest = this.#rest.subarray(at);
  }

  #frame(whole: Buffer): void {
    const [type = 0, flags = 0] = whole.subarray(3, 5);
    const id = whole.readUInt32BE(5);
    if (type === TYPE.settings && (flags & FLAG.ack) === 0) {
      this.#settings(whole.subarray(FRAME_HEAD));
      this.#socket.write(frame(TYPE.settings, FLAG.ack, 0, Buffer.alloc(0)));
    }
    if (type !== TYPE.headers && type !== TYPE.continuation) return;
    // A priority of five bytes in front of it.
    const skip = type === TYPE.headers && (flags & 0x20) !== 0 ? 5 : 0;
    this.#block = Buffer.concat([this.#block, whole.subarray(FRAME_HEAD + skip)]);
    if ((flags & FLAG.endHeaders) === 0) return;
    const block = this.#block;
    this.#block = Buffer.alloc(0);
    this.#answer(id, this.#head(block));
  }

  #settings(entries: Buffer): void {
    for (let at = 0; at < entries.length; at += 6)
      if (entries.readUInt16BE(at) === 1) this.#encoder.limit(entries.readUInt32BE(at + 2));
  }

  #head(block: Buffer): string {
    const texts = this.#scratches.map((into, i) => {
      assert.ok(this.#decoders[i]?.decode(block, 0, block.length, into));
      into.finish(true, block.length);
      assert.equal(into.reason, '');
      return into.bytes.toString('latin1', into.start, into.end);
    });
    assert.equal(texts[0], texts[1], 'a row of fields that was kept is the row that came');
    return texts[0] as string;
  }

  #answer(id: number, head: string): void {
    const number = Number(/\r\nx-number: (\d+)\r\n/.exec(head)?.[1]);
    this.heads.set(number, head);
    const out = Buffer.alloc(32_768);
    const end = this.#encoder.answer(200 + (number % 7), this.#respond(number), out, 0, out.length);
    const block = out.subarray(0, end);
    if (block.length <= 16_384)
      return void this.#socket.write(frame(TYPE.headers, FLAG.endStream | FLAG.endHeaders, id, block));
    this.#socket.write(frame(TYPE.headers, FLAG.endStream, id, block.subarray(0, 16_384)));
    this.#socket.write(frame(TYPE.continuation, FLAG.endHeaders, id, block.subarray(16_384)));
  }
}

function frame(type: number, flags: number, id: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(FRAME_HEAD);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(id, 5);
  return Buffer.concat([head, payload]);
}

let seed = 7;
const random = (n: number): number => (seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff) % n;
const pick = <T>(list: readonly T[]): T => list[random(list.length)] as T;
const text = (longest: number): string =>
  Array.from({ length: random(longest) }, () =>
    String.fromCharCode(random(8) === 0 ? 160 + random(96) : 33 + random(94)),
  ).join('');

const NAMES = [
  'accept',
  'user-agent',
  'x-a',
  'x-request-id',
  'cache-control',
  'referer',
  'x-long-name-of-a-field',
  'range',
  'from',
  'priority',
  'sec-ch-ua',
];
const USUAL = ['a', 'gzip, deflate', 'no-cache', 'x'.repeat(200), 'text/html,application/xhtml+xml'];

function open(
  t: TestContext,
  respond: (number: number) => readonly string[],
  headerTableSize?: number,
): { peer: Peer; client: ClientHttp2Session } {
  const [near, far] = duplexPair();
  const peer = new Peer(far, respond);
  const client = connect('http://localhost', {
    createConnection: () => near,
    strictFieldWhitespaceValidation: false,
    ...(headerTableSize === undefined ? {} : { settings: { headerTableSize } }),
  });
  t.after(() => client.destroy());
  return { peer, client };
}

/** The head as it goes out, without pseudo-fields; and the answer. */
async function ask(client: ClientHttp2Session, fields: OutgoingHttpHeaders): Promise<Record<string, unknown>> {
  const stream = client.request({ ':authority': 'localhost', ...fields });
  stream.resume();
  const [headers] = await new Promise<[Record<string, unknown>]>((resolve, reject) => {
    stream.once('response', (...all) => resolve([all[0] as Record<string, unknown>]));
    stream.once('error', reject);
  });
  return headers;
}

const HEADS = rounds(3_000, 20_000);

test(`hpack: ${HEADS} heads that nghttp2 encodes come back to the byte`, { timeout: 120_000 }, async (t) => {
  const { peer, client } = open(t, () => []);
  const one = async (number: number): Promise<void> => {
    const fields: OutgoingHttpHeaders = { 'x-number': String(number) };
    for (let i = random(8); i > 0; i--) {
      const isNew = random(3) === 0;
      fields[pick(NAMES)] = isNew ? text(random(20) === 0 ? 3_000 : 60) : pick(USUAL);
    }
    const path = `/e${encodeURIComponent(text(20))}`;
    const secret = random(10) === 0 ? { authorization: text(30), [sensitiveHeaders]: ['authorization'] } : {};
    await ask(client, { ':path': path, ...fields, ...secret });
    const lines = Object.entries({ ...fields, ...secret }).map(([name, value]) => `${name}: ${String(value)}\r\n`);
    assert.equal(peer.heads.get(number), `GET ${path} HTTP/1.1\r\nhost: localhost\r\n${lines.join('')}\r\n`);
    peer.heads.delete(number);
  };
  for (let done = 0; done < HEADS; done += 50) await Promise.all(Array.from({ length: 50 }, (_, i) => one(done + i)));
});

test("hpack: a browser's heads, whose row of fields repeats, are as without the cache of rows", {
  timeout: 60_000,
}, async (t) => {
  const { peer, client } = open(t, () => []);
  const browser = Object.fromEntries(
    [
      'user-agent',
      'accept',
      'accept-encoding',
      'accept-language',
      'sec-ch-ua',
      'sec-fetch-mode',
      'sec-fetch-dest',
      'dnt',
    ].map((name) => [name, `${name} is this`]),
  );
  for (let number = 0; number < rounds(500, 1_000); number++) {
    const extra = random(4) === 0 ? { [pick(NAMES)]: pick(USUAL) } : {};
    const middle = random(9) === 0 ? { dnt: text(10), 'content-length': '0' } : {};
    await ask(client, { ':path': `/${number}`, ...browser, ...middle, ...extra, 'x-number': String(number) });
    const lines = Object.entries({ ...browser, ...middle, ...extra, 'x-number': number }).map(
      ([name, value]) => `${name}: ${String(value)}\r\n`,
    );
    assert.equal(peer.heads.get(number), `GET /${number} HTTP/1.1\r\nhost: localhost\r\n${lines.join('')}\r\n`);
  }
});

for (const size of [undefined, 0, 200, 65_536]) {
  test(`hpack: nghttp2 decodes what is encoded here, with a table of ${size ?? 'the usual size'}`, {
    timeout: 60_000,
  }, async (t) => {
    const wanted = new Map<number, Map<string, string>>();
    const respond = (number: number): string[] => {
      const fields = new Map<string, string>();
      for (let i = random(12); i > 0; i--) {
        const name = pick(['Content-Type', 'cache-control', 'ETag', 'X-Mine', 'x-other', 'server', 'date', 'Vary']);
        fields.set(name.toLowerCase(), random(3) === 0 ? text(random(30) === 0 ? 4_000 : 50) : pick(USUAL));
      }
      wanted.set(number, fields);
      return [...fields].map(([name, value]) => `${random(2) === 0 ? name.toUpperCase() : name}: ${value} `);
    };
    const { client } = open(t, respond, size);
    const one = async (number: number): Promise<void> => {
      const { ':status': status, ...got } = await ask(client, { 'x-number': String(number) });
      assert.equal(status, 200 + (number % 7));
      assert.deepEqual(new Map(Object.entries(got).map(([name, value]) => [name, String(value)])), wanted.get(number));
      wanted.delete(number);
    };
    for (let done = 0; done < rounds(800, 2_000); done += 20)
      await Promise.all(Array.from({ length: 20 }, (_, i) => one(done + i)));
  });
}
