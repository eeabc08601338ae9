// alone: it counts the sockets of its process
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { before, describe, test, type TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { rounds } from '../../base/testing.ts';
import { dial, TestAgent } from '../fixtures/agent.ts';
import { testCertificate, type TestCertificate } from '../fixtures/certificate.ts';
import { SERVER_ID, startFixture, until, type Fixture } from '../fixtures/gateway.ts';
import { idOf, testGrant, testRoute } from '../fixtures/link.ts';
import type { GatewayLimits } from './gateway.ts';

let tls: TestCertificate;
before(async () => {
  tls = await testCertificate();
});

async function fixture(t: TestContext, limits: Partial<GatewayLimits> = {}): Promise<Fixture & { nowMs: number }> {
  const made = await startFixture(t, { tls, limits, nowMs: Date.now() });
  return made as Fixture & { nowMs: number };
}

/** Sockets of this process, both ends of a loopback connection. */
function openSockets(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap' || name === 'TLSWrap').length;
}

describe('hello', () => {
  test('a good token is welcome, and the session is listed until it ends', async (t) => {
    const { gateway, port } = await fixture(t);
    const agent = await TestAgent.connect(port);
    agent.hello('good');
    const welcome = await agent.next('welcome');
    assert.equal(welcome.serverVersion, '1.2.3');
    assert.equal(welcome.serverId, SERVER_ID);
    assert.equal(welcome.account, 'me@example.test');
    assert.equal('bandwidthLimitMbps' in welcome, false);
    const [info] = gateway.registry.connections();
    assert.equal(info?.agentId, welcome.agentId);
    assert.equal(info?.remoteIp, '127.0.0.1');
    assert.deepEqual(info?.tunnelIds, []);
    agent.destroy();
    await until(() => gateway.registry.size === 0);
    assert.equal(gateway.anonymous.size, 0);
  });

  const refusals: Array<[string, string, (agent: TestAgent) => void]> = [
    ['an unknown token', 'unauthorized', (a) => a.hello('bad')],
    ['another version', 'version_unsupported', (a) => a.hello('good', 'box', 2)],
    ['a claim before hello', 'protocol_error', (a) => void a.claim('shop')],
    ['what is no message', 'protocol_error', (a) => a.send({ type: 'nonsense' })],
    ['a line without end', 'protocol_error', (a) => void a.control.write(Buffer.alloc(70_000, 0x20))],
  ];
  for (const [what, code, act] of refusals) {
    test(`${what} is answered with ${code} and the end`, async (t) => {
      const { gateway, port } = await fixture(t);
      const agent = await TestAgent.connect(port);
      act(agent);
      const bye = await agent.next('bye');
      assert.deepEqual([bye.code, bye.serverId], [code, SERVER_ID], 'and tells which server says so');
      await agent.closed;
      await until(() => gateway.anonymous.size === 0);
      assert.equal(gateway.registry.size, 0);
    });
  }

  test('hello twice is a protocol error', async (t) => {
    const { port } = await fixture(t);
    const agent = await TestAgent.enter(port, 'good');
    agent.hello('good');
    assert.equal((await agent.next('bye')).code, 'protocol_error');
  });

  test('an expired token is refused, and one that expires ends its session on time', async (t) => {
    const w = await fixture(t);
    w.link.grants.set('soon', testGrant('token-3', { expiresAt: w.nowMs + 1_000 }));
    const agent = await TestAgent.enter(w.port, 'soon');
    w.nowMs += 1_000;
    w.gateway.registry.sweep();
    const { code, expiredAt } = await agent.next('bye');
    assert.deepEqual([code, expiredAt], ['unauthorized', w.nowMs]);
    const late = await TestAgent.connect(w.port);
    late.hello('soon');
    assert.equal((await late.next('bye')).code, 'unauthorized');
  });

  test('sessions are bounded', async (t) => {
    const { port } = await fixture(t, { maxSessions: 1 });
    const first = await TestAgent.enter(port, 'good');
    const second = await TestAgent.connect(port);
    second.hello('good');
    assert.equal((await second.next('bye')).code, 'overloaded');
    first.destroy();
  });

  test('a stream besides the control stream is reset', async (t) => {
    const { port } = await fixture(t);
    const agent = await TestAgent.enter(port, 'good');
    const stream = agent.session.open();
    const gone = Promise.withResolvers<void>();
    assert.ok(stream);
    stream.sink = { onData: () => {}, onEnd: () => {}, onDrain: () => {}, onReset: () => gone.resolve() };
    await gone.promise;
    agent.destroy();
  });
});

describe('authentication', () => {
  test('another ALPN, none, and TLS 1.2 do not come in', async (t) => {
    const { gateway, port } = await fixture(t);
    await assert.rejects(dial(port, ['h2']), /alert|no application protocol/i);
    const none = await dial(port, []);
    await once(none, 'close');
    const { connect: tlsConnect } = await import('node:tls');
    const old = tlsConnect({ host: '127.0.0.1', port, rejectUnauthorized: false, maxVersion: 'TLSv1.2' });
    await once(old, 'error');
    await until(() => gateway.anonymous.size === 0);
  });

  test('silent sockets are bounded, the oldest goes first, and an agent comes through the flood', async (t) => {
    const { gateway, port } = await fixture(t, { maxAnonymous: 10, maxAnonymousPerIp: 100 });
    const flood = Array.from({ length: 50 }, () => connect(port, '127.0.0.1'));
    for (const socket of flood) socket.on('error', () => {});
    await until(() => gateway.anonymous.refused >= 40);
    assert.equal(gateway.anonymous.size, 10);
    const agent = await TestAgent.enter(port, 'good');
    assert.equal(gateway.registry.size, 1);
    agent.destroy();
    for (const socket of flood) socket.destroy();
    await until(() => gateway.anonymous.size === 0);
  });

  test('one address can not take all places of unauthenticated agents', async (t) => {
    const { gateway, port } = await fixture(t, { maxAnonymousPerIp: 3 });
    const flood = Array.from({ length: 10 }, () => connect(port, '127.0.0.1'));
    for (const socket of flood) socket.on('error', () => {});
    await until(() => gateway.anonymous.queued === 7);
    assert.deepEqual([gateway.anonymous.size, gateway.anonymous.refused], [3, 0]);
    for (const socket of flood) socket.destroy();
    await until(() => gateway.anonymous.size === 0 && gateway.anonymous.queued === 0);
    (await dial(port)).destroy();
  });

  test('agents of one address: more than have a place at once are all accepted, in their turn', async (t) => {
    const { gateway, port } = await fixture(t, { maxAnonymousPerIp: 3 });
    const silent = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
    for (const socket of silent) socket.on('error', () => {});
    await until(() => gateway.anonymous.size === 2);
    const agents = await Promise.all(Array.from({ length: 15 }, () => TestAgent.enter(port, 'good')));
    assert.equal(gateway.registry.size, 15);
    assert.equal(gateway.anonymous.refused, 0);
    for (const agent of agents) agent.destroy();
    for (const socket of silent) socket.destroy();
  });

  test('a silent peer is cut at its deadline, with a word where TLS stands', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { gateway, port } = await fixture(t, { handshakeTimeoutSeconds: 1 });
    const raw = connect(port, '127.0.0.1');
    raw.on('error', () => {});
    const rawClosed = once(raw, 'close');
    const agent = await TestAgent.connect(port);
    agent.send({}); // opens the control stream
    const silent = await TestAgent.connect(port);
    silent.control.write(Buffer.from(' '));
    await until(() => gateway.anonymous.size >= 2);
    await silent.session.ping();
    t.mock.timers.tick(1_000);
    assert.equal((await silent.next('bye')).code, 'protocol_error');
    await rawClosed;
    await until(() => gateway.anonymous.size === 0);
  });
});

