/**
 * Public ports are few, and addresses that others remember: no organization takes all of them from the others, and none receives the
 * clients of the one before it. On a clock that tests move.
 */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { fateOf } from '../../src/agent/codes.ts';
import { DAY_MS, HOUR_MS } from '../../src/base/clock.ts';
import type { ControlOptions } from '../../src/control/open.ts';
import { capabilityTokens } from '../../src/control/db/schema.ts';
import type { UserActor } from '../../src/control/core/rules/actor.ts';
import { aKey } from '../../src/control/networks/testing.ts';
import { Plane } from '../../src/control/core/testing/plane.ts';
import { servePlane } from '../../src/control/core/testing/plane-api.ts';
import { said, Team } from '../../src/control/core/testing/team.ts';

const range = (first: number, count: number) => ({ first, last: first + count - 1 });
/** The only port that there is. */
const ONE: Partial<ControlOptions> = { tcpPorts: range(20_000, 1), udpPorts: range(30_000, 1) };
const MANY: Partial<ControlOptions> = { tcpPorts: range(20_000, 20), udpPorts: range(30_000, 10) };
const CONFLICT = { code: 'conflict' };

function planeOf(t: TestContext, changes: Partial<ControlOptions>): Plane {
  const plane = new Plane(undefined, changes);
  t.after(() => plane.close());
  return plane;
}

/** What an organization does with ports of either kind, in the words of both. */
interface Ports {
  /** Takes one: its number and what frees it. Throws `conflict`. */
  take(by: UserActor): { readonly port: number | null; free(): void };
}

let named = 0;
const tcp = (plane: Plane): Ports => ({
  take(by) {
    const { row } = plane.create(by, { protocol: 'tcp' });
    return { port: row.tcpPort, free: () => plane.control.tunnels.delete(by, row.id) };
  },
});
const udp = ({ control }: Plane): Ports => ({
  take(by) {
    const { id } = control.networks.create(by, { name: `net-${++named}`, cidr: '10.80.0.0/24' }).row;
    const server = { publicKey: aKey(), listenPort: 51_820, endpoint: null };
    const { row } = control.networks.setServer(by, id, server);
    return { port: row.reservedUdpPort, free: () => control.networks.delete(by, id) };
  },
});
const KINDS = [
  { kind: 'tcp', portsOf: tcp, first: 20_000, all: 20, share: 15 },
  { kind: 'udp', portsOf: udp, first: 30_000, all: 10, share: 7 },
] as const;

