// group: fuzz
/** The short form of http2.fuzz.ts: fixed seeds. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fuzzHttp2 } from './http2.fuzz.ts';

test('HTTP/2: 300,000 frames, valid and changed, break no rule', { timeout: 280_000 }, async () => {
  const { frames, requests, taken, ended } = await fuzzHttp2({ seed: 1, frames: 300_000 });
  // Frames that are all refused prove nothing.
  assert.ok(
    requests > frames / 20 && taken > requests / 4 && ended > 0,
    JSON.stringify({ frames, requests, taken, ended }),
  );
});
