import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '../../base/log.ts';
import type { DryRunEvent } from '../../plane/events.ts';
import { Head, parseRequestHead } from '../../http1/head.ts';
import { isPending, PolicyChain } from './chain.ts';
import { DryRun } from './dry-run.ts';
import { ShownBefore } from './password/shown-before.ts';
import type { PolicyRequest, Step, Verdict } from './step.ts';
import { MAX_DRY_RUNS, MAX_DRY_RUNS_OF_ONE, DryRunSlots } from './dry-run-slots.ts';

const LINE = 'GET /search?q=secret HTTP/1.1';
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

const PLACE = { tunnelId: 'shop', setAt: 5, index: 2, action: 'deny' } as const;

/** A counter, and what it tells. */
function tried(): { dryRun: DryRun; events: () => readonly DryRunEvent[] } {
  const told: DryRun[] = [];
  let taken: DryRunEvent[] | undefined;
  const dryRun = new DryRun(PLACE, { onNews: (self) => void told.push(self), now: () => 1_000 });
  return { dryRun, events: () => (taken ??= told.map((one) => one.take())) };
}

function requestOf(line: string): PolicyRequest {
  const bytes = Buffer.from(`${line}\r\nHost: shop.test\r\n\r\n`);
  const head = new Head();
  const end = parseRequestHead(bytes, 0, bytes.length, head);
  assert.ok(end > 0, head.reason);
  return {
    bytes,
    start: 0,
    end,
    head,
    clientIp: '192.0.2.7',
    isHttps: false,
    nowMs: 0,
    wouldRefuse: null,
    trace: null,
    visitorLine: null,
    body: { read: () => Promise.resolve(Buffer.alloc(0)) },
    passesGates: false,
    clientKey: '192.0.2.7',
    shown: new ShownBefore(),
    ownToken: null,
  };
}

/** Once what was decided beside a request is known. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** What a chain of these steps says in the end. */
async function asked(
  steps: readonly Step[],
  dryRun: DryRun | null = null,
  request = requestOf(LINE),
  dryRunSlots = new DryRunSlots(silentLog),
): Promise<Verdict> {
  const chain = new PolicyChain(
    steps.map((step, index) => ({ step, name: 'deny', index, rule: null, dryRun })),
    { log: silentLog, dryRunSlots, orgId: 'org' },
  );
  let answer = chain.decide(request, 0);
  while (isPending(answer)) answer = (await answer.verdict) ?? chain.decide(request, answer.next);
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

test('what is only tried lets pass, also where it fails; each time is counted, and the first code is noted', async () => {
  const { dryRun, events } = tried();
  const request = requestOf(LINE);
  assert.equal(await asked([pass, deny, later(null), later(DENIED), throws, rejects], dryRun, request), null);
  assert.equal(request.wouldRefuse, 'denied');
  await settled();
  const sample = { method: 'GET', path: '/search', clientIp: '192.0.2.7', code: 'policy_failed' };
  assert.deepEqual(events(), [{ kind: 'dry_run', ...PLACE, refused: 4, lastAt: 1_000, sample }]);
});

test('what is only tried holds no request up, however long it takes to decide', async () => {
  const { dryRun, events } = tried();
  const waits = Promise.withResolvers<Verdict>();
  const request = requestOf(LINE);
  assert.equal(await asked([{ decide: () => waits.promise }, pass], dryRun, request), null);
  waits.resolve(DENIED);
  await settled();
  // By now it is another request of the connection.
  assert.equal(request.wouldRefuse, null);
  assert.equal(events()[0]?.refused, 1);
});

test('so many are looked at beside their requests, of one organization and of all; the rest pass unseen, and it is said', async () => {
  const dryRunSlots = new DryRunSlots(silentLog);
  const waits = Promise.withResolvers<Verdict>();
  let looks = 0;
  const slow: Step = {
    decidesLater: true,
    decide: () => {
      looks++;
      return waits.promise;
    },
  };
  const { dryRun, events } = tried();
  for (let i = 0; i < MAX_DRY_RUNS_OF_ONE + 3; i++)
    assert.equal(await asked([slow], dryRun, requestOf(LINE), dryRunSlots), null);
  // The first one was said.
  assert.deepEqual([looks, dryRunSlots.missed], [MAX_DRY_RUNS_OF_ONE, 2]);
  assert.equal(
    await asked([deny], dryRun, requestOf(LINE), dryRunSlots),
    null,
    'what decides at once is asked all the same',
  );
  let others = 0;
  for (let org = 0; org < 20; org++)
    for (let i = 0; i < MAX_DRY_RUNS_OF_ONE; i++) if (dryRunSlots.begin(`org ${org}`)) others++;
  assert.equal(others, MAX_DRY_RUNS - MAX_DRY_RUNS_OF_ONE);
  waits.resolve(DENIED);
  await settled();
  assert.equal(events()[0]?.refused, MAX_DRY_RUNS_OF_ONE + 1);
  await asked([slow], dryRun, requestOf(LINE), dryRunSlots);
  assert.equal(looks, MAX_DRY_RUNS_OF_ONE + 1);
});

test('what is shown of a request that is decided later is its own, not what its buffer holds by then', async () => {
  const { dryRun, events } = tried();
  const request = requestOf('POST /mine HTTP/1.1');
  const waits = Promise.withResolvers<Verdict>();
  const answer = asked([{ decide: () => waits.promise }], dryRun, request);
  request.bytes.fill('x');
  waits.resolve(DENIED);
  assert.equal(await answer, null);
  await settled();
  assert.deepEqual(events()[0]?.sample, { method: 'POST', path: '/mine', clientIp: '192.0.2.7', code: 'denied' });
});

test('what is shown of a request has no query and is cut', async () => {
  for (const [target, path] of [
    [`/${'a'.repeat(500)}`, `/${'a'.repeat(199)}`],
    ['/?token=1', '/'],
    ['http://shop.test?token=1', '/'],
    ['http://shop.test/a/b', '/a/b'],
  ] as const) {
    const { dryRun, events } = tried();
    await asked([deny], dryRun, requestOf(`GET ${target} HTTP/1.1`));
    assert.deepEqual(events()[0]?.sample.path, path);
  }
});
