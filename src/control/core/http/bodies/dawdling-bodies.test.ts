/**
 * Requests whose bodies take their time: what counts is who the caller is once the last byte has come, for every route that writes. And the
 * same of what waits by itself, for a password or a payment provider.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { after, before, test } from 'node:test';
import { eq, sql } from 'drizzle-orm';
import { users } from '../../../db/schema.ts';
import type { UserActor } from '../../rules/actor.ts';
import { Plane, VISIT } from '../../testing/plane.ts';
import { type PlaneApi, servePlane } from '../../testing/plane-api.ts';
import { naming, pathOf, type Route, rows } from '../../../../../test/control/sweep-routes.ts';
import { type Fixture, Fixtures } from '../../../../../test/control/sweep-fixture.ts';
import { type Person, Team } from '../../testing/team.ts';

/** What an organization that is suspended may not do. */
const OPENS = new Set([
  'POST /auth/cli/authorize',
  'PATCH /orgs/{id}/members/{user_id}',
  'DELETE /orgs/{id}',
  'POST /orgs/{id}/invitations',
  'POST /tunnels',
  'POST /tunnels/{id}/start',
  'POST /tokens',
  'POST /tokens/master',
  'POST /tokens/{nonce}/rotate',
  'POST /projects/{slug}/tokens',
  'POST /projects/{slug}/tokens/{nonce}/rotate',
  'POST /reserved-subdomains',
  'POST /billing/checkout-session',
]);
const MASTER_KEY_ROUTES = rows.filter(({ name }) => /^(POST|DELETE) \/projects\/\{slug\}\/tokens/.test(name));

let plane: Plane;
let api: PlaneApi;
let team: Team;
let fixtures: Fixtures;
let root: Person;
let checked = 0;
before(async () => {
  plane = new Plane();
  const { sessions, masterKeys } = plane.control;
  const authenticate = sessions.authenticate.bind(sessions);
  sessions.authenticate = async (...bearer) => authenticate(...bearer).finally(() => checked++);
  const recognise = masterKeys.authenticate.bind(masterKeys);
  masterKeys.authenticate = (...bearer) => {
    checked++;
    return recognise(...bearer);
  };
  api = await servePlane(plane);
  team = new Team(plane, api);
  fixtures = new Fixtures(plane);
  root = await operator('root@example.test');
});
after(async () => {
  await api.close();
  plane.close();
});

async function operator(email: string): Promise<Person> {
  const person = await team.person(email);
  setSuperadmin(person.id, true);
  return person;
}

function setSuperadmin(userId: string, isSuperadmin: boolean): void {
  plane.control.store.db.update(users).set({ isSuperadmin }).where(eq(users.id, userId)).run();
}

/** A new person as services know them. */
async function loggedIn(name: string): Promise<{ actor: UserActor; password: string }> {
  const { token, password } = await team.person(`${randomUUID()}-${name}`);
  const actor = await plane.control.sessions.authenticate(token, VISIT.ipAddress);
  assert.ok(actor !== undefined);
  return { actor, password };
}

/** Rows that were written so far. */
function writes(): number {
  return plane.control.store.db.get<{ n: number }>(sql`SELECT total_changes() AS n`).n;
}

/** A request that was admitted and waits for the last byte of its body. */
class Dawdler {
  readonly route: Route;
  readonly #request: ClientRequest;
  readonly #answer: Promise<[IncomingMessage]>;
  readonly #last: string;

  constructor(route: Route, { ids, body, as }: { ids: readonly string[]; body: string; as: string }) {
    this.route = route;
    this.#request = request({
      port: api.port,
      agent: false,
      method: route.method,
      path: pathOf(route, ids),
      headers: { authorization: `Bearer ${as}`, 'content-type': 'application/json', ...lengthOf(route, body) },
    });
    this.#answer = once(this.#request, 'response') as Promise<[IncomingMessage]>;
    this.#request.write(body.slice(0, -1));
    this.#last = body.slice(-1);
  }

  async finish(): Promise<number> {
    this.#request.end(this.#last);
    const [answer] = await this.#answer;
    answer.resume();
    await once(answer, 'end');
    return answer.statusCode ?? 0;
  }
}

/** Both ways to send a body. A route without one waits for what comes in chunks. */
function lengthOf({ row }: Route, body: string): Record<string, string | number> {
  return row.body === undefined ? { 'transfer-encoding': 'chunked' } : { 'content-length': Buffer.byteLength(body) };
}

/** Sends all but the end of these requests; resolves when the bearer of each was found good. */
async function dawdle(routes: readonly Route[], by: { token: string; password: string; fixture: Fixture }) {
  const seen = checked;
  const waiting = routes.map((route) => {
    const { ids, body = route.row.body ?? {} } = naming(route, by.fixture);
    const text = JSON.stringify(body).replaceAll('correct horse battery staple', by.password);
    return new Dawdler(route, { ids, body: text, as: by.token });
  });
  while (checked < seen + routes.length) await nextTurn();
  await nextTurn();
  return waiting;
}

/** Finishes them all, which must write nothing. */
async function assertRefused(waiting: readonly Dawdler[], status: number): Promise<void> {
  const before = writes();
  for (const one of waiting) assert.equal(await one.finish(), status, one.route.name);
  assert.equal(writes(), before, 'something was written');
}