describe('claims', () => {
  test('a claim is bound, served, told as online, and gone with its session', async (t) => {
    const { gateway, link, outbox, port, table } = await fixture(t);
    const agent = await TestAgent.enter(port, 'good');
    const bound = await agent.bind('shop');
    assert.equal(bound.url, 'http://shop.example.test');
    const entry = table.findByHost('shop.example.test');
    assert.equal(entry?.served?.slot, bound.slot);
    assert.equal(entry?.served?.tokenId, 'token-1');
    assert.equal(gateway.registry.isOnline(idOf('shop')), true);
    assert.deepEqual(gateway.registry.connections()[0]?.tunnelIds, [idOf('shop')]);
    agent.destroy();
    await until(() => entry?.served === null);
    assert.equal(gateway.registry.isOnline(idOf('shop')), false);
    await outbox.flush(1_000);
    assert.equal(link.agentEvents().at(-1), 'offline shop');
  });

  test('a serving knows whether its session serves another tunnel too', async (t) => {
    const { port, table } = await fixture(t);
    const agent = await TestAgent.enter(port, 'good');
    await agent.bind('shop');
    const served = table.findById(idOf('shop'))?.served;
    assert.equal(served?.isAlone, true);
    const { slot } = await agent.bind('shed');
    assert.equal(served?.isAlone, false);
    agent.send({ type: 'unbind', slot });
    await until(() => served?.isAlone ?? false);
  });

  test('each tunnel has its number, and a number given back rests', async (t) => {
    const { port } = await fixture(t);
    const agent = await TestAgent.enter(port, 'good');
    assert.equal((await agent.bind('a')).slot, 0);
    assert.equal((await agent.bind('b')).slot, 1);
    agent.send({ type: 'unbind', slot: 0 });
    assert.equal((await agent.bind('c')).slot, 2);
    agent.destroy();
  });

  test('what the control plane refuses is refused, and the session goes on', async (t) => {
    const { link, port } = await fixture(t);
    link.routes.set(idOf('shop'), testRoute('shop', { stopped: true }));
    const agent = await TestAgent.enter(port, 'good');
    const ref = agent.claim('shop');
    const refused = await agent.next('refused');
    assert.deepEqual([refused.ref, refused.code], [ref, 'tunnel_stopped']);
    assert.ok(await agent.bind('other'));
    agent.destroy();
  });

  test('a reason of any length is a refusal that the agent can read', async (t) => {
    const { link, port } = await fixture(t);
    link.onClaim = () => ({ ok: false, code: 'subdomain_not_allowed', message: `${'x'.repeat(5_000)}.` });
    const agent = await TestAgent.enter(port, 'good');
    agent.claim('shop');
    const refused = await agent.next('refused');
    assert.equal(refused.code, 'subdomain_not_allowed');
    assert.equal(refused.message, `${'x'.repeat(999)}…`);
    agent.destroy();
  });

  test('a newer agent with a host name of any length does not break the session of the older one', async (t) => {
    const { port } = await fixture(t);
    const old = await TestAgent.enter(port, 'good', 'laptop');
    await old.bind('shop');
    const young = await TestAgent.enter(port, 'good', 'h'.repeat(1_000));
    await young.bind('shop');
    assert.equal((await old.next('unbound')).message.length, 1_000);
    old.destroy();
    young.destroy();
  });

  test('a port that can not be opened refuses its tunnel', async (t) => {
    const { port } = await fixture(t);
    const agent = await TestAgent.enter(port, 'good');
    agent.claim('db', { protocol: 'tcp', localPort: 6666 });
    assert.equal((await agent.next('refused')).code, 'no_port_free');
    agent.destroy();
  });

  test('the claims of a token are asked one after the other, each knowing what the last one bound', async (t) => {
    const { link, port } = await fixture(t);
    const [one, two] = await Promise.all([TestAgent.enter(port, 'good'), TestAgent.enter(port, 'good')]);
    for (const name of ['a', 'b', 'c']) {
      one.claim(name);
      two.claim(`${name}2`);
    }
    for (let i = 0; i < 3; i++) await Promise.all([one.next('bound'), two.next('bound')]);
    assert.deepEqual(
      link.questions.map((q) => q.liveTunnelIds.length),
      [0, 1, 2, 3, 4, 5],
    );
    one.destroy();
    two.destroy();
  });

  test('tunnels that come back are asked for ahead of the answers before them, which count as bound', async (t) => {
    const { link, port } = await fixture(t);
    const hold = Promise.withResolvers<void>();
    link.holdClaim = hold.promise;
    const names = ['a', 'b', 'c'];
    const agents = await Promise.all(names.map(() => TestAgent.enter(port, 'good')));
    for (const [i, name] of names.entries()) agents[i]?.claim(name, { tunnelId: idOf(name) });
    await until(() => link.questions.length === 3);
    assert.deepEqual(
      link.questions.map((q) => q.liveTunnelIds.length),
      [0, 1, 2],
    );
    hold.resolve();
    for (const agent of agents) await agent.next('bound');
    for (const agent of agents) agent.destroy();
  });

  test('a tunnel that comes back has the place of one before it that was refused', async (t) => {
    const { link, port } = await fixture(t);
    const hold = Promise.withResolvers<void>();
    link.holdClaim = hold.promise;
    const grant = link.onClaim;
    link.onClaim = (question) => {
      if (question.subdomain === 'taken') return { ok: false, code: 'duplicate_name', message: 'taken' };
      if (question.liveTunnelIds.length > 0) return { ok: false, code: 'quota_exceeded', message: 'full' };
      return grant(question);
    };
    const first = await TestAgent.enter(port, 'good');
    const second = await TestAgent.enter(port, 'good');
    first.claim('taken', { tunnelId: idOf('taken') });
    await until(() => link.questions.length === 1);
    second.claim('shop', { tunnelId: idOf('shop') });
    await until(() => link.questions.length === 2);
    hold.resolve();
    assert.equal((await first.next('refused')).code, 'duplicate_name');
    assert.equal((await second.next('bound')).tunnelId, idOf('shop'));
    first.destroy();
    second.destroy();
  });

  test('an agent that claims without end is slowed down, not refused', async (t) => {
    const { link, port } = await fixture(t);
    link.grants.set('small', { ...testGrant('token-3'), tunnelQuota: 1 });
    const agent = await TestAgent.enter(port, 'small');
    const began = performance.now();
    for (let i = 0; i < 25; i++) agent.claim(`t${i}`);
    for (let i = 0; i < 25; i++) await agent.next('bound');
    const took = performance.now() - began;
    assert.ok(took >= 295, `22 at once, then three at 100 ms each: ${took}`);
    assert.equal(link.questions.length, 25);
    agent.destroy();
  });

  test('too many claims in line are refused', async (t) => {
    const { link, port } = await fixture(t);
    const hold = Promise.withResolvers<void>();
    link.holdClaim = hold.promise;
    const agent = await TestAgent.enter(port, 'good');
    for (let i = 0; i < 257; i++) agent.claim(`t${i}`);
    assert.equal((await agent.next('refused')).code, 'overloaded');
    hold.resolve();
    agent.destroy();
  });

  test('an agent that leaves while its claim is decided leaves no ghost', async (t) => {
    const { gateway, link, outbox, port, table } = await fixture(t);
    const hold = Promise.withResolvers<void>();
    link.holdClaim = hold.promise;
    const agent = await TestAgent.enter(port, 'good');
    agent.claim('shop');
    agent.claim('never-asked');
    await until(() => link.questions.length === 1);
    agent.destroy();
    await until(() => gateway.registry.size === 0);
    hold.resolve();
    await turn();
    await turn();
    assert.equal(table.findById(idOf('shop'))?.served, null);
    assert.equal(link.questions.length, 1);
    await outbox.flush(1_000);
    assert.deepEqual(link.agentEvents(), []);
  });

  test('an agent that leaves while its token is checked is never accepted', async (t) => {
    const { gateway, link, port } = await fixture(t);
    const hold = Promise.withResolvers<void>();
    link.holdAdmit = hold.promise;
    const agent = await TestAgent.connect(port);
    agent.hello('good');
    await agent.session.ping();
    agent.destroy();
    await until(() => gateway.anonymous.size === 0);
    hold.resolve();
    await turn();
    assert.equal(gateway.registry.size, 0);
  });

  test('an answer that comes before its delta waits for it', async (t) => {
    const { link, port, table } = await fixture(t);
    link.onClaim = () => ({ ok: true, route: testRoute('late'), version: link.version + 1, narrowing: null });
    const agent = await TestAgent.enter(port, 'good');
    agent.claim('late');
    await until(() => link.questions.length === 1);
    await turn();
    assert.equal(agent.heard.length, 1, 'welcome and nothing else');
    link.change({ kind: 'put', route: testRoute('late', { publicUrl: 'http://from.the.delta' }) });
    assert.equal((await agent.next('bound')).url, 'http://from.the.delta');
    assert.ok(table.findById(idOf('late'))?.served);
    agent.destroy();
  });

  test('a delete or a stop that overtakes the answer wins', async (t) => {
    const { link, port, table } = await fixture(t);
    const agent = await TestAgent.enter(port, 'good');
    for (const change of [
      { kind: 'remove', tunnelId: idOf('shop'), code: 'tunnel_deleted', message: '' },
      { kind: 'put', route: testRoute('shop', { stopped: true }) },
    ] as const) {
      const hold = Promise.withResolvers<void>();
      link.holdClaim = hold.promise;
      agent.claim('shop');
      const asked = link.questions.length;
      await until(() => link.questions.length > asked);
      link.change(change);
      hold.resolve();
      assert.equal((await agent.next('refused')).code, change.kind === 'remove' ? 'tunnel_deleted' : 'tunnel_stopped');
      assert.equal(table.findById(idOf('shop'))?.served ?? null, null);
    }
    agent.destroy();
  });
});

