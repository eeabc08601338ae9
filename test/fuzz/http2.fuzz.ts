/** The long form of the HTTP/2 engine's fuzzing, for `npm run fuzz`. Prints the seed of a failure. */
import assert from 'node:assert/strict';
import { http2Round, type Tally } from './http2-model.ts';

/** What the process may grow by once it is warm. */
const MAX_GROWTH = 96 << 20;

export interface Http2FuzzLimits {
  readonly seed: number;
  /** Ends after so many seconds, or so many frames. */
  readonly seconds?: number;
  readonly frames?: number;
}

/** Connections from `seed` on. Throws at the first rule that is broken. */
export async function fuzzHttp2(limits: Http2FuzzLimits): Promise<Tally> {
  const until = performance.now() + (limits.seconds ?? Infinity) * 1_000;
  const most = limits.frames ?? Infinity;
  const tally: Tally = { frames: 0, requests: 0, taken: 0, ended: 0 };
  let { seed } = limits;
  let warm = 0;
  while (tally.frames < most && performance.now() < until) {
    try {
      await http2Round(seed, tally);
    } catch (cause) {
      throw new Error(`http2: seed ${seed} fails`, { cause });
    }
    seed++;
    if (warm === 0 && tally.frames > Math.min(500_000, most / 4)) warm = process.memoryUsage.rss();
  }
  const grown = process.memoryUsage.rss() - warm;
  assert.ok(warm === 0 || grown < MAX_GROWTH, `memory grew by ${grown >> 20} MB over ${tally.frames} frames`);
  return tally;
}

/** The same, and says how far it came. */
export async function fuzzHttp2Long(limits: Http2FuzzLimits): Promise<void> {
  const { frames, requests, taken, ended } = await fuzzHttp2(limits);
  console.log(
    `http2: ${frames} frames, ${taken} of ${requests} requests taken, ${ended} connections ended, from seed ${limits.seed}`,
  );
}
