/** Words of a WebSocket and its frames in the inspector, without a browser. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  closeText,
  durationWords,
  type Frame,
  frameFacts,
  frameTitle,
  type WebSocketFacts,
} from '../../src/dashboard/pages/inspector/websocket/websocket-words.ts';

const FACTS: WebSocketFacts = {
  open: false,
  duration_ms: 1_234,
  bytes_in: 1,
  bytes_out: 1,
  frames_in: 1,
  frames_out: 1,
  valid_frames: true,
  closed_by: null,
  close_code: null,
  frames_not_recorded: 0,
};
const FRAME: Frame = {
  from: 'visitor',
  at_ms: 12,
  opcode: 'text',
  fragments: 1,
  size: 5,
  compressed: false,
  truncated: false,
  data: '',
};

test('websocket words: the duration says whether the connection is open', () => {
  assert.equal(durationWords(FACTS), '1.23 s');
  assert.equal(durationWords({ ...FACTS, open: true }), 'Open, 1.23 s at the last update');
  assert.equal(durationWords({ ...FACTS, open: true, duration_ms: 0 }), 'Open');
});

test('websocket words: the close has its code and its sender', () => {
  assert.equal(closeText(FACTS), 'without a close frame');
  assert.equal(closeText({ ...FACTS, open: true }), '–');
  assert.equal(closeText({ ...FACTS, closed_by: 'visitor', close_code: 1000 }), '1000, by the visitor');
  assert.equal(closeText({ ...FACTS, closed_by: 'service' }), 'no code, by your service');
});

test('websocket words: a frame has its direction, its time and what is special about it', () => {
  assert.equal(frameTitle(FRAME), '→ text');
  assert.equal(frameTitle({ ...FRAME, from: 'service', opcode: 'ping' }), '← ping');
  assert.equal(frameFacts(FRAME, Buffer.from('hello')), '+12 ms · 5 B');
  assert.equal(
    frameFacts({ ...FRAME, fragments: 2, compressed: true, truncated: true, size: 20_000 }, Buffer.alloc(16_384)),
    '2 parts · compressed · first 16.4 KB · +12 ms · 20.0 KB',
  );
  assert.equal(frameFacts({ ...FRAME, opcode: 'close', size: 2 }, Buffer.from([3, 232])), '1000 · +12 ms · 2 B');
  assert.equal(frameFacts({ ...FRAME, opcode: 'close', size: 0 }, Buffer.alloc(0)), '+12 ms · 0 B');
});
