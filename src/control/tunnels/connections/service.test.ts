/** Connections over HTTP: what is said when one is ended, and why others ended. What the data plane tells of it: src/data/gateway/why-ended.test.ts. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import type { SessionEndEvent } from '../../../plane/events.ts';
import type { ConnectionInfo } from '../../../plane/link.ts';
import { IDLE_NODE } from '../../core/testing/idle-node.ts';
import { Plane } from '../../core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../../core/testing/plane-api.ts';
import { type Person, said, Team } from '../../core/testing/team.ts';

const DAY = 86_400_000;

let plane: Plane;
let api: PlaneApi;
let team: Team;
let ann: Person;
let live: ConnectionInfo[];
let cut: Array<readonly [agentId: string, reason: string | undefined]>;
let sequence: number;
beforeEach(async () => {
  plane = new Plane();
  api = await servePlane(plane);
  team = new Team(plane, api);
  ann = await team.person('ann@example.test');
  [live, cut, sequence] = [[], [], 0];
  plane.control.nodes.attach({
    ...IDLE_NODE,
    connections: () => live,
    disconnect: (agentId, reason) => {
      cut.push([agentId, reason]);
      return true;
    },
  });
});
afterEach(async () => {
  await api.close();
  plane.close();
});

const idOf = (n: number) => `a0000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
const end = (n: number, more: Partial<SessionEndEvent> = {}): SessionEndEvent => ({
  kind: 'session_end',
  agentId: idOf(n),
  orgId: ann.home,
  tokenId: 'token',
  remoteIp: '192.0.2.7',
  hostname: 'laptop',
  startedAt: plane.now - 5_000,
  endedAt: plane.now,
  reason: 'heartbeat_lost',
  message: 'Nothing was heard.',
  ...more,
});
const report = (events: readonly SessionEndEvent[]) =>
  plane.control.link.report({ node: 'n', sequence: ++sequence, events });
const ended = async (by = ann) =>
  (await by.call('GET', '/connections/ended')).body as unknown as ReadonlyArray<Record<string, unknown>>;
const connect = async (): Promise<string> => {
  const { body } = await ann.call('POST', '/tokens', { name: 'x' });
  live.push({
    agentId: idOf(1),
    orgId: ann.home,
    tokenId: String(body['id']),
    remoteIp: '192.0.2.7',
    hostname: 'laptop',
    version: '0.1.0',
    connectedAt: 0,
    tunnelIds: [],
    uninspectedIds: [],
    networkIds: [],
  });
  return `/connections/${idOf(1)}`;
};

test('the reason of a disconnect reaches the agent and the audit log, from the body or the query', async () => {
  const path = await connect();
  const answers = [
    await ann.call('DELETE', path),
    await ann.call('DELETE', path, {}),
    await ann.call('DELETE', path, { reason: ' moved ' }),
    await ann.call('DELETE', `${path}?reason=too%20loud`),
    await ann.call('DELETE', `${path}?reason=query`, { reason: 'body' }),
    await ann.call('DELETE', path, { reason: '  ' }),
    await ann.call('DELETE', path, { reason: 'x'.repeat(200) }),
    await api.call('DELETE', path, { as: ann.token, raw: '', headers: { 'content-type': 'application/json' } }),
  ];
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  const given = [undefined, undefined, 'moved', 'too loud', 'body', undefined, 'x'.repeat(200), undefined];
  assert.deepEqual(
    cut.map(([, reason]) => reason),
    given,
  );
  const actor = { kind: 'operator', orgId: null, userId: null, label: 'operator', ipAddress: '' } as const;
  const auditLog = plane.control.events.everywhere(actor, {
    ...{ limit: 50, since: undefined, until: undefined, by: undefined, before: undefined, org: undefined },
    action: 'connection.disconnect',
  });
  assert.deepEqual(auditLog.map(({ details }) => (details as { reason?: string } | null)?.reason).reverse(), given);
});

test('a reason that is too long, or would steer a terminal, is refused and no agent is cut', async () => {
  const path = await connect();
  for (const reason of ['x'.repeat(201), 'a\nb', '\u001b[2J', '\u202etxt', 5, null]) {
    assert.deepEqual(said(await ann.call('DELETE', path, { reason })), [400, 'invalid_request'], String(reason));
    if (typeof reason !== 'string') continue;
    const query = `${path}?reason=${encodeURIComponent(reason)}`;
    assert.deepEqual(said(await ann.call('DELETE', query)), [400, 'invalid_request'], reason);
  }
  assert.deepEqual(cut, []);
});

test('a connection says its machine and what its key is called, to its own organization alone', async () => {
  await connect();
  const list = async (by: Person) =>
    (await by.call('GET', '/connections')).body as unknown as ReadonlyArray<Record<string, unknown>>;
  const [shown] = await list(ann);
  assert.deepEqual([shown?.['hostname'], shown?.['version'], shown?.['token_name']], ['laptop', '0.1.0', 'x']);
  assert.deepEqual(await list(await team.person('bob@example.test')), []);
});

test('ended sessions are listed newest first, for their own organization alone, also to viewers and after a restart', async () => {
  const bob = await team.person('bob@example.test');
  await report([end(1, { endedAt: plane.now - 1_000 }), end(2), end(3, { orgId: bob.home, reason: 'drained' })]);
  assert.deepEqual(
    (await ended()).map(({ agent_id }) => agent_id),
    [idOf(2), idOf(1)],
  );
  assert.deepEqual((await ended())[0], {
    agent_id: idOf(2),
    remote_ip: '192.0.2.7',
    hostname: 'laptop',
    connected_at: new Date(plane.now - 5_000).toISOString(),
    ended_at: new Date(plane.now).toISOString(),
    reason: 'heartbeat_lost',
    message: 'Nothing was heard.',
  });
  assert.deepEqual(
    (await ended(bob)).map(({ reason }) => reason),
    ['drained'],
  );
  const viewer = await team.member('viv@example.test', ann, 'viewer');
  const as = await team.acting(viewer, ann.home);
  assert.equal((await api.call('GET', '/connections/ended', { as })).status, 200);
  await api.close();
  plane.control.close();
  plane = new Plane(plane.dataDir);
  api = await servePlane(plane);
  ann = await new Team(plane, api).again(ann);
  assert.equal((await ended()).length, 2);
});

test('a hundred ended sessions of an organization are kept, for 30 days', async () => {
  const bob = await team.person('bob@example.test');
  await report([end(500, { orgId: bob.home })]);
  await report(Array.from({ length: 130 }, (_, n) => end(n, { endedAt: plane.now + n })));
  const kept = await ended();
  assert.deepEqual([kept.length, kept[0]?.['agent_id'], kept.at(-1)?.['agent_id']], [100, idOf(129), idOf(30)]);
  await report([end(130, { endedAt: plane.now + 130 })]);
  assert.deepEqual([(await ended()).length, (await ended())[0]?.['agent_id']], [100, idOf(130)]);
  assert.equal((await ended(bob)).length, 1, 'of others none goes');
  plane.now += 30 * DAY + 100;
  plane.control.retention.sweep();
  ann = await team.again(ann);
  assert.deepEqual(
    (await ended()).map(({ agent_id }) => agent_id),
    Array.from({ length: 31 }, (_, i) => idOf(130 - i)),
  );
});

test('what comes twice, or of an organization that is no more, stops no batch', async () => {
  await report([end(1)]);
  await report([end(1, { message: 'again' }), end(2, { orgId: 'absent' }), end(3)]);
  assert.deepEqual(
    (await ended()).map(({ agent_id, message }) => [agent_id, message]),
    [
      [idOf(3), 'Nothing was heard.'],
      [idOf(1), 'Nothing was heard.'],
    ],
  );
});
