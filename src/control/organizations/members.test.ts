/** Members: changes of roles, removal, and what ends with a member. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { eq } from 'drizzle-orm';
import { organizations } from '../db/schema.ts';
import { ROLES, type Role } from '../core/rules/actor.ts';
import { Plane } from '../core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../core/testing/plane-api.ts';
import { type Person, said, Team } from '../core/testing/team.ts';

let plane: Plane;
let api: PlaneApi;
let team: Team;
let ann: Person;
beforeEach(async () => {
  plane = new Plane();
  api = await servePlane(plane);
  team = new Team(plane, api);
  ann = await team.person('ann@example.test');
});
afterEach(async () => {
  await api.close();
  plane.close();
});

const FORBIDDEN = [403, 'forbidden'];
const NOT_FOUND = [404, 'not_found'];
const CONFLICT = [409, 'conflict'];

const setRole = (by: Person, peer: Person, role: string) =>
  by.call('PATCH', `/orgs/${ann.home}/members/${peer.id}`, { role });
const remove = (by: Person, peer: Person) => by.call('DELETE', `/orgs/${ann.home}/members/${peer.id}`);

async function roles(): Promise<Record<string, string>> {
  const { body } = await ann.call('GET', `/orgs/${ann.home}/members`);
  const rows = body as unknown as ReadonlyArray<{ email: string; role: string }>;
  return Object.fromEntries(rows.map(({ email, role }) => [email.split('@')[0] ?? '', role]));
}

test('members: every member sees the list; only admins see missing second factors', async () => {
  const viv = await team.member('viv@example.test', ann, 'viewer');
  const seen = await viv.call('GET', `/orgs/${ann.home}/members`);
  assert.equal(seen.status, 200);
  const joined_at = new Date(plane.now).toISOString();
  assert.deepEqual(seen.body, [
    { user_id: ann.id, email: ann.email, name: '', role: 'owner', joined_at, mfa_enabled: null },
    { user_id: viv.id, email: viv.email, name: '', role: 'viewer', joined_at, mfa_enabled: false },
  ]);
  const { body } = await ann.call('GET', `/orgs/${ann.home}/members`);
  assert.deepEqual(
    body.map((one) => (one as { mfa_enabled: boolean }).mfa_enabled),
    [false, false],
  );
});

test('each role changes exactly the roles that it may, to exactly those that it may', async () => {
  const by: Record<Role, Person> = {
    viewer: await team.member('viewer@example.test', ann, 'viewer'),
    member: await team.member('member@example.test', ann, 'member'),
    admin: await team.member('admin@example.test', ann, 'admin'),
    owner: ann,
  };
  const target = await team.member('target@example.test', ann, 'viewer');
  for (const actor of ROLES) {
    for (const from of ROLES) {
      for (const to of ROLES) {
        assert.equal((await setRole(ann, target, from)).status, 200);
        const mayAct = actor === 'owner' || (actor === 'admin' && from !== 'owner' && to !== 'owner');
        const answer = await setRole(by[actor], target, to);
        assert.deepEqual(said(answer), mayAct ? [200] : FORBIDDEN, `${actor}: ${from} to ${to}`);
        assert.equal((await roles())['target'], mayAct ? to : from);
      }
    }
  }
  for (const actor of ROLES) {
    for (const from of ROLES) {
      const peer = await team.member(`t-${actor}-${from}@example.test`, ann, from);
      const mayAct = actor === 'owner' || (actor === 'admin' && from !== 'owner');
      assert.deepEqual(said(await remove(by[actor], peer)), mayAct ? [200] : FORBIDDEN, `${actor} removes ${from}`);
    }
  }
});

test('members: an own role can be lowered, never raised', async () => {
  for (const role of ['viewer', 'member', 'admin'] as const) {
    const person = await team.member(`${role}@example.test`, ann, role);
    for (const to of ROLES.slice(ROLES.indexOf(role) + 1)) {
      assert.deepEqual(said(await setRole(person, person, to)), FORBIDDEN, `${role} to ${to}`);
    }
    assert.equal((await roles())[role], role);
  }
  const admin = await team.member('lower@example.test', ann, 'admin');
  assert.equal((await setRole(admin, admin, 'member')).status, 200);
  assert.deepEqual(said(await setRole(admin, admin, 'admin')), FORBIDDEN);
});

test('a role that there is none of is 400, and other fields of the body change nothing', async () => {
  const bob = await team.member('bob@example.test', ann, 'member');
  for (const role of ['root', '', 'Owner', 3, null, ['owner']]) {
    const answer = await ann.call('PATCH', `/orgs/${ann.home}/members/${bob.id}`, { role });
    assert.deepEqual(said(answer), [400, 'invalid_request'], String(role));
  }
  const body = { role: 'viewer', user_id: ann.id, email: 'x@example.test', is_superadmin: true };
  const changed = await ann.call('PATCH', `/orgs/${ann.home}/members/${bob.id}`, body);
  assert.deepEqual(
    [changed.body['user_id'], changed.body['email'], changed.body['role']],
    [bob.id, bob.email, 'viewer'],
  );
  assert.deepEqual(await roles(), { ann: 'owner', bob: 'viewer' });
});

test('a person who is no member is 404, also when they exist', async () => {
  const eve = await team.person('eve@example.test');
  for (const id of [eve.id, '00000000-0000-7000-8000-000000000000', 'x', ann.home]) {
    const path = `/orgs/${ann.home}/members/${id}`;
    assert.deepEqual(said(await ann.call('PATCH', path, { role: 'member' })), NOT_FOUND, id);
    assert.deepEqual(said(await ann.call('DELETE', path)), NOT_FOUND, id);
  }
});

test('a new role counts from the very next request on, with the same access token', async () => {
  const bob = await team.member('bob@example.test', ann, 'member');
  const as = await team.acting(bob, ann.home);
  const open = () => api.call('POST', '/tunnels', { as, body: { localPort: 1 } });
  assert.equal((await open()).status, 201);
  await setRole(ann, bob, 'viewer');
  assert.deepEqual(said(await open()), FORBIDDEN);
  await setRole(ann, bob, 'member');
  assert.equal((await open()).status, 201);
  await remove(ann, bob);
  assert.deepEqual(said(await open()), [401, 'unauthorized']);
});

test('the last owner can neither leave nor be demoted nor be removed', async () => {
  const admin = await team.member('admin@example.test', ann, 'admin');
  assert.deepEqual(said(await setRole(ann, ann, 'admin')), CONFLICT);
  assert.deepEqual(said(await remove(ann, ann)), CONFLICT);
  assert.deepEqual(said(await remove(admin, ann)), FORBIDDEN);
  assert.deepEqual(said(await setRole(ann, ann, 'owner')), [200], 'what is so already');
  await setRole(ann, admin, 'owner');
  assert.equal((await remove(ann, ann)).status, 200);
  assert.deepEqual(said(await remove(admin, admin)), CONFLICT);
});

test('of owners who go at the same moment, one stays', async () => {
  for (const [round, operation] of (
    ['demote each other', 'demote themselves', 'leave', 'remove each other'] as const
  ).entries()) {
    const owners = [await team.person(`a${round}@example.test`), await team.person(`b${round}@example.test`)] as const;
    const org = String((await ann.call('POST', '/orgs', { name: operation })).body['id']);
    for (const person of owners) await team.join(person, { id: org, by: ann, role: 'owner' });
    assert.equal((await ann.call('DELETE', `/orgs/${org}/members/${ann.id}`)).status, 200);
    const answers = await Promise.all(
      owners.map((me, i) => {
        const other = owners[1 - i] ?? me;
        if (operation === 'leave') return me.call('DELETE', `/orgs/${org}/members/${me.id}`);
        if (operation === 'remove each other') return me.call('DELETE', `/orgs/${org}/members/${other.id}`);
        const peer = operation === 'demote each other' ? other : me;
        return me.call('PATCH', `/orgs/${org}/members/${peer.id}`, { role: 'member' });
      }),
    );
    const statuses = answers.map(({ status }) => status).sort();
    // The second caller is no owner any more, or no member, or the last one.
    assert.equal(statuses[0], 200, operation);
    assert.ok([403, 404, 409].includes(statuses[1] ?? 0), `${operation}: ${statuses}`);
    const left = plane.control.store.db.query.memberships.findMany().sync();
    assert.equal(left.filter(({ orgId, role }) => orgId === org && role === 'owner').length, 1, operation);
  }
});

test('members: all but the last owner may leave, and go on in an organization of their own', async () => {
  for (const role of ['viewer', 'member', 'admin'] as const) {
    const person = await team.member(`${role}@example.test`, ann, role);
    const as = await team.acting(person, ann.home);
    const left = await api.call('DELETE', `/orgs/${ann.home}/members/${person.id}`, { as });
    assert.deepEqual([left.status, left.body], [200, { success: true, revoked_tokens: 0 }]);
    assert.equal((await api.call('GET', '/auth/me', { as })).status, 401, 'that token was for the organization');
    const me = await person.call('GET', '/auth/me');
    assert.equal((me.body['active_org'] as { id: string }).id, person.home);
    const session = plane.control.store.db.query.sessions
      .findMany()
      .sync()
      .find(({ userId }) => userId === person.id);
    assert.deepEqual([session?.orgId, session?.revokedAt], [person.home, null]);
  }
  assert.deepEqual(await roles(), { ann: 'owner' });
});

test('with a member go the tokens that they made there, and the agents of those; tunnels stay', async () => {
  const bob = await team.member('bob@example.test', ann, 'member');
  const as = await team.acting(bob, ann.home);
  const mint = async (token: string) => (await api.call('POST', '/tokens', { as: token, body: {} })).body;
  const made = [await mint(as), await mint(as)];
  const elsewhere = await mint(bob.token);
  const annsOwn = await mint(ann.token);
  const tunnel = (await api.call('POST', '/tunnels', { as, body: { localPort: 1 } })).body['id'];
  const from = plane.deltas.length;

  const removed = await remove(ann, bob);
  assert.deepEqual([removed.status, removed.body], [200, { success: true, revoked_tokens: 2 }]);

  const cut = plane.deltas.slice(from).map((delta) => (delta.kind === 'revoke_token' ? delta.tokenId : delta.kind));
  assert.deepEqual(cut.sort(), made.map((token) => String(token['id'])).sort());
  const admitted = async (token: Record<string, unknown>) =>
    (await plane.control.link.admit(String(token['apiKey']))).ok;
  assert.deepEqual(await Promise.all([...made, elsewhere, annsOwn].map(admitted)), [false, false, true, true]);
  assert.equal((await ann.call('GET', `/tunnels/${String(tunnel)}`)).status, 200);
  const auditLog = (await ann.call('GET', '/events')).body as unknown as ReadonlyArray<Record<string, string>>;
  assert.deepEqual(
    auditLog.slice(0, 3).map(({ action, resourceId, userEmail }) => [action, resourceId, userEmail]),
    [
      ['member.remove', bob.id, ann.email],
      ...made.map((token) => ['token.revoke', token['nonce'], ann.email]).reverse(),
    ],
  );
});

test('members: a member who becomes a viewer loses the tokens that they made there; any other role keeps them', async () => {
  const bob = await team.member('bob@example.test', ann, 'admin');
  const as = await team.acting(bob, ann.home);
  const mint = async (token: string) => (await api.call('POST', '/tokens', { as: token, body: {} })).body;
  const made = [await mint(as), await mint(as)];
  const others = [await mint(bob.token), await mint(ann.token)];
  const admitted = (tokens: ReadonlyArray<Record<string, unknown>>) =>
    Promise.all(tokens.map(async (token) => (await plane.control.link.admit(String(token['apiKey']))).ok));

  const member = await setRole(ann, bob, 'member');
  assert.deepEqual([member.body['role'], member.body['revoked_tokens']], ['member', 0]);
  assert.deepEqual(await admitted(made), [true, true]);

  const from = plane.deltas.length;
  const viewer = await setRole(ann, bob, 'viewer');
  assert.deepEqual([viewer.body['role'], viewer.body['revoked_tokens']], ['viewer', 2]);
  assert.deepEqual(await admitted(made), [false, false]);
  assert.deepEqual(await admitted(others), [true, true]);
  const cut = plane.deltas.slice(from).map((delta) => (delta.kind === 'revoke_token' ? delta.tokenId : delta.kind));
  assert.deepEqual(cut.sort(), made.map((token) => String(token['id'])).sort());
  assert.equal((await setRole(ann, bob, 'viewer')).body['revoked_tokens'], 0, 'what is so already');
});

test('while an organization is suspended its owners stay owners; others may leave', async () => {
  const eve = await team.member('eve@example.test', ann, 'owner');
  const bob = await team.member('bob@example.test', ann, 'admin');
  const { db } = plane.control.store;
  const setApproval = (approvalStatus: 'approved' | 'suspended') =>
    db.update(organizations).set({ approvalStatus }).where(eq(organizations.id, ann.home)).run();
  setApproval('suspended');
  assert.deepEqual(said(await setRole(eve, eve, 'member')), FORBIDDEN);
  assert.deepEqual(said(await setRole(ann, eve, 'viewer')), FORBIDDEN);
  assert.deepEqual(said(await remove(ann, eve)), FORBIDDEN);
  const left = await remove(eve, eve);
  assert.deepEqual(said(left), FORBIDDEN);
  assert.match(String(left.body['message']), /suspended/);
  assert.equal((await eve.call('POST', '/orgs', { name: 'again' })).body['approval_status'], 'pending');
  assert.equal((await remove(bob, bob)).status, 200);
  setApproval('approved');
  assert.equal((await remove(eve, eve)).status, 200);
});

test('members: a command line that was authorized and has not come back yet gets nothing once its approver is gone', async () => {
  const bob = await team.member('bob@example.test', ann, 'member');
  const as = await team.acting(bob, ann.home);
  const device_code = Buffer.alloc(32, 7).toString('base64url');
  const approved = await api.call('POST', '/auth/cli/authorize', { as, body: { device_code } });
  assert.equal(approved.status, 200, approved.text);
  await remove(ann, bob);
  const fetched = await api.call('POST', '/auth/cli/token', { body: { device_code } });
  assert.deepEqual(said(fetched), [400, 'authorization_pending']);
});

test('members: losing the permission to invite ends the own invitations', async () => {
  const admin = await team.member('admin@example.test', ann, 'owner');
  for (const role of ROLES) {
    const body = { email: `new-${role}@example.test`, role };
    assert.equal((await admin.call('POST', `/orgs/${ann.home}/invitations`, body)).status, 201);
  }
  await ann.call('POST', `/orgs/${ann.home}/invitations`, { email: 'kept@example.test', role: 'owner' });
  const open = async () => {
    const { body } = await ann.call('GET', `/orgs/${ann.home}/invitations`);
    return body.map((one) => (one as { email: string }).email.split('@')[0]).sort();
  };
  await setRole(ann, admin, 'admin');
  assert.deepEqual(await open(), ['kept', 'new-admin', 'new-member', 'new-viewer']);
  await setRole(ann, admin, 'member');
  assert.deepEqual(await open(), ['kept']);

  await setRole(ann, admin, 'admin');
  await admin.call('POST', `/orgs/${ann.home}/invitations`, { email: 'backdoor@example.test', role: 'admin' });
  await remove(ann, admin);
  assert.deepEqual(await open(), ['kept']);
  const again = await team.person('backdoor@example.test');
  const token = team.inviteToken('backdoor@example.test');
  assert.deepEqual(said(await again.call('POST', '/orgs/invitations/accept', { token })), NOT_FOUND);
});
