/**
 * Projects over HTTP: what they show, what their slugs may be, and what goes with one that is deleted.
 */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { and, eq } from 'drizzle-orm';
import { auditEvents, capabilityTokens, projects, tunnels } from '../db/schema.ts';
import { MAX_PROJECTS } from './service.ts';
import type { MintedToken } from '../access-keys/maker.ts';
import { Plane, START } from '../core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../core/testing/plane-api.ts';
import { type Person, said, Team } from '../core/testing/team.ts';

const DAY = 24 * 3600_000;
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

const make = (slug: unknown, name: unknown = 'Web shop', by = ann) => by.call('POST', '/projects', { slug, name });
const rowOf = (slug: string) => {
  const rows = plane.control.store.db
    .select()
    .from(projects)
    .where(and(eq(projects.orgId, ann.home), eq(projects.slug, slug)))
    .all();
  return rows.at(-1);
};

/** A key of ann's for one project, straight into its row. */
async function keyOf(slug: string): Promise<MintedToken> {
  const actor = await plane.control.sessions.authenticate(ann.token, '192.0.2.1');
  assert.ok(actor !== undefined);
  const token = plane.mint(actor);
  const projectId = rowOf(slug)?.id ?? null;
  const set = { projectId, kind: 'project' as const };
  plane.control.store.inTx(
    ({ db }) => void db.update(capabilityTokens).set(set).where(eq(capabilityTokens.id, token.row.id)).run(),
  );
  return token;
}

test('an organization begins with its default project, which is listed first and has no suffix', async () => {
  const { status, body } = await ann.call('GET', '/projects');
  assert.equal(status, 200);
  assert.deepEqual(body, [
    {
      id: rowOf('default')?.id,
      slug: 'default',
      name: 'Default',
      isDefault: true,
      createdAt: new Date(START).toISOString(),
      tunnels: 0,
      tokens: 0,
    },
  ]);
  const opened = await ann.call('POST', '/tunnels', { localPort: 3000, subdomain: 'shop' });
  assert.deepEqual([opened.body['subdomain'], opened.body['projectSlug']], ['shop', 'default']);
});

test('a project shows its tunnels and the live keys of its own', async () => {
  const made = await make('web');
  assert.equal(made.status, 201, made.text);
  assert.deepEqual(made.body, {
    id: rowOf('web')?.id,
    slug: 'web',
    name: 'Web shop',
    isDefault: false,
    createdAt: new Date(START).toISOString(),
    tunnels: 0,
    tokens: 0,
  });
  for (const subdomain of ['a', 'b']) {
    const opened = await ann.call('POST', '/tunnels', { localPort: 3000, subdomain, projectSlug: 'web' });
    assert.deepEqual([opened.status, opened.body['subdomain']], [201, `${subdomain}-web`]);
  }
  const gone = await ann.call('POST', '/tunnels', { localPort: 3000, projectSlug: 'web' });
  await ann.call('DELETE', `/tunnels/${gone.body['id']}`);
  await keyOf('web');
  const revoked = await keyOf('web');
  await ann.call('DELETE', `/tokens/${revoked.row.nonce}`);
  const counts = async () => {
    const { body } = await ann.call('GET', '/projects/web');
    return [body['tunnels'], body['tokens']];
  };
  assert.deepEqual(await counts(), [2, 1]);
  const old = await keyOf('web');
  const rotated = await ann.call('POST', `/projects/web/tokens/${old.row.nonce}/rotate`, { graceHours: 1 });
  assert.equal(rotated.status, 200, rotated.text);
  assert.deepEqual(await counts(), [2, 3], 'the old key has its grace');
  plane.now += DAY / 24;
  ann = { ...ann, ...(await relogged()) };
  assert.deepEqual(await counts(), [2, 2], 'the grace is over, whether or not the job has been');
  plane.now += DAY;
  ann = { ...ann, ...(await relogged()) };
  assert.deepEqual(await counts(), [2, 0], 'the key has run out');
  const listed = (await ann.call('GET', '/projects')).body as unknown as ReadonlyArray<Record<string, unknown>>;
  assert.deepEqual(
    listed.map(({ slug, tunnels: n }) => [slug, n]),
    [
      ['default', 0],
      ['web', 2],
    ],
  );
});

/** ann's next access token, once hers has run out. */
async function relogged(): Promise<Pick<Person, 'token' | 'call'>> {
  const body = { email: ann.email, password: ann.password };
  const token = String((await api.call('POST', '/auth/login', { body })).body['access_token']);
  return {
    token,
    call: (method, path, sent) => api.call(method, path, { as: token, ...(sent === undefined ? {} : { body: sent }) }),
  };
}

