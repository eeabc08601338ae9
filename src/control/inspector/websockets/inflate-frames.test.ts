import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { constants, createDeflateRaw, type DeflateRaw } from 'node:zlib';
import type { RecordedFrame } from '../../../plane/inspection.ts';
import { inflateFrames } from './inflate-frames.ts';

/** As a peer compresses messages one after the other: each refers to those before it. */
async function packed(deflate: DeflateRaw, text: string): Promise<Buffer> {
  const parts: Buffer[] = [];
  deflate.on('data', (part: Buffer) => parts.push(part));
  deflate.write(text);
  await new Promise<void>((resolve) => deflate.flush(constants.Z_SYNC_FLUSH, resolve));
  if (parts.length === 0) await once(deflate, 'data');
  deflate.removeAllListeners('data');
  const bytes = Buffer.concat(parts);
  assert.equal(bytes.subarray(-4).toString('hex'), '0000ffff');
  return bytes.subarray(0, -4);
}

function frame(bytes: Uint8Array, over: Partial<RecordedFrame> = {}): RecordedFrame {
  const base = { from: 'visitor', atMs: 1, opcode: 1, fragments: 1, isTruncated: false } as const;
  return { ...base, size: bytes.length, isCompressed: true, bytes, ...over };
}

const texts = (frames: readonly RecordedFrame[]): string[] =>
  frames.map(({ bytes, isCompressed }) => (isCompressed ? 'compressed' : Buffer.from(bytes).toString()));

const ONE = '{"name":"a rather long message that comes again"}';

test('frames: compressed messages are opened in order, each direction by itself', async () => {
  const [up, down] = [createDeflateRaw(), createDeflateRaw()];
  const frames = [
    frame(await packed(up, ONE)),
    frame(await packed(down, `down ${ONE}`), { from: 'service' }),
    frame(Buffer.from('?'), { opcode: 9, isCompressed: false }),
    frame(await packed(up, ONE)),
    frame(await packed(down, `down ${ONE}`), { from: 'service' }),
  ];
  assert.ok((frames[3]?.size ?? 99) < 12, 'the second one refers to the first');
  const opened = inflateFrames(frames);
  assert.deepEqual(texts(opened), [ONE, `down ${ONE}`, '?', ONE, `down ${ONE}`]);
  assert.equal(opened[3]?.size, frames[3]?.size);
});

test('frames: behind one that was truncated, what refers to it stays compressed', async () => {
  const up = createDeflateRaw();
  const first = frame(await packed(up, ONE));
  const again = frame(await packed(up, ONE));
  const other = frame(await packed(up, 'QXZW'));
  const cut = { ...first, isTruncated: true, bytes: first.bytes.subarray(0, 5) };
  const opened = inflateFrames([cut, again, other]);
  assert.deepEqual(texts(opened), ['compressed', 'compressed', 'QXZW']);
});

test('frames: messages that stand for far too much cost no more than the bound of all', async () => {
  const bomb = frame(await packed(createDeflateRaw(), 'x'.repeat(1 << 20)));
  const good = frame(await packed(createDeflateRaw(), ONE), { from: 'service' });
  assert.deepEqual(texts(inflateFrames([bomb, bomb, bomb, good])).at(-1), ONE);
  assert.deepEqual(texts(inflateFrames([bomb, bomb, bomb, bomb, good])).at(-1), 'compressed');
});

test('frames: what is longer than is kept is truncated, and what is far too long stays compressed', async () => {
  const frames = [
    frame(await packed(createDeflateRaw(), 'x'.repeat(20_000))),
    frame(await packed(createDeflateRaw(), 'x'.repeat(1 << 20)), { from: 'service' }),
    frame(Buffer.from('no deflate at all'), { from: 'service' }),
  ];
  const [long, far, none] = inflateFrames(frames);
  assert.deepEqual([long?.bytes.length, long?.isTruncated, long?.isCompressed], [16_384, true, false]);
  assert.deepEqual([far?.isCompressed, none?.isCompressed], [true, true]);
});
