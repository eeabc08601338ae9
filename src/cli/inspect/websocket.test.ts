import assert from 'node:assert/strict';
import { test } from 'node:test';
import { frameLines, sayWebSocket } from './websocket.ts';

const FACTS = {
  ...{ open: false, duration_ms: 12_340, bytes_in: 60, bytes_out: 48, frames_in: 4, frames_out: 3 },
  ...{ closed_by: 'service', close_code: 1000, frames_not_recorded: 0 },
};
const frame = (data: Buffer | string, over: object = {}) => {
  const bytes = Buffer.from(data);
  const base = { from: 'visitor', at_ms: 5, opcode: 'text', compressed: false, truncated: false };
  return { ...base, size: bytes.length, data: bytes.toString('base64'), ...over };
};

test('inspect: a WebSocket shows its duration, frames, bytes and close', () => {
  assert.equal(
    sayWebSocket(FACTS),
    '12.3 s, 4 frames in (60 bytes), 3 out (48 bytes), closed by the service with 1000',
  );
  assert.equal(
    sayWebSocket({ ...FACTS, open: true, closed_by: null, close_code: null }),
    'open, 12.3 s, 4 frames in (60 bytes), 3 out (48 bytes)',
  );
});

test('inspect: frames are lines, with nothing in them that a terminal obeys', () => {
  const close = Buffer.concat([Buffer.from([3, 232]), Buffer.from('bye')]);
  const lines = frameLines(
    [
      frame('{"a":\n1}\u001b[31m'),
      frame(Buffer.from([0, 255]), { opcode: 'binary', from: 'service' }),
      frame('packed', { compressed: true }),
      frame('x'.repeat(300)),
      frame(close, { opcode: 'close', at_ms: 70_000 }),
    ],
    7,
  );
  assert.deepEqual(
    lines.slice(2).map((line) => line.map(({ text }) => text).join('')),
    [
      '     +0.005 s  → text       13 bytes  {"a": 1}?[31m',
      '     +0.005 s  ← binary      2 bytes  (binary)',
      '     +0.005 s  → text        6 bytes  (compressed)',
      `     +0.005 s  → text      300 bytes  ${'x'.repeat(200)}…`,
      '    +70.000 s  → close       5 bytes  1000 bye',
      '  … 7 more were not recorded',
    ],
  );
  assert.deepEqual(frameLines([], 0), []);
});
