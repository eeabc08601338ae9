import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { silentLog } from '../../base/log.ts';
import { type Budget, monthOf } from '../../plane/spend.ts';
import { testGrant } from '../fixtures/link.ts';
import { RouteTable } from '../routing/table.ts';
import type { AgentSession } from './agent.ts';
import { Budgets } from './budgets.ts';
import { AgentRegistry } from './registry.ts';

interface World {
  readonly table: RouteTable;
  readonly budgets: Budgets;
  readonly registry: AgentRegistry;
  nowMs: number;
}

function world(t: TestContext): World {
  const table = new RouteTable('example.test');
  table.load({ version: 1, routes: [], accessKeys: [], visitorKey: '', relays: [] });
  const now = (): number => made.nowMs;
  const budgets = new Budgets({ prices: { centsPerGb: 10, centsPerMillionRequests: 0 }, now, isReported: () => true });
  const registry = new AgentRegistry({
    table,
    budgets,
    log: silentLog,
    now,
    maxSessions: 1_000,
    onPresence: () => undefined,
    onEnd: () => {},
    onKnown: () => {},
  });
  const made: World = { table, budgets, registry, nowMs: Date.UTC(2026, 10, 21) };
  t.after(() => registry.close());
  return made;
}

/** A session of token `one`, let in, as far as the registry looks at it. */
function enter({ registry, nowMs }: World, agentId: string, budget: Budget): AgentSession {
  const grant = testGrant('one', { budgets: [budget], expiresAt: nowMs + 3_600_000 });
  const agent = { agentId, grant, servings: [], end: () => {}, closed: Promise.resolve() } as unknown as AgentSession;
  assert.equal(registry.enter(agent, grant), undefined);
  return agent;
}

function budget(nowMs: number, spentCents: number, capCents: number | null): Budget {
  return { accountId: 'a', month: monthOf(nowMs), spentCents, capCents };
}

test('a key has a payer from its first session to its last, and starts from its next grant a while later', (t) => {
  const w = world(t);
  const first = enter(w, 'first', budget(w.nowMs, 1, 1));
  const second = enter(w, 'second', budget(w.nowMs, 1, 1));
  w.registry.left(first);
  w.registry.left(first);
  w.nowMs += 60_000;
  w.registry.sweep();
  assert.equal(w.budgets.payerOf('one').exhausted, true);
  w.registry.left(second);
  w.nowMs += 60_000;
  w.registry.sweep();
  assert.equal(w.budgets.size, 0);
  enter(w, 'third', budget(w.nowMs, 0, 1));
  assert.equal(w.budgets.payerOf('one').exhausted, false);
});

test('a cap that changes counts at once, and grants that are under way are asked for again', (t) => {
  const w = world(t);
  const { grant } = enter(w, 'first', budget(w.nowMs, 1, 1));
  assert.ok(grant);
  const asOf = w.registry.changes.count;
  w.table.apply({ version: 2, kind: 'budget', budget: budget(w.nowMs, 1, 2) });
  assert.equal(w.budgets.payerOf('one').exhausted, false);
  assert.equal(w.registry.changes.concern(grant, asOf), true);
});

test('a month that begins is seen by the sweep', (t) => {
  const w = world(t);
  enter(w, 'first', budget(w.nowMs, 1, 1));
  w.nowMs = Date.UTC(2026, 11, 1);
  w.registry.sweep();
  assert.equal(w.budgets.payerOf('one').exhausted, false);
});

test('a thousand ends a millisecond apart cost a few sweeps, and the last of them is not late', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  const w = world(t);
  const sweep = t.mock.method(w.budgets, 'sweep');
  const ended: number[] = [];
  for (let i = 0; i < 1_000; i++) {
    const grant = testGrant(`t${i}`, { expiresAt: w.nowMs + 400 + i });
    const agent = {
      agentId: `a${i}`,
      grant,
      servings: [],
      end: () => {
        ended.push(w.nowMs - grant.expiresAt);
        w.registry.left(agent);
      },
      closed: Promise.resolve(),
    } as unknown as AgentSession;
    assert.equal(w.registry.enter(agent, grant), undefined);
  }
  for (let i = 0; i < 1_500; i++) {
    w.nowMs++;
    t.mock.timers.tick(1);
  }
  assert.equal(ended.length, 1_000);
  assert.ok(Math.max(...ended) <= 50, `${Math.max(...ended)} ms late`);
  assert.ok(sweep.mock.callCount() <= 25, `${sweep.mock.callCount()} sweeps`);
});
