/** A relay's stream, frame by frame: what is under way on it is bounded. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FLAG, INITIAL_WINDOW, TYPE } from '../../mux/frame.ts';
import { Scripted, turns } from '../../mux/testing.ts';
import { writeRecord } from '../../wire/relay-records.ts';
import { StreamLeg } from './stream-leg.ts';

test('the server is never given a longer window, so that a slow link holds a quarter of a megabyte and not seconds', async () => {
  let heard = 0;
  const peer = new Scripted({
    heartbeatMs: 0,
    accept: (stream) => {
      const onRecord = (_flow: number, _bytes: Buffer, start: number, end: number): void => void (heard += end - start);
      stream.sink = new StreamLeg({ stream, onRecord, onGone: () => {}, onMalformed: () => {} });
    },
  });
  peer.says({ type: TYPE.window, flags: FLAG.syn, id: 1 });
  const record = Buffer.alloc(6 + 1_018);
  writeRecord(record, 0, 1, Buffer.alloc(1_018), 0, 1_018);
  const window = Buffer.concat(Array.from({ length: INITIAL_WINDOW / record.length }, () => record));
  for (let round = 1; round <= 6; round++) {
    await turns();
    peer.forgetSent();
    peer.says({ id: 1, payload: window });
    await turns();
    const given = peer.frames.filter(({ type }) => type === TYPE.window).reduce((sum, { length }) => sum + length, 0);
    assert.equal(given, INITIAL_WINDOW, `round ${round}`);
  }
  assert.equal(heard, 6 * (INITIAL_WINDOW / record.length) * 1_018);
});
