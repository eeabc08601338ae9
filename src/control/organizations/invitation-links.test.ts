/** The links of invitations: what a holder sees, and how one is sent again. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { eq } from 'drizzle-orm';
import { organizations } from '../db/schema.ts';
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
const LIMITED = [429, 'rate_limited'];
const BOB = 'bob@example.test';

const invite = (by: Person, email: string, role = 'member') =>
  by.call('POST', `/orgs/${ann.home}/invitations`, { email, role });
/** The id of an invitation of ann's organization. */
const invited = async (email: string, role = 'member') => String((await invite(ann, email, role)).body['id']);
const resend = (by: Person, id: string, org = ann.home) => by.call('POST', `/orgs/${org}/invitations/${id}/resend`);
const accept = (by: Person, token: string) => by.call('POST', '/orgs/invitations/accept', { token });
let source = 0;
/** Without a login, from an address of its own. */
const lookUp = (token: unknown) =>
  api.call('POST', '/orgs/invitations/lookup', {
    body: { token },
    headers: { 'x-forwarded-for': `203.0.113.${++source}` },
  });
const tokenOf = (url: unknown): string => new URL(String(url)).searchParams.get('token') ?? '';

test('invitation link: shows inviter, invited, organization, role and expiry, without a login, any number of times', async () => {
  assert.equal((await ann.call('PATCH', '/auth/me', { name: 'Ann Example' })).status, 200);
  await invited(BOB, 'admin');
  const token = team.inviteToken(BOB);
  for (let time = 0; time < 3; time++) {
    const answer = await lookUp(token);
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(answer.body, {
      organization: 'ann',
      email: BOB,
      role: 'admin',
      invited_by: ann.email,
      invited_by_name: 'Ann Example',
      expires_at: new Date(plane.now + 7 * DAY).toISOString(),
    });
  }
  const bob = await team.person(BOB);
  assert.equal((await accept(bob, token)).status, 200, 'looking uses nothing up');
});

test('whether the address has an account is not told', async () => {
  await team.person('known@example.test');
  await invite(ann, 'known@example.test');
  await invite(ann, 'other@example.test');
  const [known, unknown] = await Promise.all(
    ['known@example.test', 'other@example.test'].map((email) => lookUp(team.inviteToken(email))),
  );
  assert.equal(known?.text.replace('known', 'other'), unknown?.text);
});

test('whatever is the matter with a token, the answer is that of accepting', async () => {
  const bob = await team.person(BOB);
  const gone: string[] = ['x', 'A'.repeat(43)];
  await ann.call('DELETE', `/orgs/${ann.home}/invitations/${await invited(BOB)}`);
  gone.push(team.inviteToken(BOB));
  plane.now += 1;
  const id = await invited(BOB);
  gone.push(team.inviteToken(BOB));
  plane.now += 1;
  await resend(ann, id);
  assert.equal((await accept(bob, team.inviteToken(BOB))).status, 200);
  const used = team.inviteToken(BOB);
  const eve = await team.person('eve@example.test');
  for (const token of [...gone, used]) {
    const [looked, tried] = [await lookUp(token), await accept(eve, token)];
    assert.deepEqual([looked.status, looked.text], [tried.status, tried.text]);
    assert.deepEqual(said(looked), NOT_FOUND);
  }
  for (const token of ['', 7, undefined, 'a'.repeat(129)])
    assert.deepEqual(said(await lookUp(token)), [400, 'invalid_request']);
});

test('a link ends to the millisecond, and with its organization', async () => {
  await invite(ann, BOB);
  const token = team.inviteToken(BOB);
  const made = plane.now;
  plane.now = made + 7 * DAY - 1;
  assert.equal((await lookUp(token)).status, 200);
  plane.now = made + 7 * DAY;
  assert.deepEqual(said(await lookUp(token)), NOT_FOUND);
  plane.now = made;
  const { db } = plane.control.store;
  db.update(organizations).set({ deletedAt: 1 }).where(eq(organizations.id, ann.home)).run();
  assert.deepEqual(said(await lookUp(token)), NOT_FOUND);
});

