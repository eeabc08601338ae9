import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { PolicyAction } from '../../plane/policy.ts';
import { MAX_TESTED, type TestedRequest, type TestVerdict } from '../../plane/policy-test.ts';
import { TestIssuer } from '../fixtures/issuer.ts';
import { makePolicyTester } from '../fixtures/policy-tester.ts';
import type { PolicyTester } from './policy-tester.ts';

const START = Date.UTC(2026, 10, 21);

function request(id: string, changes: Partial<TestedRequest> = {}): TestedRequest {
  return { id, at: START, method: 'GET', target: '/', clientIp: '203.0.113.7', authorization: [], ...changes };
}

async function verdicts(
  policyTester: PolicyTester,
  actions: readonly PolicyAction[],
  requests: readonly TestedRequest[],
): Promise<readonly TestVerdict[]> {
  const answer = await policyTester.run({ orgId: 'org', policy: { actions }, requests });
  assert.ok(answer.ok);
  return answer.verdicts;
}

/** `id: code by index`, and what is only tried in brackets. */
async function told(...asked: Parameters<typeof verdicts>): Promise<string[]> {
  return (await verdicts(...asked)).map(({ id, refused, tried, unknown }) => {
    const by = refused === null ? (unknown ?? 'passes') : `${refused.code} by ${refused.index}`;
    return [`${id}: ${by}`, ...tried.map(({ index, code }) => `(${code} by ${index})`)].join(' ');
  });
}

const deny = (pathPrefix: string, enforce = true): PolicyAction => ({ kind: 'deny', pathPrefix, enforce });
const rate = (requestsPerMinute: number, perClientIp = false, enforce = true): PolicyAction => {
  return { kind: 'rate_limit', requestsPerMinute, perClientIp, enforce };
};

suite('policy test', () => {
  test('paths in all their spellings, and addresses, by the first action that refuses in the order of the edge', async () => {
    const { policyTester } = makePolicyTester();
    const actions: PolicyAction[] = [
      deny('/admin'),
      { kind: 'ip_deny', networks: ['192.0.2.0/24'], enforce: true },
      { kind: 'header_set', name: 'X-A', value: 'a', enforce: true },
    ];
    const requests = [
      request('open', { target: '/orders?to=/admin' }),
      request('plain', { target: '/admin/users' }),
      request('spelled', { target: '/x/..//%61dmin' }),
      request('absolute', { target: 'http://shop.example.com/admin' }),
      request('both', { target: '/admin', clientIp: '192.0.2.9' }),
      request('bytes', { target: '/caf\u00e9' }),
    ];
    assert.deepEqual(await told(policyTester, actions, requests), [
      'plain: denied by 0',
      'spelled: denied by 0',
      'absolute: denied by 0',
      'both: denied by 1',
    ]);
  });

  test('a rate by the times of the requests; what another action refuses uses up none', async () => {
    const { policyTester } = makePolicyTester();
    const at = (seconds: number, changes: Partial<TestedRequest> = {}) =>
      request(String(seconds), { at: START + seconds * 1_000, ...changes });
    const requests = [at(0), at(1, { target: '/admin' }), at(2), at(3), at(59), at(60), at(61), at(62)];
    assert.deepEqual(await told(policyTester, [deny('/admin'), rate(2)], requests), [
      '1: denied by 0',
      '3: rate_limited by 1',
      '59: rate_limited by 1',
      '62: rate_limited by 1',
    ]);
    const others = [at(0), at(1, { clientIp: '203.0.113.8' }), at(2)];
    assert.deepEqual(await told(policyTester, [rate(1, true)], others), ['2: rate_limited by 0']);
  });

  test('policy test: refusals of a log-only action are listed beside the outcome', async () => {
    const { policyTester } = makePolicyTester();
    const actions = [deny('/a', false), deny('/admin'), rate(1, false, false)];
    const requests = [
      request('1', { target: '/' }),
      request('2', { target: '/api' }),
      request('3', { target: '/admin' }),
    ];
    assert.deepEqual(await told(policyTester, actions, requests), [
      '2: passes (denied by 0) (rate_limited by 2)',
      '3: denied by 1 (denied by 0)',
    ]);
  });

  test('a token by the keys that the edge knows, as it was then; no key is fetched', async (t) => {
    const issuer = await TestIssuer.start(t);
    const { policyTester, check } = makePolicyTester(issuer.ca);
    const jwt = { kind: 'jwt_validation', allowedIssuers: [], allowedAudiences: [], jwksUrl: issuer.jwksUrl } as const;
    const action = { ...jwt, enforce: true };
    const now = Date.now();
    const good = `Bearer ${await issuer.sign({ exp: Math.floor(now / 1_000) - 10 })}`;
    const requests = [
      request('then', { at: now - 60_000, authorization: [good] }),
      request('late', { at: now, authorization: [good] }),
      request('twice', { at: now, authorization: [good, good] }),
      request('none', { at: now }),
      request('lost', { at: now, authorization: null }),
      request('lost and denied', { at: now, authorization: null, target: '/admin' }),
    ];
    const known = ['twice: invalid_token by 0', 'none: invalid_token by 0', 'lost: credentials'];
    assert.deepEqual(await told(policyTester, [action, deny('/admin')], requests), [
      'then: keys',
      'late: keys',
      ...known,
      'lost and denied: denied by 1',
    ]);
    assert.deepEqual(issuer.asked, []);
    // A visitor has come meanwhile.
    await check.find(await issuer.sign(), action, 'org');
    assert.deepEqual(await told(policyTester, [action], requests.slice(0, 5)), ['late: invalid_token by 0', ...known]);
    assert.deepEqual(await told(policyTester, [{ ...action, enforce: false }], requests.slice(0, 5)), [
      'late: passes (invalid_token by 0)',
      'twice: passes (invalid_token by 0)',
      'none: passes (invalid_token by 0)',
      'lost: credentials',
    ]);
    await issuer.rotate('two');
    const newer = request('newer', { at: now, authorization: [`Bearer ${await issuer.sign()}`] });
    assert.deepEqual(await told(policyTester, [action], [newer]), ['newer: keys']);
    assert.deepEqual(issuer.asked, ['/keys']);
  });

  test('a request that the edge would not take today is not judged', async () => {
    const { policyTester } = makePolicyTester();
    const long = request('long', { target: `/${'x'.repeat(20_000)}` });
    assert.deepEqual(await told(policyTester, [deny('/')], [long]), ['long: form']);
  });

  test('the last thousand, two questions at a time, and in slices between which others have their turn', async () => {
    const { policyTester } = makePolicyTester();
    const nasty = `/${'%2e%2e/;a%2f\\'.repeat(25)}`;
    const requests = Array.from({ length: MAX_TESTED + 1 }, (_, i) => request(String(i), { target: nasty + i }));
    const actions = Array.from({ length: 16 }, (_, i) => deny(`/nowhere/${i}`));
    const question = { orgId: 'org', policy: { actions: [...actions.slice(1), deny('/')] }, requests };
    let turns = 0;
    const timer = setInterval(() => turns++);
    const first = policyTester.run(question);
    const second = policyTester.run(question);
    assert.deepEqual(await policyTester.run(question), { ok: false, code: 'overloaded' });
    const [answer] = await Promise.all([first, second]);
    clearInterval(timer);
    assert.ok(answer.ok);
    assert.equal(answer.verdicts.length, MAX_TESTED);
    assert.equal(answer.verdicts[0]?.id, '1');
    // Two at 4 ms a slice: far more than this on any machine.
    assert.ok(turns > 10, `${turns} turns`);
    assert.ok((await policyTester.run(question)).ok);
  });
});
