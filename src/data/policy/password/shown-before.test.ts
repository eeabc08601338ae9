import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Head, parseRequestHead } from '../../../http1/head.ts';
import { authorizationLine, authorizationValue } from './authorization.ts';
import { ShownBefore } from './shown-before.ts';
import type { Step } from '../step.ts';

const step: Step = { decide: () => null };
const other: Step = { decide: () => null };

/** A head with these fields, and where its Authorization is. */
function headOf(...fields: string[]): { bytes: Buffer; head: Head; line: number } {
  const bytes = Buffer.from(['GET / HTTP/1.1', 'Host: a', ...fields, '', ''].join('\r\n'), 'latin1');
  const head = new Head();
  assert.ok(parseRequestHead(bytes, 0, bytes.length, head) > 0, head.reason);
  return { bytes, head, line: authorizationLine(bytes, head) };
}

test('the same line of the same step is known until its time is up, wherever it stands', () => {
  const shown = new ShownBefore();
  const first = headOf('Authorization: Basic YTpi');
  assert.ok(!shown.isKnown(step, first.bytes, first.head, first.line, 0));
  shown.keep(step, first.bytes, first.head, first.line, { untilMs: 100, isOwn: true });
  // What it was read into is used for other heads.
  first.bytes.fill(0);
  const again = headOf('X-Other: 1', 'Authorization: Basic YTpi', 'X-More: 2');
  const isKnown = (by: Step, nowMs: number, { bytes, head, line } = again) =>
    shown.isKnown(by, bytes, head, line, nowMs);
  assert.ok(isKnown(step, 99));
  assert.ok(shown.isOwn);
  assert.ok(!isKnown(step, 100));
  assert.ok(!isKnown(other, 99));
  for (const field of ['Basic YTpj', 'Basic YTp', 'Basic YTpi ', 'basic YTpi', 'Basic YTpiYTpi'])
    assert.ok(!isKnown(step, 99, headOf(`Authorization: ${field}`)), field);
});

test('a line that is too long is not kept, and the one before stays with what was noted of it', () => {
  const shown = new ShownBefore();
  const short = headOf('Authorization: Bearer a');
  const long = headOf(`Authorization: Bearer ${'a'.repeat(2_048)}`);
  shown.keep(step, short.bytes, short.head, short.line, { untilMs: 100, isOwn: false });
  shown.keep(step, long.bytes, long.head, long.line, { untilMs: 100, isOwn: true });
  assert.ok(!shown.isKnown(step, long.bytes, long.head, long.line, 0));
  assert.ok(shown.isKnown(step, short.bytes, short.head, short.line, 0));
  assert.ok(!shown.isOwn);
});

test('one Authorization is found by its name alone; of two there is none', () => {
  for (const fields of [[], ['X-Authorization: a'], ['Authorizatio: a'], ['Authorization: a', 'authorization: a']])
    assert.equal(headOf(...fields).line, -1, fields.join());
  for (const [field, value] of [
    ['aUTHORIZATION:a', 'a'],
    ['Authorization: \t a b \t', 'a b'],
    ['Authorization:', ''],
    ['Authorization: \xa0a\xa0', '\xa0a\xa0'],
  ] as const) {
    const { bytes, head, line } = headOf(field);
    assert.equal(authorizationValue(bytes, head, line), value, field);
  }
});