test('sent again it has a new link, in the email and in this response alone, and a week from now; the old one ends', async () => {
  const made = (await invite(ann, BOB, 'viewer')).body;
  const first = team.inviteToken(BOB);
  plane.now += DAY / 100;
  const sent = await resend(ann, String(made['id']));
  assert.equal(sent.status, 200, sent.text);
  const { accept_url: url, ...rest } = sent.body;
  assert.deepEqual(rest, { ...(made as object), expires_at: new Date(plane.now + 7 * DAY).toISOString() });
  const token = team.inviteToken(BOB);
  assert.notEqual(token, first);
  assert.match(String(url), /\/app\/invite\?token=[\w-]{43}$/);
  assert.equal(tokenOf(url), token);
  assert.equal(team.emails().filter(({ to }) => to === BOB).length, 2);
  const list = await ann.call('GET', `/orgs/${ann.home}/invitations`);
  assert.deepEqual(list.body, [rest]);
  const stored = JSON.stringify(plane.control.store.db.query.invitations.findMany().sync());
  for (const text of [list.text, stored]) assert.ok(!text.includes(token));
  const bob = await team.person(BOB);
  assert.deepEqual(said(await accept(bob, first)), NOT_FOUND);
  assert.deepEqual(said(await lookUp(first)), NOT_FOUND);
  const eve = await team.person('eve@example.test');
  assert.deepEqual(said(await accept(eve, token)), FORBIDDEN, 'a user who saw the link is not the address');
  assert.deepEqual((await accept(bob, token)).body['role'], 'viewer');
  assert.deepEqual(said(await resend(ann, String(made['id']))), NOT_FOUND, 'a used one');
  const events = (await ann.call('GET', '/events?action=invitation.resend')).body as never as Record<string, unknown>[];
  assert.equal(events.length, 1);
  assert.deepEqual([events[0]?.['userEmail'], events[0]?.['resourceId']], [ann.email, made['id']]);
});

test('invitation: a member who may invite to a role resends it, in their own organization alone', async () => {
  const people = {
    viewer: await team.member('viewer@example.test', ann, 'viewer'),
    member: await team.member('member@example.test', ann, 'member'),
    admin: await team.member('admin@example.test', ann, 'admin'),
    owner: ann,
  };
  for (const role of ROLES) {
    const id = await invited(`${role}-to-be@example.test`, role);
    for (const by of ROLES) {
      const may = by === 'owner' || (by === 'admin' && role !== 'owner');
      assert.deepEqual(said(await resend(people[by], id)), may ? [200] : FORBIDDEN, `${by} sends ${role}`);
    }
  }
  const eve = await team.person('eve@example.test');
  const id = await invited(BOB);
  assert.deepEqual(said(await resend(eve, id)), NOT_FOUND);
  assert.deepEqual(said(await resend(eve, id, eve.home)), NOT_FOUND);
  assert.deepEqual(said(await resend(ann, 'x')), NOT_FOUND);
  const token = team.inviteToken(BOB);
  for (const approvalStatus of ['pending', 'suspended'] as const) {
    const { db } = plane.control.store;
    db.update(organizations).set({ approvalStatus }).where(eq(organizations.id, ann.home)).run();
    assert.deepEqual(said(await resend(ann, id)), FORBIDDEN, approvalStatus);
  }
  assert.equal(team.inviteToken(BOB), token);
});

test('invitation: belongs to its last sender, and ends with their permission', async () => {
  const admin = await team.member('admin@example.test', ann, 'admin');
  const id = String((await invite(admin, BOB)).body['id']);
  plane.now += 1;
  assert.equal((await resend(ann, id)).body['invited_by'], ann.email);
  assert.equal((await lookUp(team.inviteToken(BOB))).body['invited_by'], ann.email);
  await ann.call('DELETE', `/orgs/${ann.home}/members/${admin.id}`);
  assert.equal((await lookUp(team.inviteToken(BOB))).status, 200, 'not that of who was removed any more');
});

test('invitation: resent emails count: a few to an address, 200 of a user in a day', async () => {
  const id = await invited(BOB);
  for (let i = 0; i < 4; i++) assert.equal((await resend(ann, id)).status, 200);
  const token = team.inviteToken(BOB);
  const sixth = await resend(ann, id);
  assert.deepEqual(said(sixth), LIMITED);
  assert.ok(Number(sixth.headers.get('retry-after')) > 0);
  assert.equal(team.inviteToken(BOB), token, 'the link before stands');
  for (let i = 0; i < 39; i++) {
    const another = await invited(`p${i}@example.test`);
    for (let n = 0; n < 4; n++) assert.equal((await resend(ann, another)).status, 200);
  }
  const [first] = (await ann.call('GET', `/orgs/${ann.home}/invitations`)).body as never as [{ id: string }];
  assert.deepEqual(said(await invite(ann, 'more@example.test')), LIMITED);
  const last = await resend(ann, first.id);
  assert.deepEqual([...said(last), last.body['retry_after_seconds']], [...LIMITED, 24 * 3600]);
});

test('invitation: an address beyond its limit of emails gets none, and the sender still has the link', async () => {
  for (let i = 0; i < 6; i++) {
    const by = await team.person(`p${i}@example.test`);
    for (let n = 0; n < 5; n++) await by.call('POST', `/orgs/${by.home}/invitations`, { email: BOB, role: 'viewer' });
  }
  const emails = () => team.emails().filter(({ to }) => to === BOB).length;
  const id = await invited(BOB);
  assert.equal(emails(), 30);
  const sent = await resend(ann, id);
  assert.equal(emails(), 30);
  assert.equal((await lookUp(tokenOf(sent.body['accept_url']))).status, 200);
});