describe('supersede', () => {
  test('the newer session serves at once and the older one gets its address', async (t) => {
    const { link, outbox, port, table } = await fixture(t);
    const old = await TestAgent.enter(port, 'good', 'laptop');
    const bound = await old.bind('shop');
    const entry = table.findById(idOf('shop'));
    assert.ok(entry?.served);
    entry.served.meter.requests = 3;
    const young = await TestAgent.enter(port, 'good', 'desktop');
    await young.bind('shop');
    const unbound = await old.next('unbound');
    assert.deepEqual([unbound.slot, unbound.code], [bound.slot, 'superseded']);
    assert.match(
      unbound.message,
      /Another agent, on desktop \(127\.0\.0\.1\), took over http:\/\/shop\.example\.test at \d{4}-/,
    );
    const serving = entry.served;
    old.destroy();
    await outbox.flush(1_000);
    await until(() => old.session.closed);
    await young.bind('another');
    assert.equal(entry.served, serving, 'the end of the old session does not touch the new one');
    assert.deepEqual(link.agentEvents().slice(0, 3), ['online shop', 'offline shop', 'online shop']);
    const usage = link.batches.flatMap((b) => b.events).find((e) => e.kind === 'usage');
    assert.equal(usage?.kind === 'usage' && usage.requests, 3);
    young.destroy();
  });

  test('what the older session still carries is paid by its key, however long after the newer one has left', async (t) => {
    const w = await fixture(t);
    const { link, gateway, meter, port, table } = w;
    const budget = {
      accountId: 'lineage',
      month: new Date(w.nowMs).toISOString().slice(0, 7),
      spentCents: 0,
      capCents: 1,
    };
    for (const token of ['old', 'heir']) link.grants.set(token, testGrant(token, { budgets: [budget] }));
    const old = await TestAgent.enter(port, 'old');
    await old.bind('shop');
    const serving = table.findById(idOf('shop'))?.served;
    assert.ok(serving);
    serving.inFlight++;
    const heir = await TestAgent.enter(port, 'heir');
    await heir.bind('shop');
    heir.destroy();
    await until(() => gateway.registry.size === 1);
    w.nowMs += 31_000;
    gateway.registry.sweep();
    serving.meter.bytesOut += 1e9;
    meter.collect();
    assert.equal(serving.payer.exhausted, true);
    link.change({ kind: 'budget', budget: { ...budget, capCents: null } });
    assert.equal(serving.payer.exhausted, false);
    assert.equal(meter.size, 1);
    serving.inFlight--;
    meter.collect();
    assert.equal(meter.size, 0);
    old.destroy();
  });

  test('a session that claims its own tunnel for another target gets a fresh number, by the same claim its own', async (t) => {
    const { port, table } = await fixture(t);
    const agent = await TestAgent.enter(port, 'good');
    await agent.bind('shop');
    assert.equal((await agent.bind('shop')).slot, 0);
    const second = await agent.bind('shop', { target: 'localhost:4000' });
    assert.equal(second.slot, 1);
    assert.equal((await agent.next('unbound')).slot, 0);
    assert.equal(table.findById(idOf('shop'))?.served?.slot, 1);
    agent.destroy();
  });

  const replacements = rounds(60, 1_000);
  test(`${replacements} replacements leave one session, one serving and no anonymous socket`, async (t) => {
    const { gateway, meter, port, table } = await fixture(t);
    let last = await TestAgent.enter(port, 'good');
    await last.bind('shop');
    const sockets = openSockets();
    for (let i = 0; i < replacements; i++) {
      const next = await TestAgent.enter(port, 'good');
      await next.bind('shop');
      await last.next('unbound');
      last.destroy();
      last = next;
    }
    await until(() => gateway.registry.size === 1);
    assert.equal(gateway.anonymous.size, 0);
    await until(() => openSockets() <= sockets);
    assert.equal(table.size, 1);
    assert.equal(meter.size, 1);
    assert.deepEqual(gateway.registry.connections()[0]?.tunnelIds, [idOf('shop')]);
    last.destroy();
    await until(() => gateway.registry.size === 0);
    assert.equal(gateway.registry.isOnline(idOf('shop')), false);
  });
});

