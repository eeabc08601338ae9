/**
 * Every route that a running server has, by its own document: closed to the anonymous, blind to other organizations, read-only to viewers.
 * A route that is in neither table of sweep-routes.ts fails here: a new route states its call and its permission.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Answer, callerOf } from '../../src/control/core/testing/harness.ts';
import { Secret } from '../../src/base/secret.ts';
import { Plane } from '../../src/control/core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../../src/control/core/testing/plane-api.ts';
import { naming, pathOf, PUBLIC, type Route, ROUTES, rows, UNKNOWN } from './sweep-routes.ts';
import { type Fixture, Fixtures } from './sweep-fixture.ts';
import { type Person, said, Team } from '../../src/control/core/testing/team.ts';

const NOT_FOUND = [404, 'not_found'];
const FORBIDDEN = [403, 'forbidden'];
const UNAUTHORIZED = [401, 'unauthorized'];

let plane: Plane;
let api: PlaneApi;
let team: Team;
let ann: Person;
let eve: Person;
let fixtures: Fixtures;
before(async () => {
  // Without one no tunnel gets a visitor gate. No server answers there.
  const google = { clientId: 'id', clientSecret: new Secret('secret'), issuer: 'http://127.0.0.1:1' };
  plane = new Plane(undefined, { udpPorts: { first: 30_000, last: 30_999 }, oauth: { google, github: null } });
  api = await servePlane(plane);
  team = new Team(plane, api);
  fixtures = new Fixtures(plane);
  ann = await team.person('ann@example.test');
  eve = await team.person('eve@example.test');
});
after(async () => {
  await api.close();
  plane.close();
});

/** Sends the request of a row with these ids; without `as`, without a bearer. */
function send(route: Route, request: { ids?: readonly string[]; body?: object; as?: string }): Promise<Answer> {
  const { method, row } = route;
  const body = request.body ?? (typeof row.body === 'object' ? row.body : undefined);
  return api.call(method, pathOf(route, request.ids), {
    ...(request.as === undefined ? {} : { as: request.as }),
    ...(body === undefined ? {} : { body }),
  });
}

test('every route is in one of the tables, and nothing else is', async () => {
  const document = (await api.call('GET', '/openapi.json')).body as unknown as {
    paths: Record<string, Record<string, { security?: readonly unknown[] }>>;
  };
  const open: string[] = [];
  const closed: string[] = [];
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, { security }] of Object.entries(methods)) {
      (security?.length === 0 ? open : closed).push(`${method.toUpperCase()} ${path}`);
    }
  }
  assert.deepEqual(
    closed.sort(),
    Object.keys(ROUTES).sort(),
    'a route that needs a bearer: say in ROUTES how to call it',
  );
  assert.deepEqual(open.sort(), [...PUBLIC].sort(), 'a public route: say in PUBLIC why');
  for (const { name, path, row } of rows) {
    assert.equal((path.match(/\{/g) ?? []).length, row.ids?.(await anyFixture()).length ?? 0, `${name}: ids`);
  }
});

let someFixture: Fixture | undefined;
/** Things of ann's that no test destroys. */
async function anyFixture(): Promise<Fixture> {
  return (someFixture ??= await fixtures.of(ann));
}

test('nothing but the public routes answers without a bearer, or with one that is none', async () => {
  const fixture = await anyFixture();
  for (const route of rows) {
    for (const as of [undefined, 'rubbish', `${ann.token.slice(0, -4)}AAAA`]) {
      const answer = await send(route, { ...naming(route, fixture), ...(as === undefined ? {} : { as }) });
      assert.deepEqual(said(answer), UNAUTHORIZED, `${route.name} with ${as ?? 'no bearer'}`);
    }
  }
});

test("another organization's ids are not found, alone or mixed with one's own", async () => {
  const theirs = await anyFixture();
  const mine = await fixtures.of(eve);
  for (const route of rows.filter(({ isAimed }) => isAimed)) {
    const foreign = naming(route, theirs);
    const own = naming(route, mine).ids;
    const mixed = foreign.ids.map((id, i) => own.with(i, id));
    for (const ids of [foreign.ids, ...mixed]) {
      const answer = await send(route, { ...foreign, ids, as: eve.token });
      assert.deepEqual(said(answer), route.row.operators ? FORBIDDEN : NOT_FOUND, `${route.name}: ${ids}`);
    }
  }
});

test('the same requests find what they name when it is the own, so that a 404 above means what it says', async () => {
  let owner = ann;
  for (const [i, route] of rows.filter(({ isAimed, row }) => isAimed && row.operators === undefined).entries()) {
    // An organization has room for so many fixtures.
    if (i % 25 === 24) owner = await team.person(`ann${i}@example.test`);
    const answer = await send(route, { ...naming(route, await fixtures.of(owner)), as: owner.token });
    // The organization and the membership of its only owner can't go: 409.
    const expected = /^DELETE \/orgs\/\{id\}(\/members\/\{user_id\})?$/.test(route.name) ? [409] : [200, 201, 202];
    assert.ok(expected.includes(answer.status), `${route.name}: ${answer.status} ${answer.text}`);
  }
});

test('an id that can be none is not found', async () => {
  const fixture = await anyFixture();
  for (const route of rows.filter(({ row }) => row.ids !== undefined && row.operators === undefined)) {
    const named = naming(route, fixture);
    for (const [i] of named.ids.entries()) {
      for (const wrong of [UNKNOWN, 'x', '%20', "'--", '..%2f', '%00', '1'.repeat(300)]) {
        const answer = await send(route, { ...named, ids: named.ids.with(i, wrong), as: ann.token });
        assert.deepEqual(said(answer), NOT_FOUND, `${route.name}: ${wrong}`);
      }
    }
  }
});

test('a viewer reads everything and writes nothing', async () => {
  const fixture = await anyFixture();
  const viewer = await team.member('viv@example.test', ann, 'viewer');
  const as = await team.acting(viewer, ann.home);
  for (const route of rows) {
    const { name, row, isRead } = route;
    if (row.viewersMay !== undefined) {
      assert.equal(isRead, false, `${name}: every member reads`);
      continue;
    }
    const answer = await send(route, { ...naming(route, fixture), as });
    const expected = row.operators || !isRead ? FORBIDDEN : (row.answer ?? [200]);
    assert.deepEqual(said(answer), expected, name);
  }
});

test('the same routes are as closed under /api', async () => {
  const call = callerOf(`http://127.0.0.1:${api.port}/api`);
  for (const { name, method, path } of rows) {
    assert.deepEqual(said(await call(method, path.replaceAll(/\{\w+\}/g, UNKNOWN))), UNAUTHORIZED, name);
  }
});

test('who may not do it hears so before the body is looked at', async () => {
  const fixture = await anyFixture();
  const viewer = await team.member('vic@example.test', ann, 'viewer');
  const as = await team.acting(viewer, ann.home);
  for (const route of rows.filter(({ isRead, row }) => !isRead && row.viewersMay === undefined)) {
    for (const body of [{}, { junk: true }]) {
      const { ids } = naming(route, fixture);
      assert.deepEqual(said(await send(route, { ids, body, as })), FORBIDDEN, route.name);
      if (!route.path.startsWith('/orgs/{id}')) continue;
      assert.deepEqual(said(await send(route, { ids, body, as: eve.token })), NOT_FOUND, `${route.name} by a stranger`);
    }
  }
});