for (const { kind, portsOf, first, all, share } of KINDS) {
  test(`class 11 resource exhaustion: a free organization holds its share of the ${kind} ports, those that it freed included`, async (t) => {
    const plane = planeOf(t, MANY);
    const ports = portsOf(plane);
    const [eve, bob] = [await plane.person('eve@example.test', 'free'), await plane.person('bob@example.test', 'free')];
    for (let i = 0; i < share; i++) ports.take(eve);
    assert.throws(() => ports.take(eve), CONFLICT);
    const others = Array.from({ length: all - share }, () => ports.take(bob).port);
    assert.equal(new Set(others).size, all - share);
    assert.throws(() => ports.take(bob), CONFLICT, 'none is left');
  });

  test(`class 11 resource exhaustion: ${kind} ports that are freed and taken in turn stay within the share`, async (t) => {
    const plane = planeOf(t, MANY);
    const ports = portsOf(plane);
    const [eve, bob] = [await plane.person('eve@example.test', 'free'), await plane.person('bob@example.test', 'free')];
    for (let round = 0; round < 3; round++) {
      const held = Array.from({ length: share }, () => ports.take(eve));
      for (const one of held) one.free();
      plane.now += 1000;
    }
    for (let i = 0; i < all - share; i++) ports.take(bob);
    assert.throws(() => ports.take(bob), CONFLICT);
  });

  test(`class 11 resource exhaustion: an organization that is alone may have all ${kind} ports, and gets no more once it is not`, async (t) => {
    const plane = planeOf(t, MANY);
    const ports = portsOf(plane);
    const ann = await plane.person('ann@example.test', 'free');
    const held = Array.from({ length: all }, () => ports.take(ann));
    held[0]?.free();
    held[0] = ports.take(ann);
    const bob = await plane.person('bob@example.test', 'free');
    for (const one of held.slice(0, all - share)) one.free();
    assert.throws(() => ports.take(ann), CONFLICT);
    plane.now += DAY_MS;
    for (let i = share; i < all; i++) ports.take(bob);
    assert.throws(() => ports.take(bob), CONFLICT);
  });

  test(`class 11 resource exhaustion: one person’s organizations together hold a share of the ${kind} ports, deleted ones included`, async (t) => {
    const plane = planeOf(t, MANY);
    const ports = portsOf(plane);
    const eve = await plane.person('eve@example.test', 'free');
    const second = { ...eve, orgId: plane.control.organizations.create(eve, 'Second').id };
    const half = Math.floor(share / 2);
    for (let i = 0; i < half; i++) ports.take(eve);
    // Without another user they may have all together, and each no more than its share.
    const held = Array.from({ length: all - half }, () => ports.take(second));
    for (const one of held.slice(share - half)) one.free();
    plane.now += DAY_MS;
    const bob = await plane.person('bob@example.test', 'free');
    for (const by of [eve, second]) assert.throws(() => ports.take(by), CONFLICT);
    await plane.control.organizations.delete(second, second.orgId);
    const third = { ...eve, orgId: plane.control.organizations.create(eve, 'Third').id };
    for (const by of [eve, third]) assert.throws(() => ports.take(by), CONFLICT, 'those that cool down count');
    for (let i = share; i < all; i++) ports.take(bob);
    plane.now += DAY_MS;
    ports.take(third);
  });

  test(`class 11 resource exhaustion: an organization holds its share of the ${kind} ports beside another one of the same user`, async (t) => {
    const plane = planeOf(t, MANY);
    const ports = portsOf(plane);
    const eve = await plane.person('eve@example.test', 'free');
    const second = { ...eve, orgId: plane.control.organizations.create(eve, 'Second').id };
    for (let i = 0; i < share; i++) ports.take(eve);
    assert.throws(() => ports.take(eve), CONFLICT);
    for (let i = share; i < all; i++) ports.take(second);
    assert.throws(() => ports.take(second), CONFLICT, 'none is left');
  });

  test(`class 3 name takeover: a freed ${kind} port is its organization's at once, and another's after 24 hours`, async (t) => {
    const plane = planeOf(t, ONE);
    const ports = portsOf(plane);
    const [ann, eve] = [await plane.person('ann@example.test', 'free'), await plane.person('eve@example.test', 'free')];
    ports.take(ann).free();
    assert.throws(() => ports.take(eve), CONFLICT);
    plane.now += DAY_MS - 1;
    const again = ports.take(ann);
    assert.equal(again.port, first);
    again.free();
    // Counted from the last time.
    plane.now += DAY_MS - 1;
    assert.throws(() => ports.take(eve), CONFLICT);
    plane.now += 1;
    assert.equal(ports.take(eve).port, first);
  });

  test(`class 3 name takeover: of the ${kind} ports that it freed an organization gets the last one first, and none of another's`, async (t) => {
    const plane = planeOf(t, MANY);
    const ports = portsOf(plane);
    const [ann, eve] = [await plane.person('ann@example.test', 'free'), await plane.person('eve@example.test', 'free')];
    const held = Array.from({ length: 3 }, () => ports.take(ann));
    for (const one of held) {
      plane.now += 1000;
      one.free();
    }
    assert.equal(ports.take(eve).port, first + 3);
    assert.deepEqual(
      Array.from({ length: 4 }, () => ports.take(ann).port),
      [first + 2, first + 1, first, first + 4],
    );
  });
}

interface End {
  readonly how: string;
  /** Gives a port to ann, and ends what has it. */
  readonly end: (plane: Plane, ann: UserActor) => unknown;
}

async function byItsAgent(plane: Plane, ann: UserActor): Promise<void> {
  await plane.bound(plane.mint(ann), { protocol: 'tcp' });
}

const ENDS: readonly End[] = [
  {
    how: 'the deletion of its project',
    end(plane, ann) {
      plane.projects.create(ann, { slug: 'web', name: 'Web' });
      plane.create(ann, { protocol: 'tcp', projectSlug: 'web' });
      plane.projects.delete(ann, 'web');
    },
  },
  {
    how: 'the deletion of its organization',
    async end(plane, ann) {
      plane.create(ann, { protocol: 'tcp' });
      udp(plane).take(ann);
      plane.control.organizations.create(ann, 'Another');
      await plane.control.organizations.delete(ann, ann.orgId);
    },
  },
  {
    how: 'the end of a tunnel that no agent served for a day',
    async end(plane, ann) {
      await byItsAgent(plane, ann);
      plane.now += DAY_MS + 1;
      assert.equal(plane.control.tunnels.removeUnused(), 1);
    },
  },
  {
    how: 'the end of a tunnel that ran out 30 days ago',
    end(plane, ann) {
      plane.create(ann, { protocol: 'tcp' });
      plane.now += HOUR_MS;
      assert.equal(plane.control.tunnels.expireDue(), 1);
      plane.now += 30 * DAY_MS + 1;
      assert.equal(plane.control.tunnels.removeForgotten(), 1);
    },
  },
  {
    how: 'an endpoint of its own',
    end(plane, ann) {
      udp(plane).take(ann);
      const { id } = plane.control.networks.list(ann)[0]?.row ?? assert.fail();
      const server = { publicKey: aKey(), listenPort: 51_820, endpoint: 'vpn.example.com:51820' };
      plane.control.networks.setServer(ann, id, server);
    },
  },
];

