import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TraceIds, traceIdIn } from './trace-parent.ts';

const ID = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';

function read(text: string): string {
  const bytes = Buffer.from(`xx${text}yy`, 'latin1');
  return traceIdIn(bytes, 2, bytes.length - 2);
}

test('traceparent: the trace id of a valid value, of a later version too', () => {
  assert.equal(read(`00-${ID}-${PARENT}-01`), ID);
  assert.equal(read(`00-${ID}-${PARENT}-00`), ID);
  assert.equal(read(`cc-${ID}-${PARENT}-01`), ID);
  assert.equal(read(`cc-${ID}-${PARENT}-01-what.comes.later`), ID);
});

test('traceparent: what the specification calls invalid has no trace id', () => {
  for (const text of [
    '',
    `00-${ID}-${PARENT}`,
    `00-${ID}-${PARENT}-01-more`,
    `00-${ID}-${PARENT}-01x`,
    `cc-${ID}-${PARENT}-01.more`,
    `ff-${ID}-${PARENT}-01`,
    `00-${ID.toUpperCase()}-${PARENT}-01`,
    `00-${'0'.repeat(32)}-${PARENT}-01`,
    `00-${ID}-${'0'.repeat(16)}-01`,
    `00_${ID}-${PARENT}-01`,
    `00-${ID.slice(1)}g-${PARENT}-01`,
    `00-${ID}-${PARENT}-0"`,
  ])
    assert.equal(read(text), '', text);
});

test('trace ids: each is new, and its line is a valid traceparent', () => {
  const traces = new TraceIds();
  const seen = new Set<string>();
  for (let i = 0; i < 1_000; i++) {
    const id = traces.nextTrace();
    const line = traces.line(id).toString('latin1');
    assert.match(line, /^traceparent: 00-[0-9a-f]{32}-[0-9a-f]{16}-01\r\n$/);
    assert.equal(read(line.slice('traceparent: '.length, -2)), id);
    seen.add(id);
  }
  assert.equal(seen.size, 1_000);
});
