// group: slow
/** Ten million frames, from a seed that is printed: the long form of http2.test.ts. */
import { test } from 'node:test';
import { fuzzHttp2 } from './http2.fuzz.ts';

const PARTS = 20;
const FRAMES_PER_PART = 500_000;
const firstSeed = Date.now() % 1_000_000_000;

for (let part = 0; part < PARTS; part++) {
  // A connection is sent at least one frame: parts do not overlap.
  const seed = firstSeed + part * FRAMES_PER_PART;
  test(`HTTP/2: 500,000 frames break no rule (${part + 1} of ${PARTS})`, { timeout: 280_000 }, async (t) => {
    const tally = await fuzzHttp2({ seed, frames: FRAMES_PER_PART });
    t.diagnostic(`from seed ${seed}: ${JSON.stringify(tally)}`);
  });
}