for (const { how, end } of ENDS) {
  test(`class 3 name takeover: a port that was freed by ${how} is no other organization's for 24 hours`, async (t) => {
    const plane = planeOf(t, ONE);
    const [ann, eve] = [await plane.person('ann@example.test', 'free'), await plane.person('eve@example.test', 'free')];
    await end(plane, ann);
    const kinds = [how.includes('endpoint') ? [] : [tcp(plane)], /endpoint|organization/.test(how) ? [udp(plane)] : []];
    for (const ports of kinds.flat()) assert.throws(() => ports.take(eve), CONFLICT);
    plane.now += DAY_MS;
    for (const ports of kinds.flat()) ports.take(eve);
  });
}

test('class 3 name takeover: a port that settings took away and gave back is no other organization’s for 24 hours', async (t) => {
  const away: Partial<ControlOptions> = { tcpPorts: range(20_001, 1), udpPorts: range(30_001, 1) };
  const before = new Plane(undefined, ONE);
  const [ann, eve] = [await before.person('ann@example.test', 'free'), await before.person('eve@example.test', 'free')];
  const token = before.mint(ann);
  const { tunnelId } = await before.bound(token, { protocol: 'tcp' });
  udp(before).take(ann);
  before.control.close();
  const moved = new Plane(before.dataDir, away);
  assert.equal((await moved.bound(token, { protocol: 'tcp', tunnelId })).tcpPort, 20_001);
  const { id } = moved.control.networks.list(ann)[0]?.row ?? assert.fail();
  const server = { publicKey: aKey(), listenPort: 51_820, endpoint: null };
  assert.equal(moved.control.networks.setServer(ann, id, server).row.reservedUdpPort, 30_001);
  moved.control.close();
  const back = new Plane(before.dataDir, ONE);
  t.after(() => back.close());
  for (const ports of [tcp(back), udp(back)]) assert.throws(() => ports.take(eve), CONFLICT);
  assert.equal((await back.bound(token, { protocol: 'tcp', tunnelId })).tcpPort, 20_000);
  assert.equal(back.control.networks.setServer(ann, id, server).row.reservedUdpPort, 30_000);
});

test('class 11 resource exhaustion: tunnels and networks that are made at once exceed no share', async (t) => {
  const plane = planeOf(t, MANY);
  const api = await servePlane(plane);
  t.after(() => api.close());
  const team = new Team(plane, api);
  const [eve, bob] = [await team.person('eve@example.test'), await team.person('bob@example.test')];
  const token = await eve.call('POST', '/tokens', { name: 'laptop', tunnelQuota: 100 });
  assert.equal(token.status, 200, token.text);
  const agents = plane.control.store.db.select().from(capabilityTokens).all();
  const tokenId = agents[0]?.id ?? assert.fail();
  const claim = (localPort: number) =>
    plane.control.link.claim({
      tokenId,
      agentId: '00000000-0000-4000-8000-000000000000',
      liveTunnelIds: [],
      protocol: 'tcp',
      target: `localhost:${localPort}`,
      localPort,
    });
  const made = Promise.all(
    Array.from({ length: 12 }, (_, i) => eve.call('POST', '/tunnels', { localPort: i + 1, protocol: 'tcp' })),
  );
  const bound = Promise.all(Array.from({ length: 12 }, (_, i) => claim(100 + i)));
  const refusals = (await bound).flatMap((answer) => (answer.ok ? [] : [answer.code]));
  const conflicts = (await made).filter(({ status }) => status !== 201);
  assert.equal(refusals.length + conflicts.length, 24 - 15);
  for (const code of refusals) assert.deepEqual(fateOf(code, 'tunnel'), { kind: 'end', exit: 4 });
  for (const answer of conflicts) assert.deepEqual(said(answer), [409, 'conflict']);
  const networks = await Promise.all(
    Array.from({ length: 9 }, async (_, i) => {
      const { body } = await eve.call('POST', '/private-networks', { name: `net-${i}`, cidr: '10.80.0.0/24' });
      const server = { server_public_key: aKey(), server_listen_port: 51_820 };
      return said(await eve.call('PUT', `/private-networks/${String(body['id'])}/server`, server)).join(' ');
    }),
  );
  assert.deepEqual(networks.toSorted(), [...Array<string>(7).fill('200'), '409 conflict', '409 conflict']);
  assert.equal((await bob.call('POST', '/tunnels', { localPort: 1, protocol: 'tcp' })).status, 201);
});
