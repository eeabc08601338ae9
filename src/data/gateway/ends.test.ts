/** Sessions whose token ends while they are live, by the real clock: each is off within a second, also where its socket is limited and full. */
import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { before, describe, test, type TestContext } from 'node:test';
import type { MuxSession } from '../../mux/session.ts';
import type { MuxStream } from '../../mux/stream.ts';
import { TestAgent } from '../fixtures/agent.ts';
import { testCertificate, type TestCertificate } from '../fixtures/certificate.ts';
import { startFixture, until, type Fixture } from '../fixtures/gateway.ts';
import { idOf, testGrant, testRoute } from '../fixtures/link.ts';
import { OwnClock } from '../../../test/harness/own-clock.ts';

/** A second is promised. */
const PROMISED_MS = 1_000;
/** How long the token of a test lives that ends by the clock. */
const LIFE_MS = 1_500;

let tls: TestCertificate;
before(async () => {
  tls = await testCertificate();
});

const piece = Buffer.alloc(60_000);

/** Writes while the peer reads, and reads what comes. */
function flood(stream: MuxStream): void {
  const go = (): void => {
    while (!stream.gone && stream.write(piece));
  };
  stream.sink = {
    onData: (of, _bytes, start, end) => of.consumed(end - start),
    onEnd: () => {},
    onReset: () => {},
    onDrain: go,
  };
  go();
}

/** An agent at 1 Mbps with more under way, both ways, than goes through in ten seconds. */
async function fullAgent(w: Fixture, token: string): Promise<{ agent: TestAgent; session: MuxSession }> {
  const agent = await TestAgent.enter(w.port, token);
  agent.onStream = flood;
  await agent.bind('shop');
  const session = w.table.findById(idOf('shop'))?.served?.session as MuxSession;
  for (let i = 0; i < 8; i++) flood(session.open() as MuxStream);
  const limited = w.gateway.registry.bandwidth;
  await until(() => limited.waiting >= 2);
  return { agent, session };
}

interface Ending {
  readonly what: string;
  /** Makes the token end, and says when: milliseconds since the epoch. */
  readonly end: (w: Fixture, expiresAt: number) => number;
}

const ENDINGS: readonly Ending[] = [
  {
    what: 'a revoked token',
    end: ({ link }) => {
      link.change({ kind: 'revoke_token', tokenId: 'token-3', message: 'revoked by the owner' });
      return Date.now();
    },
  },
  { what: 'a token that runs out', end: (_w, expiresAt) => expiresAt },
  {
    what: 'a token whose grace ends',
    end: ({ link }) => {
      const expiresAt = Date.now() + 300;
      link.change({ kind: 'token_ends', tokenId: 'token-3', expiresAt });
      return expiresAt;
    },
  },
];

function fixtureWith(t: TestContext, expiresAt: number): Promise<Fixture> {
  return startFixture(t, { tls, nowMs: null }).then((w) => {
    w.link.grants.set('full', testGrant('token-3', { expiresAt, bandwidthLimitMbps: 1 }));
    w.link.grants.set('free', testGrant('token-3', { expiresAt }));
    return w;
  });
}

for (const { what, end } of ENDINGS) {
  describe(what, () => {
    test('tells its sessions, full or not, and they are off within a second', async (t) => {
      const expiresAt = Date.now() + LIFE_MS;
      const w = await fixtureWith(t, expiresAt);
      const { agent: full } = await fullAgent(w, 'full');
      const free = await TestAgent.enter(w.port, 'free');
      const instant = end(w, expiresAt);
      const own = new OwnClock();
      const told = await Promise.all([full.next('bye'), free.next('bye')]);
      assert.ok(Date.now() >= instant - 1, 'not sooner');
      for (const { code } of told) assert.equal(code, 'unauthorized');
      await Promise.all([full.closed, free.closed]);
      const took = Date.now() - instant - own.heldUpMs;
      assert.ok(took < PROMISED_MS, `${took} ms`);
      assert.equal(w.gateway.registry.bandwidth.size, 0);
    });

    test('cuts a session within a second whose agent does not read', async (t) => {
      const expiresAt = Date.now() + LIFE_MS;
      const w = await fixtureWith(t, expiresAt);
      const sockets: Socket[] = [];
      const onSocket = (message: unknown): void => void sockets.push((message as { socket: Socket }).socket);
      subscribe('net.server.socket', onSocket);
      t.after(() => unsubscribe('net.server.socket', onSocket));
      const { agent, session } = await fullAgent(w, 'full');
      assert.equal(sockets.length, 1);
      agent.socket.pause();
      const handle = (agent.socket as unknown as { _handle: { readStop(): void } })._handle;
      handle.readStop();
      const instant = end(w, expiresAt);
      const own = new OwnClock();
      await until(() => session.closed && sockets.every((socket) => socket.destroyed) && Date.now() > instant);
      const took = Date.now() - instant - own.heldUpMs;
      assert.ok(took < PROMISED_MS, `${took} ms`);
      agent.destroy();
    });
  });
}

