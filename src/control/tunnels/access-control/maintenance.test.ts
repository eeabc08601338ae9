/**
 * Maintenance over HTTP: its message and its end; and what tunnels say about what is put on them. What visitors see is
 * src/data/edge/h1/fault.test.ts.
 */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { eq } from 'drizzle-orm';
import { auditEvents } from '../../db/schema.ts';
import { Plane } from '../../core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../../core/testing/plane-api.ts';
import { type Person, said, Team } from '../../core/testing/team.ts';

let plane: Plane;
let api: PlaneApi;
let ann: Person;
let tunnelId: string;
let sequence = 0;
beforeEach(async () => {
  plane = new Plane();
  api = await servePlane(plane);
  ann = await new Team(plane, api).person('ann@example.test');
  const made = await ann.call('POST', '/tunnels', { localPort: 3000, subdomain: 'shop' });
  tunnelId = String(made.body['id']);
});
afterEach(async () => {
  await api.close();
  plane.close();
});

const begin = (body?: object) => ann.call('PUT', `/tunnels/${tunnelId}/maintenance`, body);
const end = () => ann.call('DELETE', `/tunnels/${tunnelId}/maintenance`);
const message = async () => (await ann.call('GET', `/tunnels/${tunnelId}`)).body['maintenanceMessage'];
const shown = async () => (await ann.call('GET', `/tunnels/${tunnelId}`)).body['maintenance'];
const auditLog = () =>
  plane.control.store.db
    .select({ action: auditEvents.action })
    .from(auditEvents)
    .where(eq(auditEvents.resourceId, tunnelId))
    .all()
    .map(({ action }) => action);

/** The last route of the tunnel in the data plane. */
function told(): string | null | undefined {
  const delta = plane.deltas.at(-1);
  return delta?.kind === 'put' && delta.route.tunnelId === tunnelId ? delta.route.maintenance : undefined;
}

async function agent(online: boolean): Promise<void> {
  const event = { kind: 'agent', agentId: 'a', tunnelId, online, at: plane.now } as const;
  await plane.control.link.report({ node: 'n', sequence: ++sequence, events: [event] });
}

test('maintenance: begins with a message, reaches the data plane, is shown, and ends', async () => {
  const begun = await begin({ message: 'Back at <six>.' });
  assert.deepEqual([begun.status, begun.body], [200, { id: tunnelId, maintenance: true, message: 'Back at <six>.' }]);
  assert.equal(told(), 'Back at <six>.');
  assert.equal(await shown(), true);
  assert.equal(await message(), 'Back at <six>.');
  const { routes } = await plane.control.link.snapshot();
  assert.equal(routes[0]?.maintenance, 'Back at <six>.');
  const ended = await end();
  assert.deepEqual([ended.status, ended.body], [200, { id: tunnelId, maintenance: false }]);
  assert.equal(told(), null);
  assert.equal(await shown(), false);
  const before = plane.deltas.length;
  assert.deepEqual(said(await end()), [200]);
  assert.equal(plane.deltas.length, before);
  assert.deepEqual(auditLog(), ['tunnel.create', 'tunnel.maintenance', 'tunnel.maintenance_end']);
});

test('without a message, or a body, the edge uses its own words', async () => {
  for (const body of [undefined, {}, { message: '' }]) {
    const begun = await begin(body);
    assert.deepEqual([begun.status, begun.body], [200, { id: tunnelId, maintenance: true, message: null }]);
    assert.equal(told(), '');
  }
  for (const body of [{ message: 5 }, { message: null }, []]) {
    assert.deepEqual(said(await begin(body)), [400, 'invalid_request']);
  }
});

test('a second message takes the place of the first', async () => {
  await begin({ message: 'soon' });
  await begin({ message: 'later' });
  assert.equal(told(), 'later');
});

test('maintenance: ends when the agent disconnects, without an actor', async () => {
  await begin({ message: 'soon' });
  await agent(true);
  assert.equal(await shown(), true);
  await agent(false);
  assert.equal(told(), null);
  assert.equal(await shown(), false);
  assert.ok(!auditLog().includes('tunnel.maintenance_end'));
});

test('maintenance goes on when another agent has taken over', async () => {
  await begin({ message: 'soon' });
  plane.online.add(tunnelId);
  await agent(false);
  assert.equal(await shown(), true);
});

test('maintenance: a route published again for another reason keeps its message', async () => {
  await begin({ message: 'soon' });
  await ann.call('POST', `/tunnels/${tunnelId}/start`);
  assert.equal(told(), 'soon');
});

test('a tunnel that is deleted is not in maintenance any more', async () => {
  await begin();
  await ann.call('DELETE', `/tunnels/${tunnelId}`);
  assert.equal(plane.deltas.at(-1)?.kind, 'remove');
  assert.deepEqual(said(await begin()), [404, 'not_found']);
  assert.deepEqual(said(await end()), [404, 'not_found']);
  const before = plane.deltas.length;
  await agent(false);
  assert.equal(plane.deltas.length, before);
});

test('maintenance does not outlive the server', async () => {
  await begin({ message: 'soon' });
  plane.control.close();
  const again = new Plane(plane.dataDir);
  assert.equal((await again.control.link.snapshot()).routes[0]?.maintenance, null);
  again.control.close();
  plane = new Plane();
});

test('lists and single reads say which tunnel is in maintenance and which has a policy', async () => {
  const other = String((await ann.call('POST', '/tunnels', { localPort: 3000, subdomain: 'other' })).body['id']);
  await begin();
  await ann.call('PUT', `/tunnels/${other}/policy`, { actions: [{ kind: 'deny', path_prefix: '/' }] });
  const flags = ({ id, maintenance, policyEnabled }: Record<string, unknown>) => ({ id, maintenance, policyEnabled });
  const want = [
    { id: other, maintenance: false, policyEnabled: true },
    { id: tunnelId, maintenance: true, policyEnabled: false },
  ];
  const list = (await ann.call('GET', '/tunnels')).body as unknown as Array<Record<string, unknown>>;
  assert.deepEqual(list.map(flags), want);
  assert.deepEqual(flags((await ann.call('GET', `/tunnels/${other}`)).body), want[0]);
  assert.deepEqual(flags((await ann.call('GET', `/tunnels/${tunnelId}`)).body), want[1]);
});
