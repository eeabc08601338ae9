/**
 * The path breaks and comes back by itself: each scenario of scripts/chaos once. `npm run soak -- chaos` does each of them 50 times. The
 * limit is what a user was promised, counted from the moment in which the path is back.
 */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import {
  addressChange,
  type Build,
  forgottenFlow,
  halfOpen,
  killAgent,
  killServer,
  lateNames,
} from '../../scripts/chaos/scenarios.ts';
import { Ending } from '../harness/ends.ts';
import { noNamespaces } from '../harness/tools.ts';

const LIMIT_MS = 10_000;

async function strikeOnce(build: Build, outageMs: number): Promise<{ readonly ms: number; readonly told: string }> {
  const ending = new Ending();
  try {
    const scenario = await build(ending, 1);
    return { ms: await scenario.strike(1, outageMs), told: scenario.told?.(1) ?? '' };
  } finally {
    await ending.run();
  }
}

suite('the public name answers again by itself', { concurrency: 4, timeout: 200_000 }, () => {
  const apart = noNamespaces();
  for (const { name, build, outageMs, skip } of [
    { name: 'after kill -9 of the server', build: killServer, outageMs: 12_000, skip: false },
    { name: 'after kill -9 of the agent', build: killAgent, outageMs: 500, skip: false },
    { name: 'after packets were dropped in the middle', build: halfOpen, outageMs: 5_000, skip: apart },
    { name: 'after another address of the agent', build: addressChange, outageMs: 500, skip: apart },
    { name: 'after a NAT has forgotten the connection', build: forgottenFlow, outageMs: 500, skip: apart },
    { name: 'after a start without names', build: lateNames, outageMs: 5_000, skip: apart },
  ] as const) {
    test(name, { skip }, async (t) => {
      const { ms, told } = await strikeOnce(build, outageMs);
      t.diagnostic(`back in ${ms} ms`);
      assert.ok(ms < LIMIT_MS, `${ms} ms\n${told}`);
    });
  }
});
