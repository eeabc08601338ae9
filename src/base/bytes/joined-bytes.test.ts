import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JoinedBytes } from './joined-bytes.ts';

test('joined bytes: pieces of any size come out whole and in order', () => {
  const all = Buffer.from(Array.from({ length: 50_000 }, (_, i) => i % 251));
  for (const [size, taken] of [
    [1, 7],
    [16_384, 16_384],
    [50_000, 1_000],
    [333, 50_000],
  ] as const) {
    const joined = new JoinedBytes();
    for (let at = 0; at < all.length; at += size) joined.add(all, at, Math.min(all.length, at + size));
    assert.equal(joined.heldBytes, 4 * 16_384);
    const out: Buffer[] = [];
    for (let first = joined.first; first !== undefined; first = joined.first) {
      const count = Math.min(taken, first.length);
      out.push(Buffer.from(first.subarray(0, count)));
      joined.drop(count);
    }
    assert.ok(Buffer.concat(out).equals(all), `${size} in, ${taken} out`);
    assert.equal(joined.heldBytes, 0);
  }
});

const textOf = (joined: JoinedBytes): string | undefined => joined.first?.toString();

test('joined bytes: what is added while some was dropped follows it', () => {
  const joined = new JoinedBytes();
  joined.add(Buffer.from('abc'), 0, 3);
  joined.drop(2);
  joined.add(Buffer.from('xdefx'), 1, 4);
  assert.equal(textOf(joined), 'cdef');
  joined.clear();
  assert.equal(textOf(joined), undefined);
  joined.add(Buffer.from('g'), 0, 1);
  assert.equal(textOf(joined), 'g');
});

test('joined bytes: pieces go back to where they came from, but for those that were taken', () => {
  const free: Buffer[] = [];
  let made = 0;
  const source = {
    takePiece: (size: number) => free.pop() ?? Buffer.alloc(size, made++),
    givePiece: (piece: Buffer) => void free.push(piece),
  };
  const joined = new JoinedBytes(source);
  const bytes = Buffer.alloc(40_000, 'x');
  joined.add(bytes, 0, 40_000);
  for (let first = joined.first; first !== undefined; first = joined.first) joined.drop(first.length);
  assert.deepEqual([made, free.length], [3, 3]);
  joined.add(bytes, 0, 40_000);
  joined.drop(16_384);
  joined.clear();
  assert.deepEqual([made, new Set(free).size, free.length], [3, 3, 3], 'each once');
  joined.add(bytes, 0, 40_000);
  const taken = joined.takeAll();
  assert.equal(Buffer.concat(taken).length, 40_000);
  assert.deepEqual([free.length, joined.heldBytes], [0, 0]);
});
