import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Allowance } from '../../../base/limits/allowance.ts';
import type { WebSocketUpdate } from '../../../plane/inspection.ts';
import { TunnelRecords } from '../tunnel-records.ts';
import { FRAME_LIMITS } from './frame-capture.ts';
import { WebSocketRecord } from './websocket-record.ts';

const allowance = new Allowance({ perSecond: 0, burst: 0 }, 0);
const tunnel = new TunnelRecords(
  { route: { tunnelId: 'shop', orgId: 'ann' } },
  { allowance, org: { heldBytes: 0, allowance, frames: { heldBytes: 0 } } },
);
/** A text frame of a service. */
const FRAME = Buffer.from([0x81, 2, 0x68, 0x69]);

class Fixture {
  held = 0;
  changes = 0;
  readonly record: WebSocketRecord;
  readonly startedMs = performance.now();

  constructor() {
    this.record = new WebSocketRecord(
      {
        takeFrames: (_of, bytes) => {
          this.held += bytes;
          return true;
        },
        giveFrames: (_of, bytes) => {
          this.held -= bytes;
        },
        changed: () => this.changes++,
        failed: (error) => assert.fail(String(error)),
      },
      { id: 'one', tunnel, recordsFrames: true },
    );
  }

  say(count = 1): void {
    for (let i = 0; i < count; i++) this.record.fromService.payload(FRAME, 0, FRAME.length);
  }

  update(): WebSocketUpdate {
    return this.record.update(Buffer.alloc(this.record.untoldBytes), 0);
  }
}

test('WebSocket record: an open connection is reported after 2 seconds, then ever more rarely, and only if data passed', () => {
  const fixture = new Fixture();
  const { record, startedMs } = fixture;
  const reported: number[] = [];
  for (let second = 1; second <= 300; second++) {
    if (second <= 155 || second >= 230) fixture.say();
    const before = fixture.changes;
    record.tick(startedMs + second * 1_001 + 100);
    if (fixture.changes > before) reported.push(second);
  }
  assert.deepEqual(reported, [2, 5, 11, 23, 47, 95, 155, 230, 290]);
});

test('WebSocket record: full frames are reported once, and their memory is given back', () => {
  const fixture = new Fixture();
  const { record } = fixture;
  fixture.say(FRAME_LIMITS.count);
  assert.ok(fixture.held > 0);
  const first = fixture.update();
  assert.deepEqual([first.isOpen, first.frames?.length, first.framesOut], [true, 200, 200]);
  record.told(FRAME_LIMITS.count);
  assert.equal(fixture.held, 0);
  fixture.say();
  record.end();
  const end = fixture.update();
  assert.deepEqual([end.isOpen, end.frames, end.framesOut, end.framesLeftOut], [false, null, 201, 1]);
});

test('WebSocket record: frames that come while a report is under way are in the next one', () => {
  const fixture = new Fixture();
  const { record } = fixture;
  fixture.say();
  record.tick(fixture.startedMs + 10_000);
  assert.equal(fixture.update().frames?.length, 1);
  fixture.say();
  record.end();
  record.told(1);
  assert.equal(fixture.update().frames?.length, 2);
  record.told(2);
  assert.equal(fixture.held, 0);
});

test('WebSocket record: a lost report is made up for by the next one', () => {
  const fixture = new Fixture();
  const { record } = fixture;
  fixture.say();
  record.tick(fixture.startedMs + 10_000);
  fixture.update();
  record.told(-1);
  record.end();
  assert.equal(fixture.update().frames?.length, 1);
  record.told(-1);
  assert.equal(fixture.held, 0);
});
