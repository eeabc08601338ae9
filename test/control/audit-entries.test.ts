/**
 * Audit entries of every route that writes: each names its object, and each of an update says what was changed. A new action counts as an update,
 * unless its verb says that the object itself is made, sent or gone.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eq } from 'drizzle-orm';
import { auditEvents } from '../../src/control/db/schema.ts';
import { Secret } from '../../src/base/secret.ts';
import { AUDIT_ACTIONS, recordAudit } from '../../src/control/core/rules/audit.ts';
import { Plane } from '../../src/control/core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../../src/control/core/testing/plane-api.ts';
import { type Person, Team } from '../../src/control/core/testing/team.ts';
import { type Fixture, Fixtures } from './sweep-fixture.ts';
import { naming, pathOf, type Route, ROUTES, rows } from './sweep-routes.ts';

/** No field of the object changes: the action says all. */
const WHOLE = [
  /^(?:auth|backup|certificate|connection|inspector|key)\./,
  /\.(?:create|delete|leave|remove|revoke|accept|expire|mint|rotate|enroll)$/,
  /\.(?:resend|redeliver|test|fire|recover|confirm|confirm_request|checkout|cancel)$/,
  /^user\.(?:mfa_reset|password_reset|password_link|sessions_revoke)$/,
];
/** Updates that no route makes by itself: their test is named. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  // Needs a settings file.
  'instance.update': 'src/control/operator/instance/api.test.ts',
  'domain.lose': 'src/control/domains/checks.test.ts',
  'domain.verify': 'src/control/domains/service.test.ts',
  // Its details are the flags of the agent.
  'tunnel.agent_flags': 'src/control/tunnels/claims/narrowed.test.ts',
};
/** A session has no name. */
const NAMELESS = new Set(['session']);

const isUpdate = (action: string): boolean => !WHOLE.some((pattern) => pattern.test(action));

let plane: Plane;
let api: PlaneApi;
let team: Team;
let fixtures: Fixtures;
before(async () => {
  const google = { clientId: 'id', clientSecret: new Secret('secret'), issuer: 'http://127.0.0.1:1' };
  plane = new Plane(undefined, { udpPorts: { first: 30_000, last: 30_999 }, oauth: { google, github: null } });
  api = await servePlane(plane);
  team = new Team(plane, api);
  fixtures = new Fixtures(plane);
});
after(async () => {
  await api.close();
  plane.close();
});

const operator = { kind: 'operator', orgId: null, userId: null, label: 'operator', ipAddress: '' } as const;

/** Bodies that change more than those of the table, or anything at all. */
const BODIES: Readonly<Record<string, object>> = {
  'PATCH /superadmin/users/{id}': { name: 'x', superadmin: true },
  'PATCH /superadmin/orgs/{id}': { plan: 'pro' },
};

interface Case {
  readonly caller: Person;
  readonly fixture: Fixture;
}

async function call(route: Route, { caller, fixture }: Case): Promise<void> {
  const { ids, body = route.row.body } = naming(route, fixture);
  await caller.call(route.method, pathOf(route, ids), BODIES[route.name] ?? body);
}

/** Behind the request that does the opposite, without which nothing would change. */
async function callPrepared(route: Route, one: Case): Promise<void> {
  const opposite = {
    DELETE: route.name.replace('DELETE', 'PUT'),
    POST: route.name.replace('/start', '/stop').replace('/approve', '/suspend').replace('/unlock', '/lock'),
  }[route.method];
  const earlier = rows.find(({ name }) => name === opposite && name !== route.name);
  if (earlier !== undefined) await call(earlier, one);
  plane.now += 1_000;
  await call(route, one);
}

async function superadmin(email: string): Promise<Person> {
  const person = await team.person(email);
  plane.control.operatorUsers.update(operator, email, { superadmin: true });
  return person;
}

/** Deepest first: the parts of an object before the object. */
const depth = ({ path }: Route): number => path.split('/').length;

/** Calls all routes that write. Changes have one fixture, deletions another; what ends sessions or accounts has an account of its own. */
async function callAll(): Promise<void> {
  const writes = rows.filter(({ isRead }) => !isRead);
  const [ann, bob] = [await team.person('ann@example.test'), await team.person('bob@example.test')];
  const changed = { caller: ann, fixture: await fixtures.of(ann) };
  const deleted = { caller: bob, fixture: await fixtures.of(bob) };
  const aimed = writes.filter(({ isAimed, row }) => isAimed && row.operators === undefined);
  // A rotation or a revocation ends what others change.
  for (const methods of [['PUT', 'PATCH'], ['POST']])
    for (const route of aimed.filter(({ method }) => methods.includes(method))) await callPrepared(route, changed);
  const deletions = aimed.filter(({ method }) => method === 'DELETE').toSorted((a, b) => depth(b) - depth(a));
  for (const route of deletions) await callPrepared(route, deleted);
  for (const [i, route] of writes.filter((one) => !aimed.includes(one)).entries()) {
    const target = await team.person(`target${i}@example.test`);
    const caller = route.row.operators ? await superadmin(`root${i}@example.test`) : target;
    const fixture: Fixture = { ...changed.fixture, org: target.home, user: target.id };
    await callPrepared(route, { caller, fixture });
  }
}

test('audit: each entry of each route names its object, and each update says what was changed', async () => {
  await callAll();
  await memberAndOperator();
  const entries = plane.control.store.db.select().from(auditEvents).all();
  const nameless = entries.filter(
    ({ resourceType, resourceName }) => resourceName === null && !NAMELESS.has(resourceType),
  );
  assert.deepEqual([...new Set(nameless.map(({ action }) => action))], [], 'these entries do not name their object');
  const updates = entries.filter(({ action }) => isUpdate(action));
  const silent = updates.filter(({ changes }) => changes === null || changes.length === 0);
  assert.deepEqual([...new Set(silent.map(({ action }) => action))], [], 'these updates do not say what was changed');
  const seen = new Set(updates.map(({ action }) => action));
  assert.deepEqual(
    AUDIT_ACTIONS.filter((action) => isUpdate(action) && !seen.has(action)).toSorted(),
    Object.keys(ELSEWHERE).toSorted(),
    'updates that no route of this test makes: say in ELSEWHERE where they are tested',
  );
});

/** The role of another member, and the rights of an operator who is not the last. */
async function memberAndOperator(): Promise<void> {
  const [host, root] = [await team.person('host@example.test'), await superadmin('root@example.test')];
  const guest = await team.member('guest@example.test', host, 'member');
  for (const [person, path, body] of [
    [host, `/orgs/${host.home}/members/${guest.id}`, { role: 'admin' }],
    [root, `/superadmin/users/${root.id}`, { superadmin: false }],
  ] as const) {
    const { status, text } = await person.call('PATCH', path, body);
    assert.equal(status, 200, text);
  }
}

test('audit: the name of an object is cut after 256 characters', () => {
  const resourceId = 'k'.repeat(300);
  plane.control.store.inTx((tx) =>
    recordAudit(tx, operator, { action: 'instance.test', resourceType: 'setting', resourceId }),
  );
  const [entry] = plane.control.store.db.select().from(auditEvents).where(eq(auditEvents.resourceId, resourceId)).all();
  assert.equal(entry?.resourceName, resourceId.slice(0, 256));
});

test('audit: routes of this test are those of the table', () => {
  for (const name of Object.keys(BODIES)) assert.ok(name in ROUTES, name);
});