describe('from the control plane', () => {
  test('a revoked token ends all its sessions within the tick and lets none in that was under way', async (t) => {
    const { gateway, link, port, table } = await fixture(t);
    const [one, two] = await Promise.all([TestAgent.enter(port, 'good'), TestAgent.enter(port, 'good')]);
    const stranger = await TestAgent.enter(port, 'other');
    await one.bind('shop');
    const hold = Promise.withResolvers<void>();
    link.holdAdmit = hold.promise;
    const waiting = await TestAgent.connect(port);
    waiting.hello('good');
    await waiting.session.ping();
    const serving = table.findById(idOf('shop'))?.served;
    link.change({ kind: 'revoke_token', tokenId: 'token-1', message: 'revoked by the owner' });
    assert.equal(table.findById(idOf('shop'))?.served, null);
    assert.equal(serving?.cut, true);
    assert.equal(gateway.registry.size, 1);
    hold.resolve();
    for (const agent of [one, two, waiting]) {
      assert.equal((await agent.next('bye')).code, 'unauthorized');
      await agent.closed;
    }
    assert.ok(await stranger.bind('b'));
    stranger.destroy();
  });

  test('the cut of an organization ends its sessions within the tick, and is not remembered', async (t) => {
    const { gateway, link, port, table } = await fixture(t);
    link.grants.set('foreign', testGrant('token-3', { orgId: 'another' }));
    const [one, two, foreign] = await Promise.all(
      ['good', 'other', 'foreign'].map((token) => TestAgent.enter(port, token)),
    );
    assert.ok(one !== undefined && two !== undefined && foreign !== undefined);
    await one.bind('shop');
    link.change({ kind: 'cut_org', orgId: 'org', message: 'The organization is suspended.' });
    assert.equal(table.findById(idOf('shop'))?.served, null);
    assert.equal(gateway.registry.size, 1);
    for (const agent of [one, two]) {
      assert.deepEqual(await agent.next('bye'), {
        type: 'bye',
        code: 'forbidden',
        message: 'The organization is suspended.',
        serverId: SERVER_ID,
      });
      await agent.closed;
    }
    assert.ok(await foreign.bind('b'));
    const again = await TestAgent.enter(port, 'good');
    assert.ok(await again.bind('shop'), 'nothing but the answer to its token keeps it out');
    for (const agent of [foreign, again]) agent.destroy();
  });

  test('a token whose answer was under way at a cut is asked about again', async (t) => {
    const { gateway, link, port } = await fixture(t);
    const hold = Promise.withResolvers<void>();
    let asked = 0;
    link.admit = async () => {
      if (++asked > 1) return { ok: false, code: 'forbidden', message: 'suspended' };
      await hold.promise;
      return { ok: true, grant: testGrant('token-1') };
    };
    const agent = await TestAgent.connect(port);
    agent.hello('good');
    await agent.session.ping();
    assert.equal(asked, 1);
    link.change({ kind: 'cut_org', orgId: 'org', message: '' });
    hold.resolve();
    assert.equal((await agent.next('bye')).code, 'forbidden');
    assert.equal(asked, 2);
    assert.equal(gateway.registry.size, 0);
    await agent.closed;
  });

  test('stop, expiry and delete unbind the tunnel and nothing else', async (t) => {
    const w = await fixture(t);
    const agent = await TestAgent.enter(w.port, 'good');
    for (const name of ['stopped', 'expires', 'deleted', 'kept']) await agent.bind(name);
    w.link.change({ kind: 'put', route: testRoute('stopped', { stopped: true }) });
    assert.equal((await agent.next('unbound')).code, 'tunnel_stopped');
    w.link.change({ kind: 'put', route: testRoute('expires', { expiresAt: w.nowMs + 10 }) });
    w.nowMs += 10;
    w.gateway.registry.sweep();
    assert.equal((await agent.next('unbound')).code, 'tunnel_expired');
    w.link.change({ kind: 'remove', tunnelId: idOf('deleted'), code: 'tunnel_deleted', message: 'gone' });
    assert.deepEqual(await agent.next('unbound'), {
      type: 'unbound',
      slot: 2,
      code: 'tunnel_deleted',
      message: 'gone',
    });
    assert.deepEqual(w.gateway.registry.connections()[0]?.tunnelIds, [idOf('kept')]);
    agent.destroy();
  });

  test('disconnect says when to come back', async (t) => {
    const { gateway, port } = await fixture(t);
    const agent = await TestAgent.enter(port, 'good');
    const [info] = gateway.registry.connections();
    assert.equal(gateway.registry.disconnect('absent'), false);
    assert.equal(gateway.registry.disconnect(info?.agentId ?? ''), true);
    const bye = await agent.next('bye');
    assert.deepEqual([bye.code, bye.retryAfterMs], ['disconnected', 5_000]);
    await agent.closed;
  });

  test('missed changes end the sessions of tokens that were revoked meanwhile, and no other', async (t) => {
    const { link, port, gateway } = await fixture(t);
    link.grants.set('other', testGrant('token-2'));
    const revoked = await TestAgent.enter(port, 'good');
    const other = await TestAgent.enter(port, 'other');
    link.grants.delete('good');
    link.change({ kind: 'revoke_token', tokenId: 'token-1', message: '' }, true);
    link.change({ kind: 'put', route: testRoute('a') });
    const bye = await revoked.next('bye');
    assert.equal(bye.code, 'unauthorized');
    await other.bind('shop');
    assert.equal(gateway.registry.connections().length, 1);
  });

  test('a drain keeps sessions and takes no new ones; the close says goodbye', async (t) => {
    const { gateway, port, table } = await fixture(t);
    const agent = await TestAgent.enter(port, 'good');
    await agent.bind('shop');
    await gateway.drain();
    await agent.next('drain');
    assert.ok(table.findById(idOf('shop'))?.served);
    await assert.rejects(dial(port), /ECONNREFUSED/);
    const closing = gateway.close();
    assert.equal((await agent.next('bye')).code, 'server_shutdown');
    await agent.closed;
    await closing;
  });
});

