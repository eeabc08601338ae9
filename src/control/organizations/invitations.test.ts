/** Invitations: senders, the email's link, and the invited user. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { eq } from 'drizzle-orm';
import { memberships, organizations, users } from '../db/schema.ts';
import { ROLES } from '../core/rules/actor.ts';
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

const DAY = 24 * 3600 * 1000;
const FORBIDDEN = [403, 'forbidden'];
const NOT_FOUND = [404, 'not_found'];
const CONFLICT = [409, 'conflict'];
const LIMITED = [429, 'rate_limited'];

const invite = (by: Person, email: string, role = 'member') =>
  by.call('POST', `/orgs/${ann.home}/invitations`, { email, role });
const accept = (by: Person, token: string) => by.call('POST', '/orgs/invitations/accept', { token });
const open = async (): Promise<ReadonlyArray<Record<string, string>>> =>
  (await ann.call('GET', `/orgs/${ann.home}/invitations`)).body as never;

test('invitations: the token is in the link of the email and nowhere else', async () => {
  const made = await invite(ann, 'Bob@Example.test', 'admin');
  assert.equal(made.status, 201, made.text);
  const { id, ...rest } = made.body;
  assert.match(String(id), /^[0-9a-f-]{36}$/);
  assert.deepEqual(rest, {
    email: 'Bob@Example.test',
    role: 'admin',
    invited_by: ann.email,
    created_at: new Date(plane.now).toISOString(),
    expires_at: new Date(plane.now + 7 * DAY).toISOString(),
  });
  const [mail] = team.emails();
  assert.ok(mail?.kind === 'invitation');
  assert.deepEqual(
    [mail.to, mail.organization, mail.inviter, mail.role],
    ['Bob@Example.test', 'ann', ann.email, 'admin'],
  );
  assert.match(mail.token, /^[\w-]{43}$/);
  const list = await ann.call('GET', `/orgs/${ann.home}/invitations`);
  assert.deepEqual(list.body, [made.body]);
  const stored = JSON.stringify(plane.control.store.db.query.invitations.findMany().sync());
  for (const text of [made.text, list.text, stored]) assert.ok(!text.includes(mail.token));
});

test('invitations: the owner of the address accepts, once, with the role of the invitation', async () => {
  const bob = await team.person('bob@example.test');
  await invite(ann, 'BOB@example.test', 'viewer');
  const body = { token: team.inviteToken('BOB@example.test'), role: 'owner', org_id: bob.home };
  const joined = await bob.call('POST', '/orgs/invitations/accept', body);
  assert.deepEqual([joined.status, joined.body['id'], joined.body['role']], [200, ann.home, 'viewer']);
  assert.deepEqual(await open(), []);
  assert.deepEqual(said(await accept(bob, body.token)), CONFLICT, 'a second click');
  const me = await bob.call('GET', '/auth/me');
  assert.equal((me.body['active_org'] as { id: string }).id, bob.home, 'until they switch');
  const as = await team.acting(bob, ann.home);
  assert.equal((await api.call('GET', '/tunnels', { as })).status, 200);
  const [event] = (await ann.call('GET', '/events?action=invitation.accept')).body as never as [Record<string, string>];
  assert.deepEqual([event['userEmail'], event['resourceType']], [bob.email, 'invitation']);
  // Removed, they don't come back with the same email.
  await ann.call('DELETE', `/orgs/${ann.home}/members/${bob.id}`);
  assert.deepEqual(said(await accept(bob, body.token)), NOT_FOUND);
});

test('of 20 uses at once exactly one joins', async () => {
  const bob = await team.person('bob@example.test');
  await invite(ann, bob.email);
  const token = team.inviteToken(bob.email);
  const answers = await Promise.all(Array.from({ length: 20 }, () => accept(bob, token)));
  assert.equal(answers.filter(({ status }) => status === 200).length, 1);
  assert.equal(answers.filter(({ status }) => status === 409).length, 19);
});

test('another account may not accept, also with the link; nor one that has not proven the address', async () => {
  await invite(ann, 'bob@example.test');
  const token = team.inviteToken('bob@example.test');
  const eve = await team.person('eve@example.test');
  assert.deepEqual(said(await accept(eve, token)), FORBIDDEN);
  const bob = await team.person('bob@example.test');
  const { db } = plane.control.store;
  db.update(users).set({ emailVerifiedAt: null }).where(eq(users.id, bob.id)).run();
  assert.deepEqual(said(await accept(bob, token)), FORBIDDEN);
  db.update(users).set({ emailVerifiedAt: plane.now }).where(eq(users.id, bob.id)).run();
  assert.equal((await accept(bob, token)).status, 200, 'the tries of others did not use it up');
  assert.deepEqual(said(await accept(eve, token)), NOT_FOUND, 'a used one says nothing about itself');
});

test('invitations: a user without an account signs up with the address and then accepts', async () => {
  await invite(ann, 'new@example.test');
  const token = team.inviteToken('new@example.test');
  const password = 'correct horse battery staple';
  const signUp = await api.call('POST', '/auth/signup', { body: { email: 'new@example.test', password } });
  assert.equal(signUp.status, 201);
  const code = await eventually(() => {
    const mail = team.emails().find((one) => one.kind === 'verify_email');
    return mail?.kind === 'verify_email' ? mail.code : undefined;
  });
  await api.call('POST', '/auth/verify-email-otp', { body: { email: 'new@example.test', code } });
  const login = await api.call('POST', '/auth/login', { body: { email: 'new@example.test', password } });
  const as = String(login.body['access_token']);
  assert.equal((await api.call('POST', '/orgs/invitations/accept', { as, body: { token } })).status, 200);
});

/** What is written after an answer has left comes a moment after it. */
async function eventually<T>(read: () => T | undefined): Promise<T> {
  for (let turn = 0; turn < 1000; turn++) {
    const value = read();
    if (value !== undefined) return value;
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error('it did not come');
}

test('a token that never was, was revoked, was replaced or has run out is the same 404', async () => {
  const bob = await team.person('bob@example.test');
  for (const token of ['x', 'A'.repeat(43), '%', 'a'.repeat(128)]) {
    assert.deepEqual(said(await accept(bob, token)), NOT_FOUND, token);
  }
  for (const body of [{}, { token: '' }, { token: 7 }, { token: 'a'.repeat(129) }]) {
    const answer = await bob.call('POST', '/orgs/invitations/accept', body);
    assert.deepEqual(said(answer), [400, 'invalid_request']);
  }
  const revoked = String((await invite(ann, bob.email)).body['id']);
  const first = team.inviteToken(bob.email);
  assert.equal((await ann.call('DELETE', `/orgs/${ann.home}/invitations/${revoked}`)).status, 200);
  assert.deepEqual(said(await ann.call('DELETE', `/orgs/${ann.home}/invitations/${revoked}`)), NOT_FOUND);
  assert.deepEqual(said(await accept(bob, first)), NOT_FOUND);

  await invite(ann, bob.email, 'viewer');
  const replaced = team.inviteToken(bob.email);
  plane.now += 1000;
  await invite(ann, bob.email.toUpperCase(), 'admin');
  const last = team.inviteToken(bob.email.toUpperCase());
  assert.deepEqual(said(await accept(bob, replaced)), NOT_FOUND);
  assert.deepEqual(
    (await open()).map(({ role }) => role),
    ['admin'],
  );

  const { invitations } = plane.control;
  const actor = { ...(await plane.person('clock@example.test')), userId: bob.id };
  plane.now += 7 * DAY - 1;
  const late = () => invitations.accept(actor, last);
  plane.now += 1;
  assert.throws(late, { code: 'not_found' });
  plane.now -= 1;
  assert.equal(late().role, 'admin');
});

test('an invitation that has run out is no longer shown, and gives way to a new one', async () => {
  await invite(ann, 'bob@example.test');
  const { invitations } = plane.control;
  const actor = { ...(await plane.person('clock@example.test')), userId: ann.id };
  plane.now += 8 * DAY;
  assert.deepEqual(invitations.list(actor, ann.home), []);
  invitations.create(actor, ann.home, { email: 'bob@example.test', role: 'member' });
  assert.equal(invitations.list(actor, ann.home).length, 1);
});

test('each role invites up to itself and from admin on; only owners touch an invitation to be owner', async () => {
  const people = {
    viewer: await team.member('viewer@example.test', ann, 'viewer'),
    member: await team.member('member@example.test', ann, 'member'),
    admin: await team.member('admin@example.test', ann, 'admin'),
    owner: ann,
  };
  for (const by of ROLES) {
    for (const role of ROLES) {
      const mayInvite = by === 'owner' || (by === 'admin' && role !== 'owner');
      const answer = await invite(people[by], `${by}-${role}@example.test`, role);
      assert.deepEqual(said(answer), mayInvite ? [201] : FORBIDDEN, `${by} invites ${role}`);
    }
  }
  const all = await open();
  const idOf = (email: string) => all.find((one) => one['email'] === email)?.['id'];
  const ownersPath = `/orgs/${ann.home}/invitations/${idOf('owner-owner@example.test')}`;
  for (const by of ['viewer', 'member', 'admin'] as const) {
    assert.deepEqual(said(await people[by].call('DELETE', ownersPath)), FORBIDDEN, by);
  }
  assert.deepEqual(said(await invite(people.admin, 'owner-owner@example.test', 'viewer')), FORBIDDEN);
  const adminsPath = `/orgs/${ann.home}/invitations/${idOf('admin-admin@example.test')}`;
  assert.deepEqual(said(await people.member.call('DELETE', adminsPath)), FORBIDDEN);
  assert.equal((await people.admin.call('DELETE', adminsPath)).status, 200);
  assert.equal((await ann.call('DELETE', ownersPath)).status, 200);
  assert.equal((await people.viewer.call('GET', `/orgs/${ann.home}/invitations`)).status, 200);
});

test('an invitation is revoked in its own organization alone', async () => {
  const eve = await team.person('eve@example.test');
  const id = String((await invite(ann, 'bob@example.test')).body['id']);
  assert.deepEqual(said(await eve.call('DELETE', `/orgs/${ann.home}/invitations/${id}`)), NOT_FOUND);
  assert.deepEqual(said(await eve.call('DELETE', `/orgs/${eve.home}/invitations/${id}`)), NOT_FOUND);
  assert.deepEqual(said(await ann.call('DELETE', `/orgs/${ann.home}/invitations/x`)), NOT_FOUND);
  assert.equal((await open()).length, 1);
});

test('a member is not invited again; who has an account is no business of the inviter', async () => {
  const bob = await team.member('bob@example.test', ann, 'viewer');
  assert.deepEqual(said(await invite(ann, bob.email.toUpperCase(), 'admin')), CONFLICT);
  await team.person('known@example.test');
  const [known, unknown] = [await invite(ann, 'known@example.test'), await invite(ann, 'absent@example.test')];
  assert.deepEqual([known.status, Object.keys(known.body)], [unknown.status, Object.keys(unknown.body)]);
});

test('what is no address or no role is 400', async () => {
  for (const [email, role] of [
    ['', 'member'],
    ['bob', 'member'],
    ['bob@example.test\r\nBcc: x@example.test', 'member'],
    ['Bob <bob@example.test>', 'member'],
    ['a@example.test,b@example.test', 'member'],
    ['bob@example.test', 'root'],
    ['bob@example.test', ''],
  ] as const) {
    assert.deepEqual(said(await invite(ann, email, role)), [400, 'invalid_request'], `${email} ${role}`);
  }
  assert.deepEqual(team.emails(), []);
});

/** A new organization of the person, and their invitations to it. */
async function another(by: Person): Promise<{ readonly path: string; invite(email: string): Promise<unknown[]> }> {
  const made = await by.call('POST', '/orgs', { name: 'another' });
  assert.equal(made.status, 201, made.text);
  const path = `/orgs/${String(made.body['id'])}`;
  const invite = async (email: string) => said(await by.call('POST', `${path}/invitations`, { email, role: 'member' }));
  return { path, invite };
}

test('invitations: more organizations allow no more emails, also when each is deleted', async () => {
  const sent: number[] = [];
  for (let round = 0; round < 5; round++) {
    const org = await another(ann);
    for (let i = 0; i < 50; i++) sent.push(Number((await org.invite(`r${round}-${i}@example.test`))[0]));
    assert.equal((await ann.call('DELETE', org.path)).status, 200);
  }
  assert.deepEqual([sent.indexOf(429), team.emails().length], [200, 200]);
  const refused = await invite(ann, 'more@example.test');
  assert.equal(refused.body['retry_after_seconds'], 24 * 3600);
});

test('a stranger does not use up the invitations to an address', async () => {
  const eve = await team.person('eve@example.test');
  const answers: unknown[][] = [];
  for (let org = 0; org < 8; org++) {
    const hers = await another(eve);
    for (let i = 0; i < 6; i++) answers.push(await hers.invite('bob@example.test'));
  }
  assert.deepEqual(
    answers.map(([status]) => status),
    answers.map((_, i) => (i < 5 ? 201 : 429)),
    'five of hers, by whatever organization',
  );
  assert.equal((await invite(ann, 'bob@example.test')).status, 201);
  assert.equal(team.emails()[0]?.kind === 'invitation' && team.emails().length, 6);
});

test('invitations: an address gets at most 30 emails from all; a later inviter sees no difference', async () => {
  const emails = () => team.emails().filter(({ to }) => to === 'bob@example.test').length;
  for (let i = 0; i < 6; i++) {
    const org = await another(await team.person(`p${i}@example.test`));
    for (let n = 0; n < 5; n++) assert.deepEqual(await org.invite('bob@example.test'), [201]);
  }
  assert.equal(emails(), 30);
  const unsent = await invite(ann, 'bob@example.test');
  assert.equal(unsent.status, 201);
  assert.equal(emails(), 30);
  assert.deepEqual(await open(), [unsent.body]);
  plane.now += 20 * 60 * 1000;
  const { invitations } = plane.control;
  const actor = { ...(await plane.person('clock@example.test')), userId: ann.id };
  invitations.create(actor, ann.home, { email: 'bob@example.test', role: 'member' });
  assert.equal(emails(), 31);
});

test('invitations: emails are limited: 5 at once to an address, 100 open, 200 in a day', async () => {
  for (let i = 0; i < 5; i++) assert.equal((await invite(ann, 'bob@example.test')).status, 201);
  const sixth = await invite(ann, 'bob@example.test');
  assert.deepEqual(said(sixth), LIMITED);
  assert.ok(Number(sixth.headers.get('retry-after')) > 0);
  assert.equal((await open()).length, 1, 'the one before stands');
  const admin = await team.member('admin@example.test', ann, 'admin');
  assert.deepEqual(said(await invite(admin, 'bob@example.test')), LIMITED, 'the organization has used them up');

  const ids = [];
  for (let i = 0; i < 99; i++) ids.push((await invite(ann, `p${i}@example.test`)).body['id']);
  assert.deepEqual(said(await invite(ann, 'more@example.test')), CONFLICT);
  for (const id of ids) await ann.call('DELETE', `/orgs/${ann.home}/invitations/${String(id)}`);
  for (let i = 0; i < 95; i++) assert.equal((await invite(ann, `q${i}@example.test`)).status, 201);
  assert.deepEqual(said(await invite(ann, 'more@example.test')), LIMITED);
});

test('an organization that waits for approval or is suspended sends no mail', async () => {
  const setApproval = (approvalStatus: 'pending' | 'suspended') =>
    plane.control.store.db.update(organizations).set({ approvalStatus }).where(eq(organizations.id, ann.home)).run();
  assert.equal((await invite(ann, 'bob@example.test')).status, 201);
  setApproval('pending');
  assert.deepEqual(said(await invite(ann, 'cid@example.test')), FORBIDDEN);
  setApproval('suspended');
  assert.deepEqual(said(await invite(ann, 'cid@example.test')), FORBIDDEN);
  assert.equal((await ann.call('GET', `/orgs/${ann.home}`)).body['approval_status'], 'suspended');
  assert.equal(team.emails().length, 1);
});

test('invitations: a full organization admits no member and the invitation stays', async () => {
  const bob = await team.person('bob@example.test');
  await invite(ann, bob.email);
  const { db } = plane.control.store;
  for (let i = 0; i < 999; i++) {
    const id = `00000000-0000-7000-8000-${String(i).padStart(12, '0')}`;
    db.insert(users).values({ id, email: id, emailKey: id, createdAt: 0 }).run();
    plane.control.store.inTx(
      (tx) => {
        tx.db.insert(memberships).values({ orgId: ann.home, userId: id, role: 'viewer', createdAt: 0 }).run();
      },
      { relaxed: true },
    );
  }
  assert.deepEqual(said(await accept(bob, team.inviteToken(bob.email))), CONFLICT);
  await ann.call('DELETE', `/orgs/${ann.home}/members/00000000-0000-7000-8000-000000000000`);
  assert.equal((await accept(bob, team.inviteToken(bob.email))).status, 200);
});

test('invitations: where the server sends no email, the link is in the response to the inviter and nowhere else', async (t) => {
  const quiet = new Plane(undefined, { mail: { transport: 'log' } });
  const served = await servePlane(quiet);
  t.after(async () => {
    await served.close();
    quiet.close();
  });
  const others = new Team(quiet, served);
  const dora = await others.person('dora@example.test');
  const path = `/orgs/${dora.home}/invitations`;
  const made = await dora.call('POST', path, { email: 'bob@example.test', role: 'viewer' });
  const token = new URL(String(made.body['accept_url'])).searchParams.get('token');
  assert.match(String(token), /^[\w-]{43}$/);
  assert.ok(!(await dora.call('GET', path)).text.includes(String(token)));
  const bob = await others.person('bob@example.test');
  assert.equal((await bob.call('POST', '/orgs/invitations/accept', { token })).body['role'], 'viewer');
});
