import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RecordedFrame } from '../../../plane/inspection.ts';
import { maskFrames } from './mask-frames.ts';
import { readRules } from './rules.ts';

const RULES = readRules([{ json_path: '$..password' }, { header: 'X-Key' }]);

function masked(text: string, over: Partial<RecordedFrame> = {}, rules = RULES): string {
  const bytes = Buffer.from(text);
  const base = { from: 'visitor', atMs: 1, opcode: 1, fragments: 1, isCompressed: false, isTruncated: false } as const;
  const [frame] = maskFrames([{ ...base, size: bytes.length, bytes, ...over }], rules);
  assert.ok(frame);
  return `${Buffer.from(frame.bytes).toString()}${frame.isTruncated ? '…' : ''}`;
}

// biome-ignore format: one case per line
const CASES: ReadonlyArray<readonly [name: string, text: string, expected: string, over?: Partial<RecordedFrame>]> = [
  ['JSON', '{"password":"s3cret","a":1}', '{"password":"***","a":1}'],
  ['JSON of a Socket.IO event', '42["login",{"password":"s3cret"}]', '42["login",{"password":"***"}]'],
  ['JSON behind the head of a STOMP frame', 'SEND\nto:/a\n\n{"password":"s3cret"}\0', 'SEND\nto:/a\n\n{"password":"***"}…'],
  ['JSON that was cut', '{"a":1,"password":"s3cr', '{"a":1,"password":"***"…'],
  ['JSON in a binary message', '{"password":"s3cret"}', '{"password":"***"}', { opcode: 2 }],
  ['text without JSON', 'hello', 'hello'],
  ['a binary message', '\u0001{"password":"s3cret"}', '\u0001{"password":"s3cret"}', { opcode: 2 }],
  ['what looks like JSON and is none', 'at [x password=s3cret', 'at […'],
  ['a message that could not be opened', 'packed', '…', { isCompressed: true }],
  ['the payload of a ping', '{"password":1}', '{"password":1}', { opcode: 9 }],
];
for (const [name, text, expected, over] of CASES)
  test(`mask rules of frames: ${name}`, () => {
    assert.equal(masked(text, over), expected);
  });

test('mask rules of frames: without a JSON path they stay as they are', () => {
  assert.equal(masked('packed', { isCompressed: true }, readRules([{ header: 'a' }])), 'packed');
});
