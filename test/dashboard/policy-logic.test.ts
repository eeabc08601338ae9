/** The pieces of the policy editor that need no browser: reading and writing text, checks, order, what the server says. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { policyFrom, policySchema, writtenPolicy } from '../../src/control/tunnels/policies/input.ts';
import { faultsIn, saidOf } from '../../src/dashboard/pages/policy/check.ts';
import {
  draftOf,
  isChanged,
  policyIn,
  policyOfText,
  textOf,
  withChanged,
  withKind,
  without,
  withPolicy,
} from '../../src/dashboard/pages/policy/draft.ts';
import { EXAMPLES } from '../../src/dashboard/pages/policy/examples.ts';
import { type Action, addable, askedOrder, KINDS, type Policy } from '../../src/dashboard/pages/policy/kinds.ts';
import { resultText, type PolicyTest, unknownTexts } from '../../src/dashboard/pages/policy/policy-test-messages.ts';

const policyOf = (...actions: readonly unknown[]): Policy => ({ actions: actions as Action[] });

/** What the API has against it; undefined: nothing. */
function refusal(policy: Policy): string | undefined {
  try {
    policyFrom(JSON.parse(textOf(policy)));
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

test('policy draft: text and forms agree, and defaults are left out', () => {
  const policy = policyOf(
    { kind: 'rate_limit', per_client_ip: true, requests_per_minute: 5 },
    { enforce: false, kind: 'deny', path_prefix: '/a' },
    { kind: 'jwt_validation', allowed_issuers: ['https://a.test'], enforce: true },
  );
  const draft = draftOf(policy);
  assert.equal(isChanged(draft), false);
  assert.deepEqual(JSON.parse(textOf(policyIn(draft))), {
    actions: [
      { kind: 'rate_limit', requests_per_minute: 5, per_client_ip: true },
      { kind: 'deny', path_prefix: '/a', enforce: false },
      { kind: 'jwt_validation', allowed_issuers: ['https://a.test'] },
    ],
  });
  const read = policyOfText(textOf(policyIn(draft)));
  assert.ok('policy' in read);
  assert.equal(isChanged(withPolicy(draft, read.policy)), false);
  const saved = writtenPolicy(policyFrom(JSON.parse(textOf(policy))));
  assert.equal(textOf(saved as Policy), textOf(policy), 'as the API says it back');
});

test('policy draft: a form is stable while others are added and removed', () => {
  const draft = withKind(withKind(draftOf(policyOf({ kind: 'deny', path_prefix: '/a' })), 'ip_allow'), 'deny');
  const [first, second, third] = draft.actions;
  assert.ok(first !== undefined && second !== undefined && third !== undefined);
  const changed = withChanged(without(draft, first.key), third.key, { ...third.action, enforce: false });
  assert.deepEqual(
    changed.actions.map(({ key }) => key),
    [second.key, third.key],
  );
  assert.ok(isChanged(changed));
  assert.equal(new Set([...changed.actions, ...withKind(changed, 'deny').actions].map(({ key }) => key)).size, 3);
});

test('policy draft: unreadable text reports the reason', () => {
  const faults: ReadonlyArray<readonly [string, RegExp]> = [
    ['{', /^Invalid JSON: /],
    ['[]', /is an object/],
    ['{"actions": {}}', /must be a list/],
    ['{"actions": [], "rules": []}', /no field "rules"/],
    ['{"actions": [{"kind": "allow"}]}', /^Action 1: there is no kind "allow"/],
    ['{"actions": [{"kind": "constructor"}]}', /no kind/],
    ['{"actions": [{"kind": "deny", "path": "/a"}]}', /deny has no field "path"/],
    ['{"actions": [{"kind": "deny"}]}', /deny needs "path_prefix"/],
    ['{"actions": [{"kind": "ip_deny", "networks": [1]}]}', /"networks" has the wrong type/],
    ['{"actions": [{"kind": "rate_limit", "requests_per_minute": "5"}]}', /wrong type/],
    ['{"actions": [null]}', /must be an object/],
  ];
  for (const [text, fault] of faults) {
    const read = policyOfText(text);
    assert.ok('fault' in read, text);
    assert.match(read.fault, fault);
  }
});

test('policy checks: the page and the API accept the same policies', () => {
  const good: readonly Policy[] = [
    ...EXAMPLES.map(({ actions }) => ({ actions: [...actions] })),
    policyOf({ kind: 'ip_deny', networks: ['203.0.113.7', '2001:db8::/32', '::1'] }),
    policyOf({ kind: 'header_set', name: 'X_Tenant', value: '' }, { kind: 'header_set', name: 'X', value: 'a b' }),
    policyOf({ kind: 'jwt_validation', jwks_url: 'https://a.test/keys' }),
    policyOf({ kind: 'rate_limit', requests_per_minute: 1_000_000 }),
    policyOf(),
  ];
  for (const policy of good)
    assert.deepEqual([refusal(policy), [...faultsIn(policyIn(draftOf(policy)))]], [undefined, []], textOf(policy));
  const deny = { kind: 'deny', path_prefix: '/a' };
  const bad: ReadonlyArray<readonly [place: string, policy: Policy]> = [
    ['0.path_prefix', policyOf({ kind: 'deny', path_prefix: '' })],
    ['1.path_prefix', policyOf(deny, { kind: 'deny', path_prefix: 'admin' })],
    ['0.networks', policyOf({ kind: 'ip_allow', networks: [] })],
    ['0.networks', policyOf({ kind: 'ip_allow', networks: ['office'] })],
    ['0.networks', policyOf({ kind: 'ip_allow', networks: ['10.0.0.0/33'] })],
    ['0.networks', policyOf({ kind: 'ip_allow', networks: ['10.0.0.300'] })],
    ['0.requests_per_minute', policyOf({ kind: 'rate_limit', requests_per_minute: 0 })],
    ['0.requests_per_minute', policyOf({ kind: 'rate_limit', requests_per_minute: 1.5 })],
    ['0.jwks_url', policyOf({ kind: 'jwt_validation', jwks_url: 'ftp://a.test' })],
    ['0.name', policyOf({ kind: 'header_set', name: 'Host', value: 'a' })],
    ['0.name', policyOf({ kind: 'header_set', name: 'X Y', value: 'a' })],
    ['0.name', policyOf({ kind: 'response_header_set', name: 'Set-Cookie', value: 'a' })],
    ['0.value', policyOf({ kind: 'header_set', name: 'X', value: 'é' })],
    ['1.kind', policyOf({ kind: 'jwt_validation' }, { kind: 'jwt_validation' })],
    ['16.kind', policyOf(...Array.from({ length: 17 }, () => deny))],
  ];
  for (const [place, policy] of bad) {
    assert.notEqual(refusal(policy), undefined, textOf(policy));
    assert.deepEqual([...faultsIn(policyIn(draftOf(policy))).keys()], [place], textOf(policy));
  }
});

test('policy checks: a fault of the server stands at its action', () => {
  const message = refusal(
    policyOf({ kind: 'ip_allow', networks: ['203.0.113.1', '10.0.0.1/8'] }, { kind: 'deny', path_prefix: 'x' }),
  );
  const { faults, rest } = saidOf(message ?? '');
  assert.deepEqual([...faults.keys()], ['0.networks', '1.path_prefix']);
  assert.match(faults.get('0.networks') ?? '', /IP address or a network/);
  assert.equal(rest, undefined);
  const two = policyOf({ kind: 'rate_limit', requests_per_minute: 1 }, { kind: 'rate_limit', requests_per_minute: 1 });
  assert.match(saidOf(refusal(two) ?? '').rest ?? '', /at most one rate_limit/);
  assert.equal(saidOf('Something else.').rest, 'Something else.');
});

test('policy actions: the dashboard offers every kind that the API accepts', () => {
  const accepted = policySchema().shape.actions.element.options.map(({ shape }) => shape.kind.value);
  assert.deepEqual(KINDS.map(({ kind }) => kind).toSorted(), accepted.toSorted());
});

test('policy actions: in order of evaluation, and only kinds of the protocol can be added', () => {
  const kinds = ['header_set', 'rate_limit', 'deny', 'ip_allow', 'deny', 'ip_deny', 'jwt_validation'];
  assert.deepEqual(askedOrder(kinds.map((kind) => ({ kind }))), [5, 3, 2, 4, 6, 1, 0]);
  const blocked = (actions: readonly Action[], protocol = 'http'): string[] =>
    addable(actions, protocol).flatMap(({ entry, blocked: why }) => (why === undefined ? [] : [entry.kind]));
  assert.deepEqual(blocked(KINDS.map(({ blank }) => blank)), ['jwt_validation', 'rate_limit']);
  assert.equal(
    blocked(Array.from({ length: 16 }, () => ({ kind: 'deny', path_prefix: '/', enforce: true }))).length,
    7,
  );
  assert.deepEqual(
    addable([], 'tcp').map(({ entry }) => entry.kind),
    ['ip_deny', 'ip_allow'],
  );
});

test('policy test: the result is one sentence', () => {
  const result = (tested: number, would_refuse: number, not_tested: PolicyTest['not_tested'] = []): PolicyTest => {
    return { tested, would_refuse, not_tested, from: null, to: null, by_action: [], requests: [] };
  };
  assert.equal(resultText(result(1_000, 14)), 'Of the last 1,000 requests, the policy would block 14.');
  assert.equal(resultText(result(12, 0)), 'Of the last 12 requests, the policy would block none.');
  assert.equal(resultText(result(1, 1)), 'The one recorded request would be blocked.');
  assert.equal(resultText(result(0, 0)), 'No requests of this tunnel are recorded.');
  const unknown = result(0, 0, [{ reason: 'credentials_not_recorded', count: 3 }]);
  assert.equal(resultText(unknown), 'None of the recorded requests could be tested.');
  assert.match(unknownTexts(unknown)[0] ?? '', /^3 more could not be tested: tokens are not recorded/);
});
