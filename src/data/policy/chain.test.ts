import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '../../base/log.ts';
import { isPending, PolicyChain } from './chain.ts';
import type { PolicyRequest, Step, Verdict } from './step.ts';

const REQUEST = {} as PolicyRequest;
const DENIED: Verdict = { code: 'denied' };
const FAILED: Verdict = { code: 'policy_failed' };

const pass: Step = { decide: () => null };
const deny: Step = { decide: () => DENIED };
const later = (verdict: Verdict): Step => ({ decide: () => Promise.resolve(verdict) });
const throws: Step = {
  decide: () => {
    throw new Error('broken');
  },
};
const rejects: Step = { decide: () => Promise.reject(new Error('broken')) };

/** What a chain of these steps says in the end. */
async function asked(steps: readonly Step[], enforce = true): Promise<Verdict> {
  const chain = new PolicyChain(
    steps.map((step) => ({ step, enforce })),
    silentLog,
  );
  let answer = chain.decide(REQUEST, 0);
  while (isPending(answer)) answer = (await answer.verdict) ?? chain.decide(REQUEST, answer.next);
  return answer;
}

test('the first refusal counts, decided at once or later', async () => {
  assert.equal(await asked([]), null);
  assert.equal(await asked([pass, later(null), pass]), null);
  assert.deepEqual(await asked([pass, deny, throws]), DENIED);
  assert.deepEqual(await asked([later(null), later(DENIED), throws]), DENIED);
});

test('a step that fails refuses, at once or later', async () => {
  assert.deepEqual(await asked([pass, throws]), FAILED);
  assert.deepEqual(await asked([pass, rejects]), FAILED);
});

test('what is not enforced lets pass, also where it fails', async () => {
  assert.equal(await asked([deny, later(DENIED), throws, rejects], false), null);
});
