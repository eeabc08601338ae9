/** Organizations: create, read, rename and delete, permissions, and what goes with them. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { eq } from 'drizzle-orm';
import { organizations } from '../db/schema.ts';
import { Plane, VISIT } from '../core/testing/plane.ts';
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

test('a new organization starts as the settings say, with its maker as owner, and is not active until they switch', async () => {
  const made = await ann.call('POST', '/orgs', {
    name: ' Böse & Söhne ',
    plan: 'enterprise',
    approval_status: 'x',
    id: 1,
  });
  assert.equal(made.status, 201, made.text);
  const { id, created_at: createdAt, ...rest } = made.body;
  assert.match(String(id), /^[0-9a-f-]{36}$/);
  assert.equal(Date.parse(String(createdAt)), plane.now);
  const slug = 'b-se-s-hne';
  const expected = { name: 'Böse & Söhne', slug, role: 'owner', plan: 'free', approval_status: 'approved' };
  assert.deepEqual(rest, expected);
  assert.deepEqual((await ann.call('GET', `/orgs/${String(id)}`)).body, made.body);
  const mine = await ann.call('GET', '/orgs');
  assert.deepEqual(
    mine.body.map((org) => (org as { id: string }).id),
    [ann.home, id],
  );
  const me = await ann.call('GET', '/auth/me');
  assert.equal((me.body['active_org'] as { id: string }).id, ann.home);
  // It works: its default project is there, and what is made in it stays in it.
  const as = await team.acting(ann, String(id));
  assert.equal((await api.call('POST', '/tunnels', { as, body: { localPort: 1 } })).status, 201);
  assert.deepEqual((await ann.call('GET', '/tunnels')).text, '[]');
});

test('a name is one line of 1 to 100 characters, and two organizations may share it', async () => {
  for (const [name, status] of [
    ['', 400],
    ['   ', 400],
    [undefined, 400],
    [7, 400],
    ['a\nb', 400],
    ['n'.repeat(101), 400],
    ['n'.repeat(100), 201],
    ['n'.repeat(100), 201],
  ] as const) {
    assert.equal((await ann.call('POST', '/orgs', { name })).status, status, String(name));
  }
  const slugs = (await ann.call('GET', '/orgs')).body.map((org) => (org as { slug: string }).slug);
  assert.equal(new Set(slugs).size, slugs.length);
});

test('organizations: a user owns at most 20, also with 30 requests at once', async () => {
  const answers = await Promise.all(Array.from({ length: 30 }, (_, i) => ann.call('POST', '/orgs', { name: `o${i}` })));
  assert.equal(answers.filter(({ status }) => status === 201).length, 19);
  assert.deepEqual(
    [...new Set(answers.filter(({ status }) => status !== 201).map((one) => said(one).join(' ')))],
    ['409 conflict'],
  );
  const [, second] = (await ann.call('GET', '/orgs')).body as ReadonlyArray<{ id: string }>;
  assert.equal((await ann.call('DELETE', `/orgs/${second?.id}`)).status, 200);
  assert.equal((await ann.call('POST', '/orgs', { name: 'room again' })).status, 201);
});

test('organizations: a user creates at most 40 in a day, also when each is deleted', async () => {
  const made = async () => {
    const answer = await ann.call('POST', '/orgs', { name: 'o' });
    return { answer, path: `/orgs/${String(answer.body['id'])}` };
  };
  for (let i = 0; i < 40; i++) {
    const { answer, path } = await made();
    assert.equal(answer.status, 201, String(i));
    assert.equal((await ann.call('DELETE', path)).status, 200);
    if (i === 0) plane.now += 60_000;
  }
  const refused = (await made()).answer;
  assert.deepEqual(said(refused), [429, 'rate_limited']);
  assert.equal(refused.body['retry_after_seconds'], 24 * 3600 - 60);
  const eve = await team.person('eve@example.test');
  assert.equal((await eve.call('POST', '/orgs', { name: 'hers' })).status, 201);
  const actor = { ...(await plane.person('clock@example.test')), userId: ann.id };
  const make = () => plane.control.organizations.create(actor, 'next day');
  plane.now += (24 * 3600 - 60) * 1000 - 1;
  assert.throws(make, { code: 'rate_limited', retryAfterSeconds: 1 });
  plane.now += 1;
  make();
  assert.throws(make, { code: 'rate_limited' });
});

test('organizations: one created at login beside a suspended one waits for approval', async () => {
  const { db } = plane.control.store;
  const gone = (person: Person, approvalStatus: 'approved' | 'suspended') =>
    db
      .update(organizations)
      .set({ approvalStatus, deletedAt: plane.now })
      .where(eq(organizations.id, person.home))
      .run();
  const bob = await team.person('bob@example.test');
  gone(ann, 'suspended');
  gone(bob, 'approved');
  const home = async (person: Person) => {
    const { status, body } = await api.call('POST', '/auth/login', {
      body: { email: person.email, password: person.password },
    });
    assert.equal(status, 200);
    return (body['active_org'] as { approval_status: string }).approval_status;
  };
  assert.deepEqual([await home(ann), await home(bob)], ['pending', 'approved']);
});

test('organizations: one that is pending or suspended stops and deletes tunnels, and starts none', async () => {
  const { db } = plane.control.store;
  const tunnel = `/tunnels/${String((await ann.call('POST', '/tunnels', { localPort: 1 })).body['id'])}`;
  for (const approvalStatus of ['pending', 'suspended'] as const) {
    db.update(organizations).set({ approvalStatus }).where(eq(organizations.id, ann.home)).run();
    assert.equal((await ann.call('POST', `${tunnel}/stop`)).status, 200, approvalStatus);
    assert.deepEqual(said(await ann.call('POST', `${tunnel}/start`)), FORBIDDEN, approvalStatus);
  }
  assert.equal((await ann.call('DELETE', tunnel)).status, 200);
});

test('organizations: a suspension also holds for a new one of the owner', async () => {
  const { db } = plane.control.store;
  db.update(organizations).set({ approvalStatus: 'suspended' }).where(eq(organizations.id, ann.home)).run();
  const second = await ann.call('POST', '/orgs', { name: 'second' });
  assert.deepEqual([second.status, second.body['approval_status']], [201, 'pending']);
  assert.deepEqual(said(await ann.call('DELETE', `/orgs/${ann.home}`)), FORBIDDEN);
  // As an earlier version let her delete it.
  db.update(organizations).set({ deletedAt: plane.now }).where(eq(organizations.id, ann.home)).run();
  const as = (await plane.control.sessions.login(ann, VISIT)) as { accessToken: string };
  const third = await api.call('POST', '/orgs', { as: as.accessToken, body: { name: 'third' } });
  assert.deepEqual([third.status, third.body['approval_status']], [201, 'pending']);
  const eve = await team.person('eve@example.test');
  assert.equal((await eve.call('POST', '/orgs', { name: 'hers' })).body['approval_status'], 'approved');
});

test('an organization that one is not in does not exist, whatever one does to it', async () => {
  const eve = await team.person('eve@example.test');
  for (const id of [ann.home, '00000000-0000-7000-8000-000000000000', 'x', '%20', "'--", 'invitations']) {
    for (const [method, path, body] of [
      ['GET', ''],
      ['PATCH', '', { name: 'mine now' }],
      ['DELETE', ''],
      ['GET', '/members'],
      ['PATCH', `/members/${ann.id}`, { role: 'viewer' }],
      ['PATCH', `/members/${eve.id}`, { role: 'owner' }],
      ['DELETE', `/members/${ann.id}`],
      ['DELETE', `/members/${eve.id}`],
      ['GET', '/invitations'],
      ['POST', '/invitations', { email: 'eve2@example.test', role: 'owner' }],
    ] as const) {
      assert.deepEqual(said(await eve.call(method, `/orgs/${id}${path}`, body)), NOT_FOUND, `${method} ${id}${path}`);
    }
  }
});

test('the role in the organization that is named counts, not the one in the active organization', async () => {
  const viewer = await team.member('viv@example.test', ann, 'viewer');
  // In their own organization, the active one, they are an owner.
  assert.equal((await viewer.call('PATCH', `/orgs/${viewer.home}`, { name: 'Viv' })).status, 200);
  assert.deepEqual(said(await viewer.call('PATCH', `/orgs/${ann.home}`, { name: 'Viv' })), FORBIDDEN);
  assert.deepEqual(said(await viewer.call('DELETE', `/orgs/${ann.home}`)), FORBIDDEN);
  assert.equal((await viewer.call('GET', `/orgs/${ann.home}`)).body['role'], 'viewer');
  // And the other way round: acting for the organization in which they read, they still own the other.
  const as = await team.acting(viewer, ann.home);
  assert.equal((await api.call('PATCH', `/orgs/${viewer.home}`, { as, body: { name: 'V' } })).status, 200);
  assert.equal((await api.call('POST', '/orgs', { as, body: { name: 'another' } })).status, 201);
});

test('admins rename and members do not; a rename changes the name and nothing else', async () => {
  const admin = await team.member('adm@example.test', ann, 'admin');
  const member = await team.member('mem@example.test', ann, 'member');
  const before = (await ann.call('GET', `/orgs/${ann.home}`)).body;
  assert.deepEqual(said(await member.call('PATCH', `/orgs/${ann.home}`, { name: 'x' })), FORBIDDEN);
  const body = { name: 'Acme', slug: 'taken', plan: 'free', approval_status: 'suspended', role: 'owner', id: 'x' };
  const renamed = await admin.call('PATCH', `/orgs/${ann.home}`, body);
  assert.deepEqual([renamed.status, renamed.body['name'], renamed.body['role']], [200, 'Acme', 'admin']);
  assert.deepEqual((await ann.call('GET', `/orgs/${ann.home}`)).body, {
    ...(before as Record<string, unknown>),
    name: 'Acme',
  });
  assert.deepEqual(said(await admin.call('DELETE', `/orgs/${ann.home}`)), FORBIDDEN);
  assert.equal((await admin.call('PATCH', `/orgs/${ann.home}`, {})).status, 400);
});

test('with an organization go its tokens, tunnels, names, invitations and the sessions that were in it', async () => {
  const bob = await team.member('bob@example.test', ann, 'member');
  const bobThere = await team.acting(bob, ann.home);
  const token = (await ann.call('POST', '/tokens', { name: 'ci' })).body;
  const tunnel = (await ann.call('POST', '/tunnels', { localPort: 1, subdomain: 'shop' })).body;
  await ann.call('POST', `/orgs/${ann.home}/invitations`, { email: 'new@example.test', role: 'member' });
  const invitee = await team.person('new@example.test');
  const other = await ann.call('POST', '/orgs', { name: 'Other' });
  const from = plane.deltas.length;

  const gone = await ann.call('DELETE', `/orgs/${ann.home}`);
  assert.deepEqual([gone.status, gone.body], [200, { success: true, revoked_tokens: 1, deleted_tunnels: 1 }]);

  const told = plane.deltas
    .slice(from)
    .map((delta) => [
      delta.kind,
      delta.kind === 'remove' ? delta.tunnelId : delta.kind === 'revoke_token' ? delta.tokenId : '',
    ]);
  // In this order: agents hear that their token is no more, not that a tunnel was deleted.
  assert.deepEqual(told, [
    ['revoke_token', token['id']],
    ['remove', tunnel['id']],
  ]);
  const presented = await plane.control.link.admit(String(token['apiKey']));
  assert.equal(presented.ok, false);
  const { routes } = await plane.control.link.snapshot();
  assert.deepEqual(routes, []);
  // Its names rest.
  const taken = await invitee.call('POST', '/tunnels', { localPort: 1, subdomain: 'shop' });
  assert.deepEqual(said(taken), [409, 'duplicate_name']);
  assert.deepEqual(
    said(await invitee.call('POST', '/orgs/invitations/accept', { token: team.inviteToken('new@example.test') })),
    NOT_FOUND,
  );
  // Access tokens that name it are worth nothing; the sessions go on elsewhere.
  for (const as of [ann.token, bobThere]) assert.equal((await api.call('GET', '/auth/me', { as })).status, 401);
  const { store } = plane.control;
  const rows = store.db.query.sessions.findMany().sync();
  const live = new Map(rows.filter(({ revokedAt }) => revokedAt === null).map(({ userId, orgId }) => [userId, orgId]));
  assert.equal(live.get(ann.id), other.body['id']);
  assert.equal(live.get(bob.id), bob.home);
  for (const path of ['', '/members', '/invitations']) {
    assert.deepEqual(said(await bob.call('GET', `/orgs/${ann.home}${path}`)), NOT_FOUND, path);
  }
  const open = store.db.query.invitations.findMany().sync();
  assert.deepEqual(
    open.filter(({ acceptedAt, revokedAt }) => acceptedAt === null && revokedAt === null),
    [],
  );
  assert.equal((await bob.call('POST', '/auth/switch-org', { org_id: ann.home })).status, 404);
});

test('the only organization of its owner stays; two that are deleted at once leave one', async () => {
  assert.deepEqual(said(await ann.call('DELETE', `/orgs/${ann.home}`)), CONFLICT);
  const other = String((await ann.call('POST', '/orgs', { name: 'Other' })).body['id']);
  const answers = await Promise.all([ann.home, other].map((id) => ann.call('DELETE', `/orgs/${id}`)));
  const statuses = answers.map(({ status }) => status).sort();
  // The second finds its organization the only one, or its session's gone.
  assert.equal(statuses[0], 200);
  assert.ok([401, 409].includes(statuses[1] ?? 0), String(statuses));
  const left = plane.control.store.db.query.organizations.findMany().sync();
  assert.equal(left.filter(({ deletedAt }) => deletedAt === null).length, 1);
});

test('organizations: every action is in the audit log', async () => {
  await ann.call('PATCH', `/orgs/${ann.home}`, { name: 'Acme' });
  const made = await ann.call('POST', '/orgs', { name: 'Other' });
  const as = await team.acting(ann, String(made.body['id']));
  const auditLog = async (token: string) =>
    (await api.call('GET', '/events', { as: token })).body.map((one) => {
      const event = one as Record<string, string>;
      return [event['action'], event['resourceType'], event['resourceId'], event['userEmail']];
    });
  assert.deepEqual((await auditLog(as))[0], ['org.create', 'organization', made.body['id'], ann.email]);
  assert.ok((await auditLog(ann.token)).some(([action, , id]) => action === 'org.update' && id === ann.home));
});
