/** What a sender has under way to a peer that reads no faster than a limit: enough for the round trip, no more, and never nothing for ever. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FIRST_MARK, Flight } from './flight.ts';
import { FLAG, TYPE } from './frame.ts';
import { Scripted, turns } from './testing.ts';

/** 125 bytes per millisecond. */
const MBPS = 1;

/** A sender and a peer that answers marks when told, on a clock of their own. */
class Line {
  nowMs = 0;
  readonly flight = new Flight(MBPS, { now: () => this.nowMs, monotonic: () => this.nowMs });
  readonly #marks: number[] = [];
  woken = 0;

  /** Sends pieces until it has to wait; how many bytes that were. */
  fill(piece: number): number {
    let bytes = 0;
    while (!this.flight.waits(() => this.woken++)) {
      const mark = this.flight.sent(piece);
      if (mark !== null) this.#marks.push(mark);
      bytes += piece;
    }
    return bytes;
  }

  /** The peer has read as far as the next mark. */
  read(afterMs: number): void {
    this.nowMs += afterMs;
    const mark = this.#marks.shift();
    assert.ok(mark !== undefined, 'a mark is awaited');
    this.flight.answered(mark);
  }

  get marks(): number {
    return this.#marks.length;
  }
}

test('what is under way is what the limit lets pass in the least round trip and a tenth of a second', () => {
  const line = new Line();
  // Nothing is known yet of the round trip: 250 ms in all.
  const first = line.fill(500);
  assert.ok(first >= 31_250 && first <= 31_750, `${first}`);
  while (line.marks > 0) line.read(line.nowMs === 0 ? 40 : 0);
  assert.equal(line.woken, 1);
  // 140 ms, and of what was sent before, the end behind the last mark is not known to be read.
  const later = line.fill(500);
  assert.ok(later >= 17_500 - first / 4 && later <= 18_000, `${later}`);
  line.read(5_000);
  assert.ok(line.fill(500) < 18_000, 'a longer one is waiting, not distance');
});

test('it never waits without a mark under way, however long the pieces and however the round trip changes', () => {
  for (const piece of [1, 100, 4_096, 31_249, 31_250, 262_144, 1_000_000]) {
    const line = new Line();
    for (let i = 0; i < 50; i++) {
      line.fill(piece);
      const before = line.woken;
      while (line.woken === before) line.read([900, 3, 0.1, 4_000][i % 4] as number);
      assert.ok(line.marks <= 6, `${line.marks} marks under way`);
    }
  }
});

test('an answer that belongs to no mark is nothing, and a later one stands for those before', () => {
  const line = new Line();
  const sent = line.fill(1_000);
  for (const number of [0, 1, FIRST_MARK - 1, FIRST_MARK + 100, 0xffff_ffff]) line.flight.answered(number);
  assert.equal(line.fill(1_000), 0);
  line.flight.answered(FIRST_MARK + line.marks - 1);
  assert.equal(line.woken, 1);
  assert.ok(line.fill(1_000) < sent);
  line.flight.answered(FIRST_MARK);
  assert.equal(line.woken, 1, 'it was answered before');
});

test('marks are answered beside the pings of the session, and neither is taken for the other', async () => {
  const peer = new Scripted({ heartbeatMs: 0 });
  const answered: number[] = [];
  const flight = new Flight(MBPS, peer.clock);
  flight.answered = (number) => void answered.push(number);
  peer.session.pulse.flight = flight;
  const measured = peer.session.ping();
  await turns();
  peer.clock.ms += 7;
  peer.says({ type: TYPE.ping, flags: FLAG.ack, length: FIRST_MARK + 3 });
  peer.says({ type: TYPE.ping, flags: FLAG.ack, length: peer.frames[0]?.length ?? -1 });
  assert.equal(await measured, 7);
  assert.deepEqual(answered, [FIRST_MARK + 3]);
});
