import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Http2ServerStream } from './stream.ts';
import { StreamMap } from './stream-map.ts';

/** All that the map looks at. */
function stream(id: number): Http2ServerStream {
  return { id } as Http2ServerStream;
}

test('stream map: does as a Map would, with streams that stay, come and go', () => {
  const map = new StreamMap();
  const other = new Map<number, Http2ServerStream>();
  let seed = 7;
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
  let id = 1;
  for (let i = 0; i < 20_000; i++) {
    if (other.size < 200 && random(2) === 0) {
      const made = stream(id);
      map.add(made);
      other.set(id, made);
      id += 2 * (1 + random(3));
    } else if (other.size > 0) {
      const all = [...other.values()];
      // Old ones stay longer.
      const gone = all[Math.min(all.length - 1, random(all.length) + random(all.length))] as Http2ServerStream;
      assert.equal(map.delete(gone), true);
      assert.equal(map.delete(gone), false);
      other.delete(gone.id);
    }
    assert.equal(map.size, other.size);
    const asked = 1 + 2 * random((id + 1) / 2);
    assert.equal(map.get(asked), other.get(asked));
  }
  const byId = (a: Http2ServerStream, b: Http2ServerStream): number => a.id - b.id;
  assert.deepEqual(map.all().sort(byId), [...other.values()].sort(byId));
  for (const each of map.all()) map.delete(each);
  map.trim();
  assert.equal(map.size, 0);
});
