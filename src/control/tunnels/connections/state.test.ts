/** The state of tunnels over HTTP: from what a data node reports of agents and sessions, and what users and the clock do. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import type { AgentEvent, EndReason, PlaneEvent } from '../../../plane/events.ts';
import { Plane } from '../../core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../../core/testing/plane-api.ts';
import { type Person, Team } from '../../core/testing/team.ts';

const SESSION = 'a0000000-0000-4000-8000-000000000001';
const OTHER = 'a0000000-0000-4000-8000-000000000002';

let plane: Plane;
let api: PlaneApi;
let ann: Person;
let id: string;
let sequence: number;
beforeEach(async () => {
  plane = new Plane();
  api = await servePlane(plane);
  ann = await new Team(plane, api).person('ann@example.test');
  sequence = 0;
  id = String(
    (await ann.call('POST', '/tunnels', { localPort: 3000, subdomain: 'shop', ttlSeconds: 3_600 })).body['id'],
  );
});
afterEach(async () => {
  await api.close();
  plane.close();
});

const report = (...events: readonly PlaneEvent[]) =>
  plane.control.link.report({ node: 'n', sequence: ++sequence, events });
const agent = (more: Partial<AgentEvent>): AgentEvent => ({
  ...{ kind: 'agent', agentId: SESSION, tunnelId: id, online: true, at: plane.now },
  ...more,
});
const sessionEnd = (reason: EndReason, agentId = SESSION): PlaneEvent => ({
  ...{ kind: 'session_end', agentId, orgId: ann.home, tokenId: 'token', remoteIp: '192.0.2.7', hostname: 'laptop' },
  ...{ startedAt: plane.now - 5_000, endedAt: plane.now, reason, message: 'Why.' },
});
const come = async (more: Partial<AgentEvent> = {}): Promise<void> => {
  plane.online.add(id);
  await report(agent(more));
};
const leave = async (more: Partial<AgentEvent>, ...others: readonly PlaneEvent[]): Promise<void> => {
  plane.online.delete(id);
  await report(agent({ online: false, ...more }), ...others);
};

/** `state`, `stateSince`, `stateReason`, `endedSessionId`: the same in the list and of one tunnel. */
async function state(): Promise<readonly unknown[]> {
  const fields = ({ state, stateSince, stateReason, endedSessionId }: Readonly<Record<string, unknown>>) => [
    ...[state, typeof stateSince === 'string' ? Date.parse(stateSince) : stateSince, stateReason, endedSessionId],
  ];
  const one = fields((await ann.call('GET', `/tunnels/${id}`)).body);
  const list = (await ann.call('GET', '/tunnels')).body as unknown as ReadonlyArray<Record<string, unknown>>;
  assert.deepEqual(fields(list[0] ?? {}), one);
  return one;
}

test('a tunnel is never connected until its first agent comes, and online since then', async () => {
  const created = plane.now;
  plane.now += 1_000;
  assert.deepEqual(await state(), ['never_connected', created, null, null]);
  plane.online.add(id);
  assert.deepEqual(await state(), ['online', null, null, null], 'the node knows before the row');
  const came = plane.now;
  await report(agent({}));
  plane.now += 1_000;
  assert.deepEqual(await state(), ['online', came, null, null]);
});

for (const [reason, lost] of [
  ['agent_left', false],
  ['heartbeat_lost', true],
  ['token_revoked', false],
] as const) {
  test(`an offline tunnel names its ended session and the reason: ${reason}`, async () => {
    await come();
    plane.now += 60_000;
    const left = plane.now;
    await leave({ lost }, sessionEnd(reason));
    plane.now += 60_000;
    assert.deepEqual(await state(), ['offline', left, reason, SESSION]);
    await come();
    assert.deepEqual(await state(), ['online', plane.now, null, null]);
  });
}

test('without its session an offline tunnel says lost connections alone', async () => {
  await come();
  await leave({ lost: true });
  assert.deepEqual(await state(), ['offline', plane.now, 'connection_lost', null]);
  await come();
  await leave({});
  assert.deepEqual(await state(), ['offline', plane.now, null, null]);
  // The agent dropped this tunnel and went on with others: why it ends later is not why the tunnel is offline.
  const left = plane.now;
  plane.now += 11_000;
  await report(sessionEnd('heartbeat_lost'));
  assert.deepEqual(await state(), ['offline', left, null, null]);
});

test('an agent that was replaced changes nothing of the tunnel', async () => {
  await come();
  plane.now += 1_000;
  await report(agent({ agentId: OTHER }), agent({ online: false }), sessionEnd('superseded'));
  const came = plane.now;
  plane.now += 1_000;
  assert.deepEqual(await state(), ['online', came, null, null]);
  await leave({ agentId: OTHER, lost: true }, sessionEnd('connection_lost', OTHER));
  assert.deepEqual(await state(), ['offline', plane.now, 'connection_lost', OTHER]);
});

test('a session of another organization is not the reason', async () => {
  const bob = await new Team(plane, api).person('bob@example.test');
  await come();
  const end = { ...sessionEnd('disconnected'), orgId: bob.home } as PlaneEvent;
  await leave({ lost: true }, end);
  assert.deepEqual(await state(), ['offline', plane.now, 'connection_lost', null]);
});

test('a stopped tunnel is paused, and an expired one expired, since then', async () => {
  await come();
  plane.now += 1_000;
  await ann.call('POST', `/tunnels/${id}/stop`);
  const paused = plane.now;
  plane.now += 1_000;
  assert.deepEqual(await state(), ['paused', paused, null, null]);
  await ann.call('POST', `/tunnels/${id}/start`);
  const expires = plane.now + 3_600_000;
  plane.now = expires - 1;
  ann = await new Team(plane, api).again(ann);
  assert.equal((await state())[0], 'online');
  plane.now += 1_001;
  assert.deepEqual(await state(), ['expired', expires, null, null]);
  plane.control.tunnels.expireDue();
  assert.deepEqual(await state(), ['expired', expires, null, null]);
});

test('a start of the server keeps what was stored of an end, and counts agents of a crash as lost', async () => {
  await come();
  const drained = plane.now;
  await leave({ restarting: true, lost: true }, sessionEnd('drained'));
  plane.now += 5_000;
  assert.deepEqual(plane.control.tunnels.forgetAgents(), [id]);
  assert.deepEqual(await state(), ['offline', drained, 'drained', SESSION]);
  await come({ agentId: OTHER });
  plane.online.delete(id);
  plane.now += 5_000;
  assert.deepEqual(plane.control.tunnels.forgetAgents(), [id]);
  assert.deepEqual(await state(), ['offline', plane.now, 'connection_lost', null]);
});
