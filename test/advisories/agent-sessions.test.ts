/** An agent with a good key that connects, leaves and connects again: each time costs a handshake and a question to the control plane. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '../../src/base/log.ts';
import { FakeLink, testGrant } from '../../src/data/fixtures/link.ts';
import type { AgentSession } from '../../src/data/gateway/agent.ts';
import { Budgets } from '../../src/data/gateway/budgets.ts';
import { AgentRegistry } from '../../src/data/gateway/registry.ts';
import { RouteTable } from '../../src/data/routing/table.ts';

test('class 11 resource exhaustion: sessions that come and go have a rate per organization, whichever keys they show', (t) => {
  const now = Date.now;
  let clockMs = 0;
  t.mock.method(performance, 'now', () => clockMs);
  const known: boolean[] = [];
  const registry = new AgentRegistry({
    link: new FakeLink(),
    table: new RouteTable('example.test'),
    budgets: new Budgets({ prices: { centsPerGb: 0, centsPerMillionRequests: 0 }, now, isReported: () => true }),
    log: silentLog,
    now,
    maxSessions: 1_200,
    onPresence: () => undefined,
    onEnd: () => undefined,
    onKnown: (_agent, isGood) => void known.push(isGood),
  });
  t.after(() => registry.close());
  const visit = (orgId: string, key: number): string => {
    const grant = { ...testGrant(`${orgId}-key-${key}`), orgId };
    const agent = { agentId: 'a', grant, servings: [], end: () => {} } as unknown as AgentSession;
    const refused = registry.enter(agent, grant);
    registry.left(agent);
    return refused?.code ?? 'welcome';
  };
  const codes = Array.from({ length: 3_000 }, (_, i) => visit('eve', i % 7));
  assert.deepEqual(codes.slice(0, 1_200), Array(1_200).fill('welcome'), 'as many as there may be come at once');
  assert.deepEqual(codes.slice(1_200), Array(1_800).fill('overloaded'));
  known.length = 0;
  assert.equal(visit('eve', 1), 'overloaded');
  assert.deepEqual(known, [false], 'its handshake counts for its address');
  assert.equal(visit('ann', 1), 'welcome');
  clockMs += 20;
  assert.deepEqual([visit('eve', 1), visit('eve', 2)], ['welcome', 'overloaded']);
});
