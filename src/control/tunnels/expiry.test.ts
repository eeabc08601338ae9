/**
 * How long a tunnel lives, by its plan and by what was asked for, and what its end means for the row, for claims, and for a real agent.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { afterEach, beforeEach, suite, test } from 'node:test';
import { and, eq, isNull } from 'drizzle-orm';
import { systemClock } from '../../base/clock.ts';
import { silentLog } from '../../base/log.ts';
import { openDatabase, openStore } from '../db/open.ts';
import { organizations, tunnels } from '../db/schema.ts';
import { Store } from '../db/tx.ts';
import type { UserActor } from '../core/rules/actor.ts';
import type { Plan } from '../core/rules/plans.ts';
import { get, startOrigin } from '../../../test/harness.ts';
import { spawnCulvert } from '../../../test/harness/spawned.ts';
import { Plane, START } from '../core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../core/testing/plane-api.ts';
import { type Person, said, Team } from '../core/testing/team.ts';

const SECOND = 1000;
const HOUR = 3600 * SECOND;
const DAY = 24 * HOUR;

suite('the time of a tunnel', () => {
  let plane: Plane;
  let ann: UserActor;
  beforeEach(async () => {
    plane = new Plane();
    ann = await plane.person('ann@example.test');
  });
  afterEach(() => plane.close());

  const onPlan = (plan: Plan) =>
    plane.control.store.inTx(
      ({ db }) => void db.update(organizations).set({ plan }).where(eq(organizations.id, ann.orgId)).run(),
    );

  for (const [plan, most] of [
    ['free', HOUR],
    ['pro', DAY],
    ['team', 7 * DAY],
    ['enterprise', null],
  ] as const) {
    test(`${plan}: ${most === null ? 'no end' : `${most / HOUR} hours`} unless less is asked for, by the API and by a claim`, async () => {
      onPlan(plan);
      assert.equal(plane.create(ann).row.expiresAt, most === null ? null : START + most);
      assert.equal((await plane.bound(plane.mint(ann))).expiresAt, most === null ? null : START + most);
      for (const ask of [60 * SECOND, HOUR - SECOND, HOUR, HOUR + SECOND, 7 * DAY, 7 * DAY + SECOND]) {
        const { row } = plane.create(ann, { ttlSeconds: ask / SECOND });
        assert.equal(row.expiresAt, START + Math.min(ask, most ?? Infinity), String(ask));
        plane.now += SECOND;
        const begun = plane.control.tunnels.start(ann, row.id).row.expiresAt;
        assert.equal(begun, plane.now + Math.min(ask, most ?? Infinity), 'a start begins it anew, as it was asked for');
        plane.now -= SECOND;
      }
    });
  }

  test('at its end the row is inactive, the agent is cut off, and the name is known still', async () => {
    onPlan('free');
    const token = plane.mint(ann);
    const { tunnelId } = await plane.bound(token, { subdomain: 'shop' });
    plane.control.tunnels.start(ann, tunnelId);
    plane.now += HOUR - 1;
    assert.equal(plane.control.tunnels.expireDue(), 0);
    assert.equal(plane.control.tunnels.get(ann, tunnelId).row.status, 'active');
    plane.now += 1;
    plane.deltas.length = 0;
    assert.equal(plane.control.tunnels.expireDue(), 1);
    assert.equal(plane.control.tunnels.get(ann, tunnelId).row.status, 'inactive');
    assert.deepEqual(
      plane.deltas.map((delta) => (delta.kind === 'remove' ? [delta.tunnelId, delta.code] : delta.kind)),
      [[tunnelId, 'tunnel_expired'], 'put'],
    );
  });

  test('the run that had an expired tunnel is refused when it comes back; a new run begins a new life', async () => {
    onPlan('free');
    const token = plane.mint(ann, { ttlHours: 100 });
    const { tunnelId } = await plane.bound(token, { subdomain: 'shop' });
    plane.now += HOUR - 1;
    assert.equal(await plane.refusal(token, { subdomain: 'shop', tunnelId }), 'bound shop', 'in its time');
    plane.now += 1;
    assert.equal(await plane.refusal(token, { subdomain: 'shop', tunnelId }), 'tunnel_expired', 'before the job');
    plane.control.tunnels.expireDue();
    assert.equal(await plane.refusal(token, { subdomain: 'shop', tunnelId }), 'tunnel_expired', 'after the job');
    const again = await plane.bound(token, { subdomain: 'shop' });
    assert.deepEqual([again.tunnelId, again.expiresAt], [tunnelId, plane.now + HOUR]);
    assert.equal(
      await plane.refusal(token, { subdomain: 'shop', tunnelId }),
      'bound shop',
      'the new life is open to it too',
    );
  });

  test('tunnel expiry: starting an expired tunnel admits the old run again', async () => {
    onPlan('free');
    const token = plane.mint(ann, { ttlHours: 100 });
    const { tunnelId } = await plane.bound(token, { subdomain: 'shop' });
    plane.now += HOUR;
    plane.control.tunnels.expireDue();
    plane.control.tunnels.start(ann, tunnelId);
    assert.equal(await plane.refusal(token, { subdomain: 'shop', tunnelId }), 'bound shop');
  });

  test('the same holds for a port and for a random name', async () => {
    onPlan('free');
    const token = plane.mint(ann, { ttlHours: 100 });
    const port = await plane.bound(token, { protocol: 'tcp', localPort: 22 });
    const named = await plane.bound(token);
    plane.now += HOUR;
    const tcp = { protocol: 'tcp', localPort: 22 } as const;
    assert.equal(await plane.refusal(token, { ...tcp, tunnelId: port.tunnelId }), 'tunnel_expired');
    const again = { subdomain: named.subdomain, tunnelId: named.tunnelId };
    assert.equal(await plane.refusal(token, again), 'tunnel_expired');
    assert.equal((await plane.bound(token, tcp)).tcpPort, port.tcpPort);
  });
});

suite('ttlSeconds over HTTP', () => {
  let plane: Plane;
  let api: PlaneApi;
  let ann: Person;
  beforeEach(async () => {
    plane = new Plane();
    api = await servePlane(plane);
    ann = await new Team(plane, api).person('ann@example.test');
  });
  afterEach(async () => {
    await api.close();
    plane.close();
  });

  test('60 is the least; a whole number, however large', async () => {
    const ask = (ttlSeconds: unknown) => ann.call('POST', '/tunnels', { localPort: 3000, ttlSeconds });
    for (const ttl of [59, 0, -1, 60.5, '60', null]) {
      assert.deepEqual(said(await ask(ttl)), [400, 'invalid_request'], String(ttl));
    }
    const least = await ask(60);
    assert.deepEqual([least.status, least.body['expiresAt']], [201, new Date(START + 60_000).toISOString()]);
    const huge = await ask(Number.MAX_SAFE_INTEGER);
    assert.equal(huge.status, 201);
    assert.ok(Date.parse(String(huge.body['expiresAt'])) > START + 3650 * DAY - DAY);
    const { body } = await ann.call('POST', '/tunnels', { localPort: 3000 });
    assert.equal(body['expiresAt'], null, 'Enterprise has no end');
  });

  test('a tunnel shows every field, before and after its end', async () => {
    const made = await ann.call('POST', '/tunnels', { localPort: 3000, subdomain: 'shop', ttlSeconds: 60 });
    const shown = {
      id: made.body['id'],
      subdomain: 'shop',
      publicUrl: 'http://shop.localhost',
      status: 'inactive',
      protocol: 'http',
      localPort: 3000,
      authEnabled: false,
      bytesIn: 0,
      bytesOut: 0,
      totalRequests: 0,
      createdAt: new Date(START).toISOString(),
      projectSlug: 'default',
      online: false,
      stopped: false,
      expiresAt: new Date(START + 60_000).toISOString(),
      maintenance: false,
      edgeAuthEnabled: false,
      policyEnabled: false,
      state: 'never_connected',
      stateSince: new Date(START).toISOString(),
      stateReason: null,
      endedSessionId: null,
    };
    assert.deepEqual(made.body, shown);
    plane.now += 60_000;
    plane.control.tunnels.expireDue();
    const expired = { ...shown, state: 'expired', stateSince: shown.expiresAt };
    assert.deepEqual((await ann.call('GET', `/tunnels/${made.body['id']}`)).body, {
      ...expired,
      certificate: null,
      authUsername: null,
      maintenanceMessage: null,
      setByAgent: null,
      advice: null,
      startCommand: { words: ['culvert', 'http', '3000', '--subdomain', 'shop'], key: null },
    });
    assert.deepEqual((await ann.call('GET', '/tunnels')).body, [expired]);
  });
});

suite('a real agent', { timeout: 120_000 }, () => {
  /** Puts the end of the live tunnel `shop` into the past, behind the server's back: no test waits a minute. */
  function runOut(dataDir: string): void {
    const store = new Store(openStore(openDatabase(dataDir), dataDir), { clock: systemClock, log: silentLog });
    try {
      const shop = and(eq(tunnels.label, 'shop'), isNull(tunnels.deletedAt));
      store.inTx(({ db, now }) => {
        assert.equal(
          db
            .update(tunnels)
            .set({ expiresAt: now - 1 })
            .where(shop)
            .run().changes,
          1,
        );
      });
    } finally {
      store.close();
    }
  }

  test('ends with 4 when its tunnel runs out, connected or away; a new run begins a new life', async (t) => {
    const culvert = await spawnCulvert(t);
    const dataDir = join(culvert.folder, 'data');
    const { port } = await startOrigin(t, (_request, response) => response.end('hello'));
    const made = await culvert.account.call('POST', '/tunnels', { localPort: port, subdomain: 'shop', ttlSeconds: 60 });
    assert.equal(made.status, 201);
    const words = ['http', String(port), '--subdomain', 'shop', '--json'];
    const visit = () => get('http://shop.localhost', culvert.ports.http);

    const connected = culvert.agent(words);
    await connected.printed(/"tunnel_online"/);
    assert.equal((await visit()).body, 'hello');
    runOut(dataDir);
    assert.equal(await connected.ended(), 4, connected.output);
    assert.match(connected.output, /tunnel_expired/);
    const refused = await visit();
    assert.deepEqual([refused.status, refused.code], [503, 'tunnel_offline']);
    const { body } = await culvert.account.call('GET', `/tunnels/${made.body['id']}`);
    assert.deepEqual([body['status'], body['online']], ['inactive', false]);

    const away = culvert.agent(words);
    await away.printed(/"tunnel_online"/);
    assert.equal((await visit()).body, 'hello', 'a new run, a new life');
    await culvert.killServer();
    runOut(dataDir);
    await culvert.startServer();
    assert.equal(await away.ended(), 4, away.output);
    assert.match(away.output, /tunnel_expired/);

    const last = culvert.agent(words);
    await last.printed(/"tunnel_online"/);
    assert.equal((await visit()).body, 'hello');
  });
});
