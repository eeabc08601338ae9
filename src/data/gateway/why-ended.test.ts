/** Every end of an agent's session is reported once, with its reason. */
import assert from 'node:assert/strict';
import { before, test, type TestContext } from 'node:test';
import type { MuxErrorCode } from '../../mux/types.ts';
import { MuxError } from '../../mux/types.ts';
import type { SessionEndEvent } from '../../plane/events.ts';
import { TestAgent } from '../fixtures/agent.ts';
import { testCertificate, type TestCertificate } from '../fixtures/certificate.ts';
import { startFixture, until, type Fixture } from '../fixtures/gateway.ts';
import { idOf, testGrant } from '../fixtures/link.ts';
import { type SessionEnd, WhyEnded } from './why-ended.ts';

let tls: TestCertificate;
before(async () => {
  tls = await testCertificate();
});

const NOW = Date.UTC(2026, 10, 21);

const told = ({ link }: Fixture): readonly SessionEndEvent[] =>
  link.batches.flatMap(({ events }) => events.filter((event) => event.kind === 'session_end'));

/** The report of the one session, once it has ended. */
async function endOf(w: Fixture): Promise<SessionEndEvent> {
  await until(() => told(w).length > 0);
  await w.outbox.flush(1_000);
  const [end, ...more] = told(w);
  assert.deepEqual(more, []);
  return end as SessionEndEvent;
}

interface Ending {
  readonly what: string;
  readonly reason: SessionEnd['reason'];
  readonly message: RegExp;
  /** Ends the session of `agent`, which serves `shop`. */
  readonly act: (w: Fixture, agent: TestAgent) => void | Promise<void>;
}

const stop = (agent: TestAgent): void => agent.send({ type: 'drain' });
const leave = (agent: TestAgent): void => {
  agent.control.end();
};
const remove = (w: Fixture, code: 'tunnel_deleted' | 'tunnel_expired'): void =>
  w.link.change({ kind: 'remove', tunnelId: idOf('shop'), code, message: `It is gone: ${code}.` });

const ENDINGS: readonly Ending[] = [
  { what: 'an agent that ends its control stream', reason: 'agent_left', message: /stopped/, act: (_w, a) => leave(a) },
  {
    what: 'an agent that says that it leaves, and closes',
    reason: 'agent_left',
    message: /stopped/,
    act: (_w, agent) => {
      stop(agent);
      agent.session.close();
    },
  },
  {
    what: 'a connection that is closed without a word',
    reason: 'connection_lost',
    message: /closed unexpectedly/,
    act: (_w, agent) => void agent.socket.end(),
  },
  {
    what: 'a connection that breaks',
    reason: 'connection_lost',
    message: /closed unexpectedly|The connection ended/,
    act: (_w, agent) => void agent.socket.destroy(),
  },
  {
    what: 'a forced disconnect',
    reason: 'disconnected',
    message: /^A member of the organization disconnected this agent\.$/,
    act: ({ gateway }) => void gateway.registry.disconnect(gateway.registry.connections()[0]?.agentId ?? ''),
  },
  {
    what: 'a forced disconnect with a reason',
    reason: 'disconnected',
    message: /^A member of the organization disconnected this agent: moved$/,
    act: ({ gateway }) => void gateway.registry.disconnect(gateway.registry.connections()[0]?.agentId ?? '', 'moved'),
  },
  {
    what: 'a revoked token',
    reason: 'token_revoked',
    message: /^revoked by ann$/,
    act: ({ link }) => link.change({ kind: 'revoke_token', tokenId: 'token-3', message: 'revoked by ann' }),
  },
  {
    what: 'a token that runs out',
    reason: 'token_expired',
    message: /expired/,
    act: (w) => {
      w.nowMs = NOW + 1_000;
      w.gateway.registry.sweep();
    },
  },
  {
    what: 'a tunnel that was deleted, of which the agent hears',
    reason: 'tunnel_deleted',
    message: /^It is gone/,
    act: async (w, agent) => {
      remove(w, 'tunnel_deleted');
      await agent.next('unbound');
      leave(agent);
    },
  },
  {
    what: 'a tunnel that ran out',
    reason: 'tunnel_expired',
    message: /^It is gone/,
    act: async (w, agent) => {
      remove(w, 'tunnel_expired');
      await agent.next('unbound');
      leave(agent);
    },
  },
  {
    what: 'an agent that serves something else by then',
    reason: 'agent_left',
    message: /stopped/,
    act: async (w, agent) => {
      remove(w, 'tunnel_deleted');
      await agent.next('unbound');
      await agent.bind('blog');
      leave(agent);
    },
  },
  {
    what: 'a suspended organization',
    reason: 'forbidden',
    message: /^suspended$/,
    act: ({ link }) => link.change({ kind: 'cut_org', orgId: testGrant('x').orgId, message: 'suspended' }),
  },
  {
    what: 'a server that asks for an end, and an agent that follows',
    reason: 'drained',
    message: /shutting down/,
    act: async ({ gateway }, agent) => {
      await gateway.drain();
      await agent.next('drain');
      leave(agent);
    },
  },
  {
    what: 'a server that stops',
    reason: 'drained',
    message: /shutting down/,
    act: ({ gateway }) => gateway.close(),
  },
  {
    what: 'a broken rule of the protocol',
    reason: 'protocol_error',
    message: /malformed/,
    act: (_w, agent) => agent.send({ type: 'nonsense' }),
  },
];