test('a slug is a label, a name is one line', async () => {
  for (const slug of ['a', '0', 'a-b', 'a--b', 'a'.repeat(63), 'xn--a', 'www']) {
    assert.equal((await make(slug)).status, 201, slug);
  }
  for (const slug of ['', '-a', 'a-', 'A', 'a.b', 'a_b', 'ä', ' a', 'a\n', 'a'.repeat(64), 7, null, undefined]) {
    assert.deepEqual(said(await make(slug)), [400, 'invalid_request'], String(slug));
  }
  for (const name of ['', ' ', 'a\nb', 'x'.repeat(101), 7, null]) {
    assert.deepEqual(said(await make('fine', name)), [400, 'invalid_request'], String(name));
  }
  assert.deepEqual(said(await ann.call('POST', '/projects', { slug: 'fine' })), [400, 'invalid_request']);
});

test('a slug is used once in an organization, also by requests at once; another organization may have it too', async () => {
  const bob = await team.person('bob@example.test');
  const answers = await Promise.all(Array.from({ length: 8 }, () => make('web')));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, ...Array.from({ length: 7 }, () => 409)]);
  assert.deepEqual(said(await make('web')), [409, 'duplicate_name']);
  assert.deepEqual(said(await make('default')), [409, 'duplicate_name']);
  assert.equal((await make('web', 'Web', bob)).status, 201);
});

test('a rename changes the name alone: a slug in the body is ignored', async () => {
  const made = await make('web');
  const renamed = await ann.call('PATCH', '/projects/web', { name: ' Shop ', slug: 'shop', isDefault: true });
  assert.deepEqual(renamed.body, Object.assign({}, made.body, { name: 'Shop' }));
  assert.deepEqual((await ann.call('GET', '/projects/web')).body, renamed.body);
  assert.deepEqual(said(await ann.call('GET', '/projects/shop')), [404, 'not_found']);
  assert.equal((await ann.call('PATCH', '/projects/default', { name: 'Main' })).status, 200);
  assert.deepEqual(said(await ann.call('PATCH', '/projects/web', {})), [400, 'invalid_request']);
});

test('an organization has at most 200 projects; a deleted one makes room', async () => {
  for (let i = 1; i < MAX_PROJECTS; i++) assert.equal((await make(`p${i}`)).status, 201);
  assert.deepEqual(said(await make('more')), [409, 'conflict']);
  await ann.call('DELETE', '/projects/p1');
  assert.equal((await make('more')).status, 201);
});

test('with a project go its tunnels and its keys, and nothing else; agents are notified after the commit', async () => {
  await make('web');
  await make('api');
  const tunnelIn = async (projectSlug?: string) =>
    String((await ann.call('POST', '/tunnels', { localPort: 3000, projectSlug })).body['id']);
  const [one, two, other, plain] = [
    await tunnelIn('web'),
    await tunnelIn('web'),
    await tunnelIn('api'),
    await tunnelIn(),
  ];
  const key = await keyOf('web');
  const kept = await keyOf('api');
  plane.deltas.length = 0;
  const gone = await ann.call('DELETE', '/projects/web');
  assert.deepEqual([gone.status, gone.body], [200, { success: true, deletedTunnels: 2, revokedTokens: 1 }]);

  const [first, ...rest] = plane.deltas.map((delta) => {
    if (delta.kind === 'revoke_token') return delta.tokenId;
    return delta.kind === 'remove' ? delta.tunnelId : delta.kind;
  });
  assert.equal(first, key.row.id, 'the key first: it is why its agents go');
  assert.deepEqual(new Set(rest), new Set([one, two]));
  const live = (await ann.call('GET', '/tunnels')).body as unknown as ReadonlyArray<Record<string, unknown>>;
  assert.deepEqual(new Set(live.map(({ id }) => id)), new Set([other, plain]));
  const admitted = async (token: MintedToken) => (await plane.control.link.admit(token.apiKey)).ok;
  assert.deepEqual([await admitted(key), await admitted(kept)], [false, true]);
  for (const [method, body] of [['GET'], ['DELETE'], ['PATCH', { name: 'x' }]] as const) {
    assert.deepEqual(said(await ann.call(method, '/projects/web', body)), [404, 'not_found'], method);
  }
  assert.deepEqual(said(await ann.call('POST', '/tunnels', { localPort: 1, projectSlug: 'web' })), [404, 'not_found']);
  assert.notEqual(rowOf('web')?.deletedAt, null, 'soft');

  const auditLog = plane.control.store.db.select().from(auditEvents).where(eq(auditEvents.orgId, ann.home)).all();
  const actions = auditLog.map(({ action }) => action);
  assert.equal(actions.filter((action) => action === 'tunnel.delete').length, 2);
  assert.equal(actions.filter((action) => action === 'token.revoke').length, 1);
  const entry = auditLog.find(({ action }) => action === 'project.delete');
  assert.deepEqual(entry?.details, { slug: 'web', deletedTunnels: 2, revokedTokens: 1 });
  assert.equal(entry?.actorLabel, ann.email);
});