interface Way {
  readonly what: string;
  readonly end: (people: { ann: Person; bob: Person; bobsToken: string }) => Promise<{ status: number }>;
  readonly routes: (route: Route) => boolean;
  readonly answer: number;
}

const WAYS: readonly Way[] = [
  {
    what: 'was removed from the organization',
    end: ({ ann, bob }) => ann.call('DELETE', `/orgs/${ann.home}/members/${bob.id}`),
    routes: () => true,
    answer: 401,
  },
  {
    what: 'has logged out',
    end: ({ bobsToken }) => api.call('POST', '/auth/logout', { as: bobsToken }),
    routes: () => true,
    answer: 401,
  },
  {
    what: 'was locked',
    end: ({ bob }) => root.call('POST', `/superadmin/users/${bob.id}/lock`),
    routes: () => true,
    answer: 401,
  },
  {
    what: 'was made a viewer',
    end: ({ ann, bob }) => ann.call('PATCH', `/orgs/${ann.home}/members/${bob.id}`, { role: 'viewer' }),
    routes: ({ row }) => row.viewersMay === undefined && row.operators === undefined,
    answer: 403,
  },
  {
    what: 'is in an organization that was suspended',
    end: ({ ann }) => root.call('POST', `/superadmin/orgs/${ann.home}/suspend`),
    routes: ({ name }) => OPENS.has(name),
    answer: 403,
  },
  {
    what: 'is no superadmin any more',
    end: ({ bob }) => root.call('PATCH', `/superadmin/users/${bob.id}`, { superadmin: false }),
    routes: ({ row }) => row.operators === true,
    answer: 403,
  },
];

for (const [n, way] of WAYS.entries()) {
  test(`who ${way.what} while a body was on its way does nothing with it`, async () => {
    const ann = await team.person(`ann${n}@example.test`);
    const bob = await operator(`bob${n}@example.test`);
    await team.join(bob, { id: ann.home, by: ann, role: 'owner' });
    const bobsToken = await team.acting(bob, ann.home);
    const routes = rows.filter((route) => !route.isRead && way.routes(route));
    assert.ok(routes.length > 4);
    const by = { token: bobsToken, password: bob.password, fixture: await fixtures.of(ann) };
    const waiting = await dawdle(routes, by);
    const { status } = await way.end({ ann, bob, bobsToken });
    assert.equal(status, 200);
    await assertRefused(waiting, way.answer);
  });
}

test('slow bodies: a late body counts only if the caller still has the permission', async () => {
  const ann = await operator('slow@example.test');
  const names = new Set([
    'POST /tunnels',
    'PUT /tokens/{nonce}/budget',
    'DELETE /tunnels/{id}',
    'POST /superadmin/users',
  ]);
  const routes = rows.filter(({ name }) => names.has(name));
  for (const one of await dawdle(routes, { ...ann, fixture: await fixtures.of(ann) })) {
    assert.ok((await one.finish()) < 300, one.route.name);
  }
});

test('a master key that was revoked while a body was on its way does nothing with it', async () => {
  const ann = await team.person('master@example.test');
  const fixture = await fixtures.of(ann);
  const master = (await ann.call('POST', '/tokens/master', { name: 'ci' })).body;
  const as = String(master['apiKey']);
  const minted = await api.call('POST', `/projects/${fixture.project}/tokens`, { as, body: { name: 'pr' } });
  const by = { token: as, password: '', fixture: { ...fixture, projectToken: String(minted.body['nonce']) } };
  const waiting = await dawdle(MASTER_KEY_ROUTES, by);
  assert.equal(waiting.length, 3);
  assert.equal((await ann.call('DELETE', `/tokens/${master['nonce']}`)).status, 200);
  await assertRefused(waiting, 401);
});

test('who logs out while their own password is being checked changes nothing', async () => {
  const { control } = plane;
  for (const change of [
    (me: UserActor, password: string) =>
      control.passwordReset.change(me, { current: password, next: 'another good one' }),
    (me: UserActor, password: string) => control.mfa.disable(me, { password }),
    (me: UserActor, password: string) => control.mfa.renewRecoveryCodes(me, password),
  ]) {
    const { actor, password } = await loggedIn('checked@example.test');
    const waiting = change(actor, password);
    control.sessions.logout(actor);
    const before = writes();
    await assert.rejects(waiting, { code: 'unauthorized' });
    assert.equal(writes(), before);
  }
});

test('who is no owner any more once a page for a purchase is made does not get it', async () => {
  const { actor } = await loggedIn('buyer@example.test');
  const waiting = plane.control.billing.checkout(actor, { plan: 'pro', cycle: 'monthly' });
  plane.control.sessions.logout(actor);
  const before = writes();
  await assert.rejects(waiting, { code: 'unauthorized' });
  assert.equal(writes(), before);
});

test('who runs the server no more once a password is made has made no account, and replaced no password', async () => {
  const { control } = plane;
  for (const act of [
    (me: UserActor) => control.operatorUsers.create(me, { email: 'new@example.test', name: '', superadmin: true }),
    (me: UserActor) => control.operatorUsers.resetPassword(me, root.email),
  ]) {
    const { actor } = await loggedIn('sue@example.test');
    setSuperadmin(actor.userId, true);
    const waiting = act({ ...actor, superadmin: true });
    setSuperadmin(actor.userId, false);
    const before = writes();
    await assert.rejects(waiting, { code: 'forbidden' });
    assert.equal(writes(), before);
  }
});
