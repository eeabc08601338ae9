/** Audit entries of operators and owners: operators see all, customers no operator's name; and what an action changed. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { silentLog } from '../../base/log.ts';
import type { Role } from '../core/rules/actor.ts';
import { openOperator } from '../../server/admin.ts';
import { startHarness } from '../core/testing/harness.ts';
import { Plane } from '../core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../core/testing/plane-api.ts';
import { type Person, Team } from '../core/testing/team.ts';

interface Event {
  readonly id: string;
  readonly action: string;
  readonly userEmail: string;
  readonly actorType: string;
  readonly ipAddress: string;
  readonly orgId?: string | null;
  readonly resourceName: string | null;
  readonly changes: readonly object[];
  readonly details: Readonly<Record<string, unknown>> | null;
}

let plane: Plane;
let api: PlaneApi;
let team: Team;
let root: Person;
before(async () => {
  plane = new Plane();
  api = await servePlane(plane);
  team = new Team(plane, api);
  root = await team.person('root@example.test');
  const operator = { kind: 'operator', orgId: null, userId: null, label: 'operator', ipAddress: '' } as const;
  plane.control.operatorUsers.update(operator, root.email, { superadmin: true });
});
after(async () => {
  await api.close();
  plane.close();
});

const events = async (person: Person, path = '/events'): Promise<readonly Event[]> => {
  const answer = await person.call('GET', path);
  assert.equal(answer.status, 200, answer.text);
  return answer.body as unknown as readonly Event[];
};
const found = (list: readonly Event[], action: string): Event => {
  const event = list.find((one) => one.action === action);
  assert.ok(event !== undefined, `no ${action}`);
  return event;
};
const done = async (person: Person, method: string, path: string, body?: unknown) => {
  const answer = await person.call(method, path, body);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`);
  return answer.body;
};
const join = (host: Person, guest: Person, role: Role): Promise<void> =>
  team.join(guest, { id: host.home, by: host, role });

test('a role, an invitation, a plan and the rights of an operator say from what to what', async () => {
  const [ann, bob] = [await team.person('ann@example.test'), await team.person('bob@example.test')];
  await join(ann, bob, 'member');
  await done(ann, 'PATCH', `/orgs/${ann.home}/members/${bob.id}`, { role: 'admin' });
  await done(root, 'PATCH', `/superadmin/orgs/${ann.home}`, { plan: 'team' });
  for (const superadmin of [true, false]) await done(root, 'PATCH', `/superadmin/users/${ann.id}`, { superadmin });
  const auditLog = await events(ann);
  assert.deepEqual(found(auditLog, 'invitation.create').details, { email: bob.email, role: 'member' });
  const said = (action: string) => [found(auditLog, action).resourceName, found(auditLog, action).changes];
  assert.deepEqual(said('member.update'), [bob.email, [{ field: 'role', from: 'member', to: 'admin' }]]);
  assert.deepEqual(said('org.plan'), ['ann', [{ field: 'plan', from: 'enterprise', to: 'team' }]]);
  const [granted, revoked] = [said('user.superadmin_grant'), said('user.superadmin_revoke')];
  assert.deepEqual(granted, [ann.email, [{ field: 'superadmin', from: false, to: true }]]);
  assert.deepEqual(revoked, [ann.email, [{ field: 'superadmin', from: true, to: false }]]);
  assert.equal(found(auditLog, 'auth.login').details, null);
});

test('customers read `operator` and no address; operators read the actor', async () => {
  const cas = await team.person('cas@example.test');
  await done(root, 'PATCH', `/superadmin/orgs/${cas.home}`, { plan: 'pro' });
  await done(root, 'POST', `/superadmin/users/${cas.id}/revoke-sessions`);
  const again = await api.call('POST', '/auth/login', { body: { email: cas.email, password: cas.password } });
  const as = String(again.body['access_token']);
  for (const path of ['/events', '/me/events', '/events?actor=operator']) {
    const { text } = await api.call('GET', path, { as });
    assert.match(text, /user\.sessions_revoke/);
    assert.ok(!text.includes(root.email), path);
    const byOperator = (JSON.parse(text) as Event[]).filter(({ actorType }) => actorType === 'operator');
    assert.ok(byOperator.length > 0 && byOperator.every((one) => one.userEmail === 'operator' && one.ipAddress === ''));
  }
  assert.equal((await api.call('GET', `/events?actor=${root.email}`, { as })).text, '[]');

  for (const actor of [root.email, 'operator']) {
    const all = await events(root, `/superadmin/events?org=${cas.home}&actor=${actor}`);
    const entry = found(all, 'org.plan');
    assert.deepEqual([entry.userEmail, entry.actorType, entry.orgId], [root.email, 'operator', cas.home]);
    assert.notEqual(entry.ipAddress, '');
  }
});

test('deleted organization: operators, the other owners (by email) and its deleter see the actor', async () => {
  const [dan, eve, max] = [
    await team.person('dan@example.test'),
    await team.person('eve@example.test'),
    await team.person('max@example.test'),
  ];
  await join(dan, eve, 'owner');
  await join(dan, max, 'admin');
  await done(eve, 'DELETE', `/orgs/${dan.home}`);

  const all = await events(root, `/superadmin/events?org=${dan.home}&action=org.delete`);
  assert.deepEqual(
    all.map(({ userEmail, orgId }) => [userEmail, orgId]),
    [[eve.email, dan.home]],
  );
  const newer = await events(root, `/superadmin/events?org=${dan.home}&limit=2`);
  const older = await events(root, `/superadmin/events?org=${dan.home}&limit=2&before=${newer[1]?.id}`);
  assert.ok(newer.length === 2 && older.every(({ id }) => !newer.some((one) => one.id === id)));

  const told = team.emails().flatMap((mail) => (mail.kind === 'organization_deleted' ? [mail] : []));
  assert.deepEqual(
    told.map(({ to, by }) => [to, by]),
    [[dan.email, eve.email]],
  );
  found(await events(eve, '/me/events'), 'org.delete');

  const listed = async (query: string) =>
    (await done(root, 'GET', `/superadmin/orgs${query}`)) as unknown as { id: string; deleted_at: string | null }[];
  const deleted = await listed('?deleted=true');
  assert.deepEqual(
    deleted.map(({ id, deleted_at: at }) => [id, at !== null]),
    [[dan.home, true]],
  );
  assert.ok(!(await listed('')).some(({ id, deleted_at: at }) => id === dan.home || at !== null));
});

test('the own feed holds what others did about one in their organization, not from where', async () => {
  const [fay, gil] = [await team.person('fay@example.test'), await team.person('gil@example.test')];
  await join(fay, gil, 'member');
  await done(fay, 'DELETE', `/orgs/${fay.home}/members/${gil.id}`);
  const feed = await events(gil, '/me/events');
  for (const action of ['invitation.create', 'member.remove']) {
    const { userEmail, ipAddress } = found(feed, action);
    assert.deepEqual([userEmail, ipAddress], [fay.email, ''], action);
  }
  assert.notEqual(found(feed, 'invitation.accept').ipAddress, '');
  const host = await events(fay, '/me/events');
  for (const action of ['invitation.create', 'member.remove']) found(host, action);
});

test('the whole audit log is for operators alone, and an organization that never was is not found', async () => {
  const hal = await team.person('hal@example.test');
  assert.equal((await hal.call('GET', '/superadmin/events')).status, 403);
  assert.equal((await root.call('GET', '/superadmin/events?org=never-was')).status, 404);
});

test('an owner does not delete an organization that is suspended', async () => {
  const ian = await team.person('ian@example.test');
  await done(ian, 'POST', '/orgs', { name: 'Second' });
  await done(root, 'POST', `/superadmin/orgs/${ian.home}/suspend`);
  const refused = await ian.call('DELETE', `/orgs/${ian.home}`);
  assert.deepEqual([refused.status, refused.body['error']], [403, 'forbidden']);
  assert.match(String(refused.body['message']), /suspended/);
  await done(root, 'POST', `/superadmin/orgs/${ian.home}/approve`);
  await done(ian, 'DELETE', `/orgs/${ian.home}`);
});

test('`culvert admin` is named by the user who typed it, and by nothing that breaks a line', async () => {
  const h = await startHarness();
  const names = ['ann', 'DOM\\bob-1@x.y', 'a\u202e\n) \u001b[31m', ' '];
  for (const [i, user] of names.entries()) {
    const operator = await openOperator(h.settings, { version: '1', log: silentLog, command: '', user });
    await operator.call('PATCH', '/superadmin/users/admin@localhost', { name: `Name ${i}` });
    operator.close();
  }
  const { body } = await h.call('GET', '/superadmin/events?action=user.update', { as: h.owner });
  assert.deepEqual((body as unknown as Event[]).map(({ userEmail }) => userEmail).toReversed(), [
    'operator (ann)',
    'operator (DOM\\bob-1@x.y)',
    'operator (a31m)',
    'operator',
  ]);
  await h.close();
});
