/**
 * Live feeds end with the right to listen: at once, whatever took it away. No ping comes in these tests, nor the look at the session that goes with
 * every second one.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { eq } from 'drizzle-orm';
import { WebSocket } from 'ws';
import { users } from '../db/schema.ts';
import { orgsOf } from '../organizations/rows.ts';
import { openSession } from '../auth/sessions/rows.ts';
import { Plane, VISIT } from '../core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../core/testing/plane-api.ts';
import { type Person, Team } from '../core/testing/team.ts';

const OVER = 4401;
/** Far below the minute in which a session is looked at anyway. */
const AT_ONCE_MS = 5_000;
const NEXT = 'correct horse battery staple';

let plane: Plane;
let api: PlaneApi;
let team: Team;
/** Owns the organization in which the others listen. */
let ann: Person;
let operator: Person;
const opened: WebSocket[] = [];
const codes = new Map<WebSocket, number>();

before(async () => {
  plane = new Plane();
  api = await servePlane(plane);
  team = new Team(plane, api);
  ann = await team.person('ann@example.test');
  operator = await team.person('op@example.test');
  plane.control.operatorUsers.update(
    { kind: 'operator', orgId: null, userId: null, label: 'test', ipAddress: '' },
    operator.email,
    { superadmin: true },
  );
});
after(async () => {
  for (const socket of opened) socket.terminate();
  await api.close();
  plane.close();
});