describe('advice', () => {
  test('what an agent says of a service holds for the tunnel that it serves, and for no other', async (t) => {
    const { gateway, port } = await fixture(t);
    const agent = await TestAgent.enter(port, 'good');
    const { slot } = await agent.bind('shop');
    assert.equal(gateway.registry.adviceOf(idOf('shop')), null);
    agent.send({ type: 'advice', slot: slot + 1, code: 'tls' });
    agent.send({ type: 'advice', slot, code: 'host_header' });
    await until(() => gateway.registry.adviceOf(idOf('shop')) === 'host_header');
    assert.equal(gateway.registry.adviceOf(idOf('none')), null);
    agent.destroy();
    await until(() => !gateway.registry.isOnline(idOf('shop')));
    assert.equal(gateway.registry.adviceOf(idOf('shop')), null);
  });

  test('an agent that changes its mind all the time is heard four times', async (t) => {
    const { gateway, port } = await fixture(t);
    const agent = await TestAgent.enter(port, 'good');
    const { slot } = await agent.bind('shop');
    for (const code of ['host_header', 'tls', 'host_header', 'tls', 'host_header'] as const)
      agent.send({ type: 'advice', slot, code });
    // Messages are carried out in their order.
    await agent.bind('other');
    assert.equal(gateway.registry.adviceOf(idOf('shop')), 'tls');
  });
});

