/** A policy, saved or not, against the requests of a tunnel that were recorded last: what is judged, permissions, and what is not. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { head, recorded } from '../../inspector/testing.ts';
import { TestIssuer } from '../../../data/fixtures/issuer.ts';
import { makePolicyTester } from '../../../data/fixtures/policy-tester.ts';
import type { NodeControl } from '../../../plane/link.ts';
import { inReverse } from '../../../../test/harness/ends.ts';
import { IDLE_NODE } from '../../core/testing/idle-node.ts';
import { Plane, START, VISIT } from '../../core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../../core/testing/plane-api.ts';
import { type Person, said, Team } from '../../core/testing/team.ts';

type Changes = NonNullable<Parameters<typeof recorded>[0]>;

const deny = { kind: 'deny', path_prefix: '/admin' };

suite('a policy is tested against recorded requests', () => {
  const ends = inReverse({ after });
  let plane: Plane;
  let api: PlaneApi;
  let team: Team;
  let ann: Person;
  let issuer: TestIssuer;
  let fetchKeys: () => Promise<void>;
  let testPolicy: NodeControl['testPolicy'];
  /** What the node does before it decides. */
  let meanwhile = async (): Promise<void> => {};

  before(async () => {
    plane = new Plane();
    ends.after(() => plane.close());
    api = await servePlane(plane);
    ends.after(() => api.close());
    issuer = await TestIssuer.start(ends);
    const { policyTester, check } = makePolicyTester(issuer.ca);
    testPolicy = async (question) => {
      await meanwhile();
      return policyTester.run(question);
    };
    fetchKeys = async () => {
      const action = { allowedIssuers: [issuer.url], allowedAudiences: [], jwksUrl: null, enforce: true } as const;
      await check.find(await issuer.sign(), { kind: 'jwt_validation', ...action }, ann.home);
    };
    plane.control.nodes.attach({ ...IDLE_NODE, testPolicy: (question) => testPolicy(question) });
    team = new Team(plane, api);
    ann = await team.person('ann@example.test');
  });

  async function tunnelWith(...changes: readonly Changes[]): Promise<string> {
    const { body } = await ann.call('POST', '/tunnels', { localPort: 3000 });
    const tunnelId = String(body['id']);
    const records = changes.map((change, i) =>
      recorded({ orgId: ann.home, tunnelId, at: START + i * 1_000, ...change }),
    );
    for (let at = 0; at < records.length; at += 500)
      await plane.control.link.inspect({ records: records.slice(at, at + 500), unrecorded: [] });
    return tunnelId;
  }

  const ask = (tunnelId: string, actions: readonly object[], more: object = {}) =>
    ann.call('POST', `/tunnels/${tunnelId}/policy/test`, { policy: { actions }, ...more });

  test('what it would refuse is counted by action and shown, newest first; nothing is changed', async () => {
    const tunnelId = await tunnelWith(
      { target: '/admin/users', status: 403 },
      { target: '/orders', remoteIp: '198.51.100.4' },
      { target: '/admin', method: 'POST', remoteIp: '198.51.100.4' },
      { target: '/%61dmin?key=1' },
    );
    const { status, body } = await ask(tunnelId, [
      deny,
      { kind: 'header_set', name: 'X-A', value: 'a' },
      { kind: 'ip_allow', networks: ['203.0.113.0/24'], enforce: false },
    ]);
    assert.equal(status, 200);
    assert.deepEqual(Object.assign({}, body, { requests: null }), {
      tested: 4,
      would_refuse: 3,
      not_tested: [],
      from: '2026-11-21T00:00:00.000Z',
      to: '2026-11-21T00:00:03.000Z',
      by_action: [
        { index: 0, kind: 'deny', rule: '/admin', enforced: true, would_refuse: 3 },
        { index: 2, kind: 'ip_allow', rule: '203.0.113.0/24', enforced: false, would_refuse: 2 },
      ],
      requests: null,
    });
    const requests = body['requests'] as ReadonlyArray<Record<string, unknown>>;
    assert.deepEqual(
      requests.map(({ method, path, action, code, enforced }) => [method, path, action, code, enforced]),
      [
        ['GET', '/%61dmin?key=1', 0, 'denied', true],
        ['POST', '/admin', 0, 'denied', true],
        ['GET', '/orders', 2, 'denied', false],
        ['GET', '/admin/users', 0, 'denied', true],
      ],
    );
    assert.deepEqual(said(await ann.call('GET', `/inspector/${String(requests[0]?.['id'])}`)), [200]);
    assert.equal((await ann.call('GET', `/tunnels/${tunnelId}/policy`)).body['policy'], null);
  });

  test('the newest alone, as many as asked for; a hundred of the refused are shown', async () => {
    const tunnelId = await tunnelWith(...Array.from({ length: 1_100 }, (_, i) => ({ target: `/admin/${i}` })));
    const all = await ask(tunnelId, [deny]);
    assert.deepEqual([all.body['tested'], all.body['would_refuse']], [1_000, 1_000]);
    assert.equal((all.body['requests'] as unknown[]).length, 100);
    const some = await ask(tunnelId, [deny], { limit: 3 });
    const paths = (some.body['requests'] as ReadonlyArray<{ path: string }>).map(({ path }) => path);
    assert.deepEqual(paths, ['/admin/1099', '/admin/1098', '/admin/1097']);
    for (const limit of [0, 1_001, 1.5])
      assert.deepEqual(said(await ask(tunnelId, [], { limit })), [400, 'invalid_request']);
  });

  test('credentials that are not in the record are not taken for missing ones', async () => {
    const token = await issuer.sign({ exp: START / 1_000 + 60 });
    const withHead = (...lines: readonly string[]): Changes => ({
      requestHead: head('GET / HTTP/1.1', 'Host: shop.example.test', ...lines),
    });
    const step = { index: null, rule: null, verdict: 'passed', code: null } as const;
    const tunnelId = await tunnelWith(
      withHead(),
      withHead(`authorization: Bearer ${token}`),
      { ...withHead('Authorization:'), trace: { outcome: 'refused', agentId: null } },
      { ...withHead(), trace: { outcome: 'refused', agentId: null } },
      { ...withHead(), trace: { steps: [{ ...step, step: 'basic_gate' }] } },
      { ...withHead(), responseBody: Buffer.alloc(100_000) },
      withHead('Authorization: Basic eDp5'),
    );
    const jwt = { kind: 'jwt_validation', allowed_issuers: [issuer.url] };
    const early = await ask(tunnelId, [jwt]);
    assert.deepEqual(early.body['not_tested'], [
      { reason: 'credentials_not_recorded', count: 3 },
      { reason: 'keys_not_known', count: 1 },
    ]);
    assert.deepEqual(issuer.asked, []);
    await fetchKeys();
    const { body } = await ask(tunnelId, [jwt]);
    assert.deepEqual([body['tested'], body['would_refuse']], [4, 3]);
    assert.deepEqual(body['not_tested'], [{ reason: 'credentials_not_recorded', count: 3 }]);
  });

  test('a policy that would not be taken is refused with the words of PUT', async () => {
    const tunnelId = await tunnelWith();
    const bad = [
      [{ kind: 'deny', path_prefix: 'admin' }],
      [deny, { kind: 'deny', path_prefix: '/a', typo: 1 }],
      [
        { kind: 'rate_limit', requests_per_minute: 1 },
        { kind: 'rate_limit', requests_per_minute: 2 },
      ],
    ];
    for (const actions of bad) {
      const put = await ann.call('PUT', `/tunnels/${tunnelId}/policy`, { actions });
      const tested = await ask(tunnelId, actions);
      assert.deepEqual(said(tested), [400, 'bad_policy']);
      assert.equal(tested.body['message'], put.body['message']);
    }
    assert.deepEqual(said(await ann.call('POST', `/tunnels/${tunnelId}/policy/test`, {})), [400, 'bad_policy']);
    const { body: tcp } = await ann.call('POST', '/tunnels', { localPort: 22, protocol: 'tcp' });
    assert.deepEqual(said(await ask(String(tcp['id']), [deny])), [400, 'bad_policy']);
    const { body } = await ask(tunnelId, [deny]);
    assert.deepEqual([body['tested'], body['from'], body['requests']], [0, null, []]);
  });

  test('policy test: viewers may run it, users of other organizations may not', async () => {
    const tunnelId = await tunnelWith({ target: '/admin' });
    const viv = await team.acting(await team.member('viv@example.test', ann, 'viewer'), ann.home);
    const eve = await team.person('eve@example.test');
    const call = { policy: { actions: [deny] } };
    const path = `/tunnels/${tunnelId}/policy/test`;
    assert.equal((await api.call('POST', path, { as: viv, body: call })).body['would_refuse'], 1);
    assert.deepEqual(said(await eve.call('POST', path, call)), [404, 'not_found']);
  });

  test('who is removed while their test waits gets no answer', async () => {
    plane.now += 60_000;
    const tunnelId = await tunnelWith({ target: '/admin' });
    const max = await team.member('max@example.test', ann, 'member');
    const { sessions, policyTests } = plane.control;
    const actor = await sessions.authenticate(await team.acting(max, ann.home), VISIT.ipAddress);
    assert.ok(actor !== undefined);
    let goOn = (): void => {};
    const asked = new Promise<void>((hears) => {
      meanwhile = () => new Promise((resolve) => ((goOn = resolve), hears()));
    });
    const first = ask(tunnelId, [deny]);
    await asked;
    const input = { policy: { actions: [deny] }, limit: 1, gone: new AbortController().signal };
    const waits = assert.rejects(policyTests.test(actor, tunnelId, input), { code: 'unauthorized' });
    assert.equal((await ann.call('DELETE', `/orgs/${ann.home}/members/${max.id}`)).status, 200);
    meanwhile = async () => {};
    goOn();
    assert.deepEqual(said(await first), [200]);
    await waits;
  });

  test('one at a time of an organization, the others wait; and none without a node that can decide', async () => {
    const tunnelId = await tunnelWith({ target: '/admin' });
    // What other tests have used up of what an organization may ask in a while.
    plane.now += 60_000;
    let goOn = (): void => {};
    let [underWay, most] = [0, 0];
    const held = new Promise<void>((resolve) => (goOn = resolve));
    const asked = new Promise<void>((hears) => {
      meanwhile = async () => {
        most = Math.max(most, ++underWay);
        hears();
        await held;
        underWay--;
      };
    });
    const first = ask(tunnelId, [deny]);
    await asked;
    const more = await Promise.race([ask(tunnelId, [deny]), ask(tunnelId, [deny]), ask(tunnelId, [deny])]);
    assert.deepEqual(said(more), [429, 'rate_limited'], 'one too many; two wait');
    assert.match(more.headers.get('retry-after') ?? '', /^[1-9]/);
    goOn();
    assert.deepEqual(said(await first), [200]);
    assert.deepEqual(said(await ask(tunnelId, [deny])), [200]);
    assert.equal(most, 1);
    meanwhile = async () => {};
    const real = testPolicy;
    testPolicy = async () => ({ ok: false, code: 'overloaded' });
    assert.deepEqual(said(await ask(tunnelId, [deny])), [503, 'unavailable']);
    testPolicy = real;
  });
});
