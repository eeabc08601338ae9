import assert from 'node:assert/strict';
import test from 'node:test';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { bodyLines } from './body.ts';

function shown(bytes: Buffer, of: { coding?: string; size?: number; isCut?: boolean } = {}): string[] {
  const lines = bodyLines({ bytes, size: of.size ?? bytes.length, isCut: of.isCut ?? false, coding: of.coding ?? '' });
  return lines.map((line) => line.map(({ text }) => text).join(''));
}

const TEXT = Buffer.from('{"ok":true}\nzweite Zeile: für\n');
const LINES = ['', '  {"ok":true}', '  zweite Zeile: für'];

test('text is shown line by line, and nothing for no body', () => {
  assert.deepEqual(shown(TEXT), LINES);
  assert.deepEqual(shown(Buffer.alloc(0)), []);
});

test('content codings are undone, and said', () => {
  const packed = {
    gzip: gzipSync(TEXT),
    'X-Gzip': gzipSync(TEXT),
    deflate: deflateSync(TEXT),
    br: brotliCompressSync(TEXT),
    zstd: zstdCompressSync(TEXT),
  };
  for (const [coding, bytes] of Object.entries(packed))
    assert.deepEqual(shown(bytes, { coding }), [...LINES, `  sent as ${coding}, ${bytes.length} bytes`], coding);
});

test('of a compressed body that was cut the beginning is shown', () => {
  const long = Buffer.from(Array.from({ length: 50_000 }, (_, i) => `line ${i * 7919}`).join('\n'));
  for (const [coding, whole] of [
    ['gzip', gzipSync(long)],
    ['br', brotliCompressSync(long)],
    ['zstd', zstdCompressSync(long)],
  ] as const) {
    const lines = shown(whole.subarray(0, whole.length - 10), { coding, size: whole.length, isCut: true });
    assert.equal(lines[1], '  line 0', coding);
    assert.ok(lines.at(-1)?.includes('bytes recorded'), coding);
  }
});

test('inspect: a body that is not text shows its size and the recorded part', () => {
  const bytes = Buffer.from([0, 1, 2, 255]);
  const words = '  (4 bytes of binary data; --json prints them in base64)';
  assert.deepEqual(shown(bytes), ['', words]);
  assert.deepEqual(shown(bytes, { coding: 'gzip' }), ['', words]);
  assert.deepEqual(shown(bytes, { coding: 'gzip, br' }), ['', words]);
  assert.deepEqual(shown(bytes, { size: 9, isCut: true }), ['', words, '  … 4 of 9 bytes recorded']);
});

test('a bomb stays packed', () => {
  const bomb = gzipSync(Buffer.alloc(4 * 1024 * 1024));
  assert.match(shown(bomb, { coding: 'gzip' })[1] ?? '', /of binary data/);
});