describe('the live screen', () => {
  test('lines come gathered, bounded and counted, once a screen watches', async (t) => {
    const { port, table } = await fixture(t);
    const agent = await TestAgent.enter(port, 'good');
    const { slot } = await agent.bind('shop');
    const served = table.findById(idOf('shop'))?.served;
    assert.ok(served && !served.watched);
    agent.send({ type: 'watch', requests: true });
    await until(() => served.watched);
    for (let i = 0; i < 130; i++)
      served.note({ slot, at: 1, method: 'GET', path: `/${'"'.repeat(600)}`, status: 200, ms: 1 });
    const lines = await agent.next('requests');
    assert.equal(lines.items.length + lines.dropped, 130);
    assert.ok(lines.items.length >= 25 && lines.items.length <= 100);
    assert.equal(lines.items[0]?.path.length, 512);
    agent.send({ type: 'watch', requests: false });
    await until(() => !served.watched);
    agent.destroy();
  });

  test('an agent that does not read is cut off', async (t) => {
    const { gateway, port } = await fixture(t);
    const agent = await TestAgent.enter(port, 'good');
    agent.control.sink = { onData: () => {}, onEnd: () => {}, onReset: () => {}, onDrain: () => {} };
    for (let i = 0; i < 40_000 && !agent.session.closed; i++) {
      agent.send({ type: 'claim', ref: i, protocol: 'http', target: 'x', localPort: 1, subdomain: 'x' });
      if (i % 100 === 99) await turn();
    }
    await agent.closed;
    await until(() => gateway.registry.size === 0);
  });
});

describe('an agent that comes again by another way', () => {
  const RUN = '33333333-3333-4333-8333-333333333333';

  test('run: the earlier session of the same process ends at once, and no other one', async (t) => {
    const { gateway, port, table } = await fixture(t);
    const enter = async (token: string, run?: string): Promise<TestAgent> => {
      const agent = await TestAgent.connect(port);
      agent.hello(token, 'box', 1, run);
      await agent.next('welcome');
      return agent;
    };
    const [first, old] = [await enter('good', RUN), await enter('good')];
    await first.bind('shop');
    const second = await enter('good', RUN);
    await first.closed;
    assert.ok(!first.heard.some(({ type }) => type === 'bye'), 'no word that an agent could take for an end');
    assert.equal(gateway.registry.size, 2);
    await second.bind('shop');
    assert.ok(table.findById(idOf('shop'))?.served !== null);
    const third = await enter('other', '44444444-4444-4444-8444-444444444444');
    assert.equal(gateway.registry.size, 3);
    for (const agent of [old, second, third]) agent.destroy();
    await until(() => gateway.registry.size === 0);
    await (await enter('good', RUN)).bind('shop');
  });
});