test('a deleted slug may be used again: a new project, in which old keys stay dead and own names are free at once', async () => {
  const first = await make('web');
  await ann.call('POST', '/tunnels', { localPort: 3000, subdomain: 'a', projectSlug: 'web' });
  const key = await keyOf('web');
  await ann.call('DELETE', '/projects/web');
  const bob = await team.person('bob@example.test');
  const byBob = () => bob.call('POST', '/tunnels', { localPort: 3000, subdomain: 'a-web' });
  assert.deepEqual(said(await byBob()), [409, 'duplicate_name'], 'it rests');

  const second = await make('web');
  assert.equal(second.status, 201);
  assert.notEqual(second.body['id'], first.body['id']);
  assert.deepEqual([second.body['tunnels'], second.body['tokens']], [0, 0]);
  assert.equal(await plane.refusal(key, { subdomain: 'b' }), 'unauthorized');
  const again = await ann.call('POST', '/tunnels', { localPort: 3000, subdomain: 'a', projectSlug: 'web' });
  assert.deepEqual([again.status, again.body['subdomain']], [201, 'a-web']);
});

test("another organization's project is none", async () => {
  const bob = await team.person('bob@example.test');
  await make('theirs', 'Theirs', bob);
  const opened = await ann.call('POST', '/tunnels', { localPort: 3000, projectSlug: 'theirs' });
  assert.deepEqual(said(opened), [404, 'not_found']);
  assert.deepEqual(said(await ann.call('GET', '/projects/theirs')), [404, 'not_found']);
  assert.deepEqual(said(await ann.call('DELETE', '/projects/theirs')), [404, 'not_found']);
  assert.equal((await bob.call('GET', '/projects/theirs')).status, 200);
});

test('projects: every change is in the audit log, and a call without a change is not', async () => {
  await make('web');
  await ann.call('PATCH', '/projects/web', { name: 'Shop' });
  await ann.call('PATCH', '/projects/web', { name: 'Shop' });
  await ann.call('DELETE', '/projects/web');
  const auditLog = plane.control.store.db.select().from(auditEvents).where(eq(auditEvents.orgId, ann.home)).all();
  const entries = auditLog.filter(({ resourceType }) => resourceType === 'project');
  assert.deepEqual(
    entries.map(({ action, details, resourceId }) => [action, details, resourceId]),
    [
      ['project.create', { slug: 'web' }, rowOf('web')?.id],
      ['project.update', null, rowOf('web')?.id],
      ['project.delete', { slug: 'web', deletedTunnels: 0, revokedTokens: 0 }, rowOf('web')?.id],
    ],
  );
  assert.deepEqual(
    entries.map(({ resourceName, changes }) => [resourceName, changes]),
    [
      ['Web shop', null],
      ['Shop', [{ field: 'name', from: 'Web shop', to: 'Shop' }]],
      ['Shop', null],
    ],
  );
});

test('the default project stays', async () => {
  const answer = await ann.call('DELETE', '/projects/default');
  assert.deepEqual(said(answer), [400, 'invalid_request']);
  assert.equal((await ann.call('GET', '/projects/default')).status, 200);
});

test('a delete whose commit fails deletes nothing and notifies no listener', async () => {
  await make('web');
  await ann.call('POST', '/tunnels', { localPort: 3000, projectSlug: 'web' });
  await keyOf('web');
  plane.deltas.length = 0;
  plane.control.store.db.run("CREATE TRIGGER doom BEFORE UPDATE ON projects BEGIN SELECT RAISE(ABORT, 'no'); END");
  assert.equal((await ann.call('DELETE', '/projects/web')).status, 500);
  plane.control.store.db.run('DROP TRIGGER doom');
  assert.equal(plane.deltas.length, 0);
  const { body } = await ann.call('GET', '/projects/web');
  assert.deepEqual([body['tunnels'], body['tokens']], [1, 1]);
  assert.equal(
    plane.control.store.db
      .select()
      .from(tunnels)
      .all()
      .filter(({ deletedAt }) => deletedAt !== null).length,
    0,
  );
});