async function served(t: TestContext): Promise<{ w: Fixture; agent: TestAgent }> {
  const w = await startFixture(t, { tls, nowMs: NOW });
  w.link.grants.set('mine', testGrant('token-3', { expiresAt: NOW + 1_000 }));
  const agent = await TestAgent.enter(w.port, 'mine', 'laptop');
  agent.socket.on('error', () => {});
  await agent.bind('shop');
  return { w, agent };
}

for (const { what, reason, message, act } of ENDINGS) {
  test(`${what}: ${reason}`, async (t) => {
    const { w, agent } = await served(t);
    const [session] = w.gateway.registry.connections();
    await act(w, agent);
    const end = await endOf(w);
    assert.match(end.message, message);
    assert.deepEqual(
      { ...end, message: '' },
      {
        kind: 'session_end',
        agentId: session?.agentId,
        orgId: session?.orgId,
        tokenId: 'token-3',
        remoteIp: '127.0.0.1',
        hostname: 'laptop',
        startedAt: NOW,
        endedAt: w.nowMs,
        reason,
        message: '',
      },
    );
  });
}

test('an agent whose last tunnel another one took over: superseded, with who it was', async (t) => {
  const { w, agent } = await served(t);
  const other = await TestAgent.enter(w.port, 'good', 'desktop');
  await other.bind('shop');
  assert.equal((await agent.next('unbound')).code, 'superseded');
  leave(agent);
  const end = await endOf(w);
  assert.equal(end.reason, 'superseded');
  assert.match(end.message, /desktop/);
});

test('session ends: an unauthenticated agent is not reported', async (t) => {
  const w = await startFixture(t, { tls, nowMs: NOW });
  const stranger = await TestAgent.connect(w.port);
  stranger.hello('bad');
  await stranger.closed;
  const agent = await TestAgent.enter(w.port, 'good');
  leave(agent);
  assert.equal((await endOf(w)).tokenId, 'token-1');
});

test('the connection itself has its reasons, and the first word counts', () => {
  const ends: SessionEnd[] = [];
  const why = (): WhyEnded => new WhyEnded((end) => ends.push(end));
  const reasonOf = (code: MuxErrorCode): string => {
    why().byConnection(new MuxError(code, 'x'));
    return ends.at(-1)?.reason ?? '';
  };
  assert.equal(reasonOf('heartbeat'), 'heartbeat_lost');
  for (const code of ['protocol', 'window_overrun', 'flood', 'go_away'] as const)
    assert.equal(reasonOf(code), 'protocol_error');
  ends.length = 0;
  const cut = why();
  cut.byServer('unauthorized', 'revoked', false);
  cut.byConnection(new MuxError('closed', 'x'));
  cut.left();
  assert.deepEqual(ends, [{ reason: 'token_revoked', message: 'revoked' }]);
});