test('rotation: a session works until the grace is over and then gets the reason', async (t) => {
  const w = await startFixture(t, { tls, nowMs: null });
  const agent = await TestAgent.enter(w.port, 'good');
  w.link.change({ kind: 'token_ends', tokenId: 'token-1', expiresAt: Date.now() + 400 });
  w.link.change({ kind: 'token_ends', tokenId: 'token-1', expiresAt: Date.now() + 3_600_000 }); // never later again
  await agent.bind('shop');
  const bye = await agent.next('bye');
  assert.deepEqual([bye.code, bye.message], ['unauthorized', 'The access key was rotated. Use the new one.']);
});

test('an answer that was under way when the end of a token changed does not bring the later end back', {
  timeout: 120_000,
}, async (t) => {
  const w = await startFixture(t, { tls, nowMs: null });
  const hold = Promise.withResolvers<void>();
  const soon = Date.now() + 500;
  const own = new OwnClock();
  let asked = 0;
  w.link.admit = async () => {
    if (++asked > 1) return { ok: true, grant: testGrant('token-1', { expiresAt: soon }) };
    await hold.promise;
    return { ok: true, grant: testGrant('token-1') };
  };
  const agent = await TestAgent.connect(w.port);
  agent.hello('good');
  await agent.session.ping();
  w.link.change({ kind: 'token_ends', tokenId: 'token-1', expiresAt: soon });
  hold.resolve();
  await agent.next('welcome');
  assert.equal((await agent.next('bye')).code, 'unauthorized');
  assert.equal(asked, 2);
  assert.ok(Date.now() - soon - own.heldUpMs < PROMISED_MS);
});

test('an answer under way when a stranger changes its cap, its end or its organization is not asked for again', async (t) => {
  const w = await startFixture(t, { tls, nowMs: null });
  const admit = t.mock.method(w.link, 'admit');
  const hold = Promise.withResolvers<void>();
  w.link.holdAdmit = hold.promise;
  const agent = await TestAgent.connect(w.port);
  agent.hello('good');
  await agent.session.ping();
  const budget = { accountId: 'else', month: '2026-11', spentCents: 0, capCents: 0 };
  w.link.change({ kind: 'budget', budget });
  w.link.change({ kind: 'token_ends', tokenId: 'else', expiresAt: Date.now() });
  w.link.change({ kind: 'cut_org', orgId: 'else', message: 'suspended' });
  hold.resolve();
  await agent.next('welcome');
  assert.equal(admit.mock.callCount(), 1);
  agent.destroy();
});

test('a tunnel that expires is unbound to the moment', async (t) => {
  const w = await startFixture(t, { tls, nowMs: null });
  const agent = await TestAgent.enter(w.port, 'good');
  await agent.bind('shop');
  const expiresAt = Date.now() + 300;
  const own = new OwnClock();
  w.link.change({ kind: 'put', route: testRoute('shop', { expiresAt }) });
  assert.equal((await agent.next('unbound')).code, 'tunnel_expired');
  const took = Date.now() - expiresAt;
  assert.ok(took >= -1 && took - own.heldUpMs < 500, `${took} ms`);
  agent.destroy();
});

test('sessions of one lineage share one limit for as long as one of them lives', async (t) => {
  const w = await startFixture(t, { tls, nowMs: null });
  w.link.grants.set('old', testGrant('token-3', { bandwidthLimitMbps: 7 }));
  w.link.grants.set('new', testGrant('token-4', { lineageId: 'token-3', bandwidthLimitMbps: 7 }));
  w.link.grants.set('else', testGrant('token-5', { bandwidthLimitMbps: 7 }));
  const { bandwidth } = w.gateway.registry;
  const told = await TestAgent.connect(w.port);
  told.hello('old');
  assert.equal((await told.next('welcome')).bandwidthLimitMbps, 7);
  told.destroy();
  const [one, two, three, free] = await Promise.all(
    ['old', 'new', 'else', 'good'].map((token) => TestAgent.enter(w.port, token)),
  );
  assert.equal(bandwidth.size, 2);
  one?.destroy();
  three?.destroy();
  await until(() => w.gateway.registry.size === 2);
  assert.equal(bandwidth.size, 1);
  two?.destroy();
  free?.destroy();
  await until(() => w.gateway.registry.size === 0);
  assert.equal(bandwidth.size, 0);
});
