/** Reads what the engine writes and throws where no server may write it (RFC 9113 §3.4, §4.2, §5.1). */
import assert from 'node:assert/strict';
import { FLAG, FRAME } from '../harness/h2-frames.ts';
import { Decoder } from '../http2/hpack.ts';

const LARGEST = 16_384;
const FRAME_HEAD = 9;

export class OutputCheck {
  readonly #decoder: Decoder | null;
  #left: Buffer = Buffer.alloc(0);
  #isFirst = true;
  /** The stream whose header block is under way; 0: none. */
  #inBlock = 0;
  #block: Buffer[] = [];
  /** Streams that this side has ended. */
  readonly #ended = new Set<number>();
  readonly #reset = new Set<number>();

  /** `isDecoding`: header blocks are decoded too, which takes its time. */
  constructor(isDecoding: boolean) {
    this.#decoder = isDecoding ? new Decoder() : null;
  }

  read(bytes: Buffer): void {
    let all = this.#left.length === 0 ? bytes : Buffer.concat([this.#left, bytes]);
    while (all.length >= FRAME_HEAD) {
      const end = FRAME_HEAD + all.readUIntBE(0, 3);
      assert.ok(end <= FRAME_HEAD + LARGEST, `a frame of ${end}`);
      if (all.length < end) break;
      this.#frame(all[3] as number, all[4] as number, all.readUInt32BE(5), all.subarray(FRAME_HEAD, end));
      all = all.subarray(end);
    }
    this.#left = Buffer.from(all);
  }

  #frame(type: number, flags: number, stream: number, payload: Buffer): void {
    if (this.#isFirst) assert.ok(type === FRAME.settings && flags === 0, `the first frame is ${type}`);
    this.#isFirst = false;
    const isContinued = this.#inBlock !== 0;
    assert.equal(type === FRAME.continuation, isContinued, `type ${type} in or outside a header block`);
    if (isContinued) assert.equal(stream, this.#inBlock);
    switch (type) {
      case FRAME.data:
      case FRAME.headers:
        assert.ok(stream % 2 === 1, `a response on stream ${stream}`);
        assert.ok(
          !this.#ended.has(stream) && !this.#reset.has(stream),
          `type ${type} on stream ${stream}, which is over`,
        );
        if ((flags & FLAG.endStream) !== 0) this.#ended.add(stream);
        if (type === FRAME.headers) this.#fragment(stream, flags, payload);
        break;
      case FRAME.continuation:
        this.#fragment(stream, flags, payload);
        break;
      case FRAME.rst:
        assert.equal(payload.length, 4);
        assert.notEqual(stream, 0);
        this.#reset.add(stream);
        break;
      case FRAME.settings:
        assert.equal(stream, 0);
        assert.equal(payload.length % 6, 0);
        break;
      case FRAME.ping:
        assert.equal(payload.length, 8);
        break;
      case FRAME.goaway:
        assert.ok(payload.length >= 8);
        break;
      case FRAME.window:
        assert.ok(payload.readUInt32BE(0) > 0 && payload.readUInt32BE(0) < 2 ** 31, 'an increment of 0');
        break;
      default:
        assert.fail(`a frame of type ${type}`);
    }
  }

  #fragment(stream: number, flags: number, payload: Buffer): void {
    const isEnd = (flags & FLAG.endHeaders) !== 0;
    this.#inBlock = isEnd ? 0 : stream;
    if (this.#decoder === null) return;
    this.#block.push(Buffer.from(payload));
    if (!isEnd) return;
    const fields = this.#decoder.decode(Buffer.concat(this.#block));
    this.#block = [];
    for (const [name] of fields) assert.ok(name !== '' && name === name.toLowerCase(), `the field "${name}"`);
  }
}
