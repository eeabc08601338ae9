import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FrameSink, FrameScanner, OPCODE } from './frame-scanner.ts';

interface Seen {
  readonly opcode: number;
  readonly isFinal: boolean;
  readonly isCompressed: boolean;
  readonly payload: Buffer;
}

/** What passed, unmasked byte by byte: in another way than the product does it. */
class Seer implements FrameSink {
  readonly frames: Seen[] = [];
  #head: Omit<Seen, 'payload'> | undefined;
  #bytes: number[] = [];

  begin(opcode: number, isFinal: boolean, isCompressed: boolean): void {
    this.#head = { opcode, isFinal, isCompressed };
    this.#bytes = [];
  }

  payload(bytes: Buffer, start: number, end: number, key: number, offset: number): void {
    assert.equal(offset, this.#bytes.length);
    const mask = Buffer.alloc(4);
    mask.writeInt32BE(key);
    for (let at = start; at < end; at++) this.#bytes.push((bytes[at] ?? 0) ^ (mask[this.#bytes.length % 4] ?? 0));
  }

  end(): void {
    assert.ok(this.#head);
    this.frames.push({ ...this.#head, payload: Buffer.from(this.#bytes) });
  }
}

interface Frame {
  readonly opcode: number;
  readonly payload: Buffer;
  readonly isFinal?: boolean;
  readonly isCompressed?: boolean;
}

const KEY = Buffer.from([0x37, 0xfa, 0x21, 0x3d]);

/** Frames in order, each with the shortest length that it can have. */
function written(frames: readonly Frame[], isMasked: boolean): Buffer {
  return Buffer.concat(
    frames.flatMap(({ opcode, payload, isFinal = true, isCompressed = false }): Uint8Array[] => {
      const { length } = payload;
      const first = opcode + (isFinal ? 0x80 : 0) + (isCompressed ? 0x40 : 0);
      const mask = isMasked ? 0x80 : 0;
      const long = Buffer.alloc(8);
      long.writeBigUInt64BE(BigInt(length));
      const [short, more] = length < 126 ? [length, 8] : length < 65_536 ? [126, 6] : [127, 0];
      const head = Buffer.concat([Buffer.from([first, mask + short]), long.subarray(more)]);
      return isMasked ? [head, KEY, Buffer.from(payload).map((byte, i) => byte ^ (KEY[i % 4] ?? 0))] : [head, payload];
    }),
  );
}

function scanned(bytes: Buffer, cuts: readonly number[], isMasked: boolean): { scanner: FrameScanner; seen: Seen[] } {
  const sink = new Seer();
  const scanner = new FrameScanner(isMasked, sink);
  let from = 0;
  for (const to of [...cuts, bytes.length]) {
    scanner.scan(bytes, from, to);
    from = to;
  }
  return { scanner, seen: sink.frames };
}

const TEXT = { opcode: OPCODE.text, payload: Buffer.from('hello') };
const everyByte = (bytes: Buffer): number[] => Array.from({ length: bytes.length }, (_, at) => at);

for (const isMasked of [true, false])
  for (const size of [0, 1, 125, 126, 65_535, 65_536, 70_000])
    test(`scanner: a frame of ${size} bytes, masked ${isMasked}, is one frame whole and byte by byte`, () => {
      const payload = Buffer.alloc(size, 7);
      const bytes = written([{ opcode: OPCODE.binary, payload }, TEXT], isMasked);
      for (const cuts of [[], everyByte(bytes)]) {
        const { scanner, seen } = scanned(bytes, cuts, isMasked);
        assert.equal(scanner.frames, 2);
        assert.equal(scanner.isBroken, false);
        assert.deepEqual(
          seen.map(({ opcode, payload: { length } }) => [opcode, length]),
          [
            [OPCODE.binary, size],
            [OPCODE.text, 5],
          ],
        );
        assert.ok(seen[0]?.payload.equals(payload));
        assert.equal(String(seen[1]?.payload), 'hello');
      }
    });

test('scanner: control frames between the fragments of a message are frames of their own', () => {
  const frames = [
    { opcode: OPCODE.text, payload: Buffer.from('he'), isFinal: false, isCompressed: true },
    { opcode: OPCODE.ping, payload: Buffer.from('?') },
    { opcode: OPCODE.continuation, payload: Buffer.alloc(0), isFinal: false },
    { opcode: OPCODE.continuation, payload: Buffer.from('llo') },
  ];
  const { scanner, seen } = scanned(written(frames, true), [], true);
  assert.equal(scanner.frames, 4);
  assert.deepEqual(
    seen.map((one) => [one.opcode, one.isFinal, one.isCompressed, String(one.payload)]),
    [
      [OPCODE.text, false, true, 'he'],
      [OPCODE.ping, true, false, '?'],
      [OPCODE.continuation, false, false, ''],
      [OPCODE.continuation, true, false, 'llo'],
    ],
  );
});

const code = (value: number, reason = ''): Buffer => {
  const bytes = Buffer.alloc(2 + reason.length);
  bytes.writeUInt16BE(value);
  bytes.write(reason, 2);
  return bytes;
};

for (const [name, payload, expected] of [
  ['its code', code(4001, 'asked'), 4001],
  ['no payload: no code', Buffer.alloc(0), 0],
  ['one byte: no code', Buffer.from([3]), 0],
] as const)
  for (const isMasked of [true, false])
    test(`scanner: a close frame gives ${name}, masked ${isMasked}`, () => {
      const bytes = written([TEXT, { opcode: OPCODE.close, payload }], isMasked);
      for (const cuts of [[], everyByte(bytes)]) {
        const { scanner } = scanned(bytes, cuts, isMasked);
        assert.equal(scanner.isClosed, true);
        assert.equal(scanner.closeCode, expected);
      }
    });

test('scanner: the first of two close frames counts', () => {
  const close = (value: number): Frame => ({ opcode: OPCODE.close, payload: code(value) });
  assert.equal(scanned(written([close(1000), close(1011)], true), [], true).scanner.closeCode, 1000);
});

// biome-ignore format: one case per line
const BROKEN: ReadonlyArray<readonly [string, Buffer, isMasked: boolean]> = [
  ['no mask of a visitor', Buffer.from([0x81, 0x01, 0x41]), true],
  ['a mask of a service', Buffer.from([0x81, 0x81, 0, 0, 0, 0, 0x41]), false],
  ['a reserved opcode', Buffer.from([0x83, 0x00]), false],
  ['a reserved control opcode', Buffer.from([0x8b, 0x00]), false],
  ['RSV2', Buffer.from([0xa1, 0x00]), false],
  ['RSV1 in a control frame', Buffer.from([0xc9, 0x00]), false],
  ['a control frame in parts', Buffer.from([0x09, 0x00]), false],
  ['a long control frame', Buffer.from([0x89, 126, 0, 126]), false],
  ['a continuation of nothing', Buffer.from([0x80, 0x00]), false],
  ['a message within a message', Buffer.from([0x01, 0x00, 0x81, 0x00]), false],
  ['a length beyond all numbers', Buffer.from([0x82, 127, 0xff, 0, 0, 0, 0, 0, 0, 0]), false],
  ['another protocol', Buffer.from('SSH-2.0-OpenSSH_9.9\r\n'), false],
];
for (const [name, bytes, isMasked] of BROKEN)
  test(`scanner: ${name} ends the count`, () => {
    const bare = written([TEXT], isMasked);
    const { scanner } = scanned(Buffer.concat([bare, bytes, bare]), [], isMasked);
    assert.equal(scanner.isBroken, true);
    assert.ok(scanner.frames >= 1 && scanner.frames <= 2, String(scanner.frames));
  });

/** Reproducible numbers (mulberry32), below `most`. */
function numbers(seed: number): (most: number) => number {
  let state = seed;
  return (most) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % most;
  };
}

function randomFrames(next: (most: number) => number): Frame[] {
  const frames: Frame[] = [];
  const size = (): number => [next(4), next(130), 120 + next(10), next(70_000)][next(20) === 0 ? 3 : next(3)] ?? 0;
  const control = (): void => {
    if (next(4) > 0) return;
    frames.push({ opcode: next(2) === 0 ? OPCODE.ping : OPCODE.pong, payload: Buffer.alloc(next(126), next(256)) });
  };
  for (let messages = 1 + next(8); messages > 0; messages--) {
    const parts = 1 + next(4);
    for (let part = 0; part < parts; part++) {
      const opcode = part > 0 ? OPCODE.continuation : next(2) === 0 ? OPCODE.text : OPCODE.binary;
      const isCompressed = part === 0 && next(3) === 0;
      frames.push({ opcode, payload: Buffer.alloc(size(), next(256)), isFinal: part === parts - 1, isCompressed });
      control();
    }
  }
  return frames;
}

test('scanner: any frames, cut anywhere, come out as they went in', () => {
  for (let seed = 1; seed <= 300; seed++) {
    const next = numbers(seed);
    const isMasked = next(2) === 0;
    const frames = randomFrames(next);
    const bytes = written(frames, isMasked);
    const cuts = Array.from({ length: next(40) }, () => next(bytes.length + 1)).sort((a, b) => a - b);
    const { scanner, seen } = scanned(bytes, cuts, isMasked);
    assert.equal(scanner.isBroken, false, `seed ${seed}`);
    assert.equal(scanner.frames, frames.length, `seed ${seed}`);
    assert.deepEqual(
      seen,
      frames.map(({ opcode, payload, isFinal = true, isCompressed = false }) => ({
        ...{ opcode, isFinal, isCompressed },
        payload,
      })),
      `seed ${seed}`,
    );
  }
});

test('scanner: random bytes never throw, and break or pass', () => {
  for (let seed = 1; seed <= 300; seed++) {
    const next = numbers(seed);
    const bytes = Buffer.from(Array.from({ length: 200 }, () => next(256)));
    const { scanner } = scanned(bytes, [next(200)], next(2) === 0);
    assert.ok(scanner.frames <= 100);
  }
});
