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
  ['JSON behind bytes of a protocol', '0\u0010\u0000\u0001a{"password":"s3cret"}', '0\u0010\u0000\u0001a{"password":"***"}', { opcode: 2 }],
  ['JSON behind a byte order mark', '\ufeff{"password":"s3cret"}', '\ufeff{"password":"***"}', { opcode: 2 }],
  ['bytes that are no JSON', '\u0001[\u0002{"password":"s3cret"}', '\u0001[…', { opcode: 2 }],
  ['bytes without a bracket', '\u0001\u0002', '\u0001\u0002', { opcode: 2 }],
  ['strings of SockJS', String.raw`a["{\"password\":\"s3cret\"}","x"]`, String.raw`a["{\"password\":\"***\"}","x"]`],
  ['STOMP in a string', String.raw`a["SEND\n\n{\"password\":\"s3cret\"}\u0000"]`, String.raw`a["SEND\n\n{\"password\":\"***\"}"]…`],
  ['escaped brackets in a string', String.raw`a["\u007b\"password\":\"s3cret\"}"]`, String.raw`a["{\"password\":\"***\"}"]`],
  ['a string of a string', JSON.stringify([JSON.stringify(['x', JSON.stringify({ password: 's3cret' })])]), String.raw`["[\"x\",\""]…`],
  ['a string that was cut', String.raw`a["x","{\"password\":\"s3cr`, 'a["x","…'],
  ['brackets in a string that is no JSON', '{"a":"see [x password=s3cret","b":1}', '{"a":"see [","b":1}…'],
  ['strings of JSON without what is masked', String.raw`a["{\"b\": 1}"]`, String.raw`a["{\"b\": 1}"]`],
  ['brackets in a masked string', String.raw`{"password":"{\"a\":1}","b":1}`, '{"password":"***","b":1}'],
  ['JSON as a string', String.raw`"{\"password\":\"s3cret\"}"`, '"{…'],
  ['the reason of a close', '\u0003[{"password":1}', '\u0003[{"password":"***"}', { opcode: 8 }],
  ['what looks like JSON and is none', 'at [x password=s3cret', 'at […'],
  ['a message that could not be opened', 'packed', '…', { isCompressed: true }],
  ['the payload of a ping', '{"password":1}', '{"password":"***"}', { opcode: 9 }],
  ['the payload of a pong', 'x{"password":1}', 'x{"password":"***"}', { opcode: 10 }],
];
for (const [name, text, expected, over] of CASES)
  test(`mask rules of frames: ${name}`, () => {
    assert.equal(masked(text, over), expected);
  });

test('mask rules of frames: without a JSON path they stay as they are', () => {
  assert.equal(masked('packed', { isCompressed: true }, readRules([{ header: 'a' }])), 'packed');
});