async function listen(token: string): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${api.port}/inspector/ws`, ['culvert.inspector', `bearer.${token}`]);
  opened.push(socket);
  socket.once('close', (code: number) => codes.set(socket, code));
  await once(socket, 'open');
  return socket;
}

/** Of a feed that was ended a moment ago. Throws when it still is not. */
async function codeOf(socket: WebSocket): Promise<number | undefined> {
  if (socket.readyState !== WebSocket.CLOSED) await once(socket, 'close', { signal: AbortSignal.timeout(AT_ONCE_MS) });
  return codes.get(socket);
}

/** A member of Ann's organization, logged in twice. `here` is where the feed is; `there` is the other log-in. */
interface Listener {
  readonly here: Person;
  readonly there: Person;
}

type Action = (listener: Listener) => Promise<{ readonly status: number; readonly text: string }>;

async function resetByEmail({ here }: Listener) {
  await api.call('POST', '/auth/forgot', { body: { email: here.email } });
  const mail = team.emails().find((one) => one.kind === 'password_reset' && one.to === here.email);
  assert.ok(mail?.kind === 'password_reset');
  return api.call('POST', '/auth/reset', { body: { token: mail.token, new_password: NEXT } });
}

async function revokeOne({ here, there }: Listener) {
  const { sessions } = (await here.call('GET', '/auth/sessions')).body as unknown as {
    readonly sessions: ReadonlyArray<{ readonly id: string; readonly current: boolean }>;
  };
  return there.call('DELETE', `/auth/sessions/${sessions.find(({ current }) => current)?.id}`);
}

/** A cookie that comes back after it was swapped. */
async function reuse({ here: { email, password } }: Listener) {
  const { sessions, refresh } = plane.control;
  const done = await sessions.login({ email, password }, VISIT);
  assert.ok('accessToken' in done);
  const listening = await listen(done.accessToken);
  const caller = { isGone: () => false, isOwnPage: false };
  await refresh.swap(done.refreshToken, VISIT, caller);
  plane.now += 60_000;
  await assert.rejects(refresh.swap(done.refreshToken, VISIT, caller), { code: 'unauthorized' });
  assert.equal(await codeOf(listening), OVER);
  return { status: 200, text: '' };
}

const own: ReadonlyArray<readonly [string, Action]> = [
  ['who logs out', ({ here }) => here.call('POST', '/auth/logout')],
  ['whose session is ended from another one', revokeOne],
  ['whose other sessions are all ended', ({ there }) => there.call('DELETE', '/auth/sessions')],
  [
    'whose password is changed elsewhere',
    ({ there }) => there.call('POST', '/auth/password', { current_password: there.password, new_password: NEXT }),
  ],
  ['whose password is reset by email', resetByEmail],
];

const others: ReadonlyArray<readonly [string, Action]> = [
  ['who is removed from the organization', ({ here }) => ann.call('DELETE', `/orgs/${ann.home}/members/${here.id}`)],
  ['who leaves the organization', ({ there }) => there.call('DELETE', `/orgs/${ann.home}/members/${there.id}`)],
  ['whose account is locked', ({ here }) => operator.call('POST', `/superadmin/users/${here.id}/lock`)],
  ['logged out by an operator', ({ here }) => operator.call('POST', `/superadmin/users/${here.id}/revoke-sessions`)],
  [
    'whose password an operator replaces',
    ({ here }) => operator.call('POST', `/superadmin/users/${here.id}/reset-password`),
  ],
];

let count = 0;
async function listener(): Promise<Listener> {
  const here = await team.member(`m${count++}@example.test`, ann, 'member');
  return { here, there: await team.again(here) };
}

for (const [who, act] of [...own, ...others])
  test(`${who} hears no more at once; others do`, async () => {
    const someone = await listener();
    const as = await team.acting(someone.here, ann.home);
    const [socket, stays] = [await listen(as), await listen(ann.token)];
    const done = await act(someone);
    assert.ok(done.status < 300, done.text);
    assert.equal(await codeOf(socket), OVER);
    assert.equal(stays.readyState, WebSocket.OPEN);
    stays.terminate();
  });

test('a session that was stolen hears no more once that is found out', async () => {
  await reuse(await listener());
});

test('the oldest of too many sessions hears no more when it gives way', async () => {
  const { here } = await listener();
  const socket = await listen(here.token);
  plane.now += 1_000;
  plane.control.store.inTx((tx) => {
    const user = tx.db.select().from(users).where(eq(users.id, here.id)).get();
    const [org] = orgsOf(tx.db, here.id);
    assert.ok(user !== undefined && org !== undefined);
    // As many as a person may have, beside the first.
    for (let i = 0; i < 100; i++) openSession(tx, { user, org, visit: VISIT });
  });
  assert.equal(await codeOf(socket), OVER);
});

test('who listened in an organization that is deleted hears no more, in whatever session', async () => {
  const made = await ann.call('POST', '/orgs', { name: 'second' });
  const id = String(made.body['id']);
  const elsewhere = await listen(ann.token);
  // Ann again, so that the session of all other tests stays where it is.
  const again = await team.again(ann);
  const socket = await listen(await team.acting(again, id));
  assert.equal((await ann.call('DELETE', `/orgs/${id}`)).status, 200);
  assert.equal(await codeOf(socket), OVER);
  assert.equal(elsewhere.readyState, WebSocket.OPEN);
  elsewhere.terminate();
});

test('another role is looked at at once, and a viewer goes on: viewers may listen', async () => {
  const { here } = await listener();
  const socket = await listen(await team.acting(here, ann.home));
  const looked: string[] = [];
  plane.control.store.watchPeople((id) => void looked.push(id));
  const done = await ann.call('PATCH', `/orgs/${ann.home}/members/${here.id}`, { role: 'viewer' });
  assert.equal(done.status, 200, done.text);
  assert.deepEqual(looked, [here.id]);
  assert.equal(socket.readyState, WebSocket.OPEN);
});

test('live feed: a change that is not stored reaches no listener', () => {
  const told: string[] = [];
  plane.control.store.watchPeople((id) => void told.push(id));
  assert.throws(() =>
    plane.control.store.inTx((tx) => {
      tx.personChanged('member');
      throw new Error('it fails');
    }),
  );
  plane.control.store.inTx((tx) => {
    tx.personChanged('member');
    tx.personChanged('member');
    assert.deepEqual(told, []);
  });
  assert.deepEqual(told, ['member']);
});
