// alone: it reads the most memory that its process ever held
/** Bodies are decoded for people: as far as they go, and no farther than is bearable. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { decodedBody, MAX_DECODED_BYTES } from './decoded-body.ts';

const TEXT = Buffer.from('hello '.repeat(500));

for (const [coding, bytes] of [
  ['gzip', gzipSync(TEXT)],
  ['X-GZIP ', gzipSync(TEXT)],
  ['deflate', deflateSync(TEXT)],
  ['br', brotliCompressSync(TEXT)],
  ['zstd', zstdCompressSync(TEXT)],
] as const) {
  test(`${coding} is decoded, and a beginning of it as far as it goes`, async () => {
    assert.deepEqual(await decodedBody(coding, bytes), { bytes: TEXT, truncated: false });
    const cut = await decodedBody(coding, bytes.subarray(0, bytes.length - 1));
    if (cut !== undefined) assert.ok(TEXT.subarray(0, cut.bytes.length).equals(cut.bytes) && cut.truncated);
  });
}

test('a bomb is stopped where enough has come out', async () => {
  const frame = zstdCompressSync(Buffer.alloc(64 << 20));
  const bomb = Buffer.concat(Array.from({ length: 9 }, () => frame));
  assert.ok(bomb.length < 65_536, 'it fits into what is kept of a body');
  const before = process.resourceUsage().maxRSS;
  const decoded = await decodedBody('zstd', bomb);
  assert.deepEqual([decoded?.bytes.length, decoded?.truncated], [MAX_DECODED_BYTES, true]);
  const grownKb = process.resourceUsage().maxRSS - before;
  assert.ok(grownKb < 100_000, `${grownKb} KB for what would be 576 MB`);
});

test('what is no coding, or not what it says, is left as it is', async () => {
  for (const coding of [undefined, '', 'identity', 'gzip, br', '__proto__', 'compress'])
    assert.equal(await decodedBody(coding, TEXT), undefined, String(coding));
  assert.equal(await decodedBody('gzip', TEXT), undefined);
  assert.equal(await decodedBody('gzip', Buffer.alloc(0)), undefined);
});
