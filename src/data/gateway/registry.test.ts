import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { silentLog } from '../../base/log.ts';
import { RECHECKED_AT_ONCE } from '../../plane/link.ts';
import { type Budget, monthOf } from '../../plane/spend.ts';
import type { TokenLimits } from '../../plane/routes.ts';
import { FakeLink, testGrant } from '../fixtures/link.ts';
import { RouteTable } from '../routing/table.ts';
import type { AgentSession } from './agent.ts';
import { Budgets } from './budgets.ts';
import { AgentRegistry } from './registry.ts';

interface Fixture {
  readonly table: RouteTable;
  readonly budgets: Budgets;
  readonly registry: AgentRegistry;
  readonly link: FakeLink;
  nowMs: number;
}

function fixture(t: TestContext): Fixture {
  const table = new RouteTable('example.test');
  table.load({ version: 1, routes: [], accessKeys: [], visitorKey: '', relays: [] });
  const link = new FakeLink();
  const now = (): number => made.nowMs;
  const budgets = new Budgets({ prices: { centsPerGb: 10, centsPerMillionRequests: 0 }, now, isReported: () => true });
  const registry = new AgentRegistry({
    link,
    table,
    budgets,
    log: silentLog,
    now,
    maxSessions: 1_000,
    onPresence: () => undefined,
    onEnd: () => {},
    onKnown: () => {},
  });
  const made: Fixture = { table, budgets, registry, link, nowMs: Date.UTC(2026, 10, 21) };
  t.after(() => registry.close());
  return made;
}

/** An authenticated session of token `one`, as far as the registry looks at it. */
function enter({ registry, nowMs }: Fixture, agentId: string, budget: Budget): AgentSession {
  const grant = testGrant('one', { budgets: [budget], expiresAt: nowMs + 3_600_000 });
  const agent = { agentId, grant, servings: [], end: () => {}, closed: Promise.resolve() } as unknown as AgentSession;
  assert.equal(registry.enter(agent, grant), undefined);
  return agent;
}

function budget(nowMs: number, spentCents: number, capCents: number | null): Budget {
  return { accountId: 'a', month: monthOf(nowMs), spentCents, capCents };
}

test('a key has a payer from its first session to its last, and starts from its next grant a while later', (t) => {
  const w = fixture(t);
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
  const w = fixture(t);
  const { grant } = enter(w, 'first', budget(w.nowMs, 1, 1));
  assert.ok(grant);
  const asOf = w.registry.changes.count;
  w.table.apply({ version: 2, kind: 'budget', budget: budget(w.nowMs, 1, 2) });
  assert.equal(w.budgets.payerOf('one').exhausted, false);
  assert.equal(w.registry.changes.concern(grant, asOf), true);
});

test('limits that change reach the sessions of the key alone, and grants that are under way are asked for again', (t) => {
  const w = fixture(t);
  const limited: string[] = [];
  const entered = ['one', 'two'].map((tokenId) => {
    const grant = testGrant(tokenId, { expiresAt: w.nowMs + 3_600_000 });
    const limit = ({ tunnelQuota }: TokenLimits): undefined => void limited.push(`${tokenId} ${tunnelQuota}`);
    const agent = { agentId: tokenId, grant, servings: [], limit, end: () => {}, closed: Promise.resolve() };
    assert.equal(w.registry.enter(agent as unknown as AgentSession, grant), undefined);
    return grant;
  });
  const asOf = w.registry.changes.count;
  w.table.apply({
    version: 2,
    kind: 'token_limits',
    limits: { tokenId: 'one', tunnelQuota: 2, bandwidthLimitMbps: 5 },
  });
  assert.deepEqual(limited, ['one 2']);
  assert.deepEqual(
    entered.map((grant) => w.registry.changes.concern(grant, asOf)),
    [true, false],
  );
});

test('a month that begins is seen by the sweep', (t) => {
  const w = fixture(t);
  enter(w, 'first', budget(w.nowMs, 1, 1));
  w.nowMs = Date.UTC(2026, 11, 1);
  w.registry.sweep();
  assert.equal(w.budgets.payerOf('one').exhausted, false);
});

test('a thousand ends a millisecond apart cost a few sweeps, and the last of them is not late', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  const w = fixture(t);
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

interface Ended {
  readonly tokenId: string;
  readonly code: string;
}

/** Authenticated sessions of tokens that report how they were ended. */
function enterAll({ registry, nowMs }: Fixture, tokenIds: readonly string[]): Ended[] {
  const ended: Ended[] = [];
  for (const tokenId of tokenIds) {
    const grant = testGrant(tokenId, { expiresAt: nowMs + 3_600_000 });
    const end = (code: string): void => void ended.push({ tokenId, code });
    const rest = { servings: [], endsAt: () => {}, limit: () => undefined, closed: Promise.resolve() };
    const agent = { agentId: tokenId, grant, end, ...rest } as unknown as AgentSession;
    assert.equal(registry.enter(agent, grant), undefined);
  }
  return ended;
}

const reload = ({ table }: Fixture): boolean =>
  table.load({ version: 5, routes: [], accessKeys: [], visitorKey: '', relays: [] });

test('reload: sessions go on, but for those whose tokens were revoked or suspended meanwhile', async (t) => {
  const w = fixture(t);
  const ids = Array.from({ length: RECHECKED_AT_ONCE + 20 }, (_, i) => `token-${i}`);
  const ended = enterAll(w, ids);
  for (const id of ids) w.link.grants.set(id, testGrant(id, { expiresAt: w.nowMs + 3_600_000 }));
  w.link.grants.delete('token-3');
  const recheck = w.link.recheck.bind(w.link);
  const asked: number[] = [];
  const over = Promise.withResolvers<void>();
  w.link.recheck = async (some) => {
    asked.push(some.length);
    const answers = await recheck(some);
    if (some.includes('token-119')) setImmediate(over.resolve);
    return answers.map((answer, i) =>
      some[i] === 'token-110' ? { ok: false, code: 'forbidden', message: 'suspended' } : answer,
    );
  };
  assert.equal(reload(w), true);
  await over.promise;
  assert.deepEqual(asked, [RECHECKED_AT_ONCE, 20]);
  assert.deepEqual(ended, [
    { tokenId: 'token-3', code: 'unauthorized' },
    { tokenId: 'token-110', code: 'forbidden' },
  ]);
  const late = { agentId: 'late', end: () => {}, closed: Promise.resolve() } as unknown as AgentSession;
  assert.equal(w.registry.enter(late, testGrant('token-3'))?.code, 'unauthorized');
});

test('reload: a silent control plane is asked again, and no session ends', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const w = fixture(t);
  const ended = enterAll(w, ['one', 'two']);
  w.link.grants.set('one', testGrant('one', { expiresAt: w.nowMs + 3_600_000 }));
  const recheck = w.link.recheck.bind(w.link);
  w.link.recheck = () => Promise.reject(new Error('no answer'));
  reload(w);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(ended, []);
  w.link.recheck = recheck;
  t.mock.timers.tick(1_000);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(ended, [{ tokenId: 'two', code: 'unauthorized' }]);
});
