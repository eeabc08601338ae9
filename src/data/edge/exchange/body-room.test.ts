/** Memory for bodies that wait for a verdict: one organization or address takes nothing from others. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BodyRoom } from './body-room.ts';
import { MAX_WANTED_BYTES, WantedBody } from './wanted-body.ts';

test('body room: an organization gets its share, an address a smaller one, and what is given back is free again', () => {
  const room = new BodyRoom({ total: 100, perOrg: 60, perAddress: 40 });
  assert.equal(room.take(['a', '1'], 40), true);
  assert.equal(room.take(['a', '1'], 1), false);
  assert.equal(room.take(['a', '2'], 20), true);
  assert.equal(room.take(['a', '3'], 1), false);
  assert.equal(room.take(['b', '4'], 40), true);
  assert.equal(room.taken, 100);
  room.give(['a', '1'], 40);
  assert.equal(room.take(['c', '1'], 40), true);
});

test('wanted body: its memory is given back however it ends', async () => {
  const room = new BodyRoom();
  const wanted = new WantedBody(room);
  const ends: Array<(body: WantedBody) => void> = [
    (body) => body.end(Buffer.from('x')),
    (body) => body.refuse(),
    (body) => void body.grow(MAX_WANTED_BYTES, 1),
  ];
  for (const end of ends) {
    const body = wanted.read(['org', 'address']);
    assert.equal(wanted.grow(10, 10), true);
    assert.equal(room.taken, 10);
    end(wanted);
    await body;
    assert.deepEqual([room.taken, wanted.isWanted], [0, false]);
  }
  wanted.refuse();
  assert.equal(room.taken, 0);
});
