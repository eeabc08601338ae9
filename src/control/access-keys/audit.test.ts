/** Audit entries of tokens, which they outlive: mints, rotations, and the cause of each end. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { and, eq } from 'drizzle-orm';
import { auditEvents } from '../db/schema.ts';
import { type Key, keyOf, mint, mintMaster } from './testing.ts';
import { Plane, START } from '../core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../core/testing/plane-api.ts';
import { type Person, said, Team } from '../core/testing/team.ts';

const HOUR = 3_600_000;
let plane: Plane;
let api: PlaneApi;
let team: Team;
let ann: Person;
beforeEach(async () => {
  plane = new Plane();
  api = await servePlane(plane);
  team = new Team(plane, api);
  ann = await team.person('ann@example.test');
  await ann.call('POST', '/projects', { slug: 'web', name: 'Web' });
});
afterEach(async () => {
  await api.close();
  plane.close();
});

const detailsOf = (action: string, { nonce }: Pick<Key, 'nonce'>) => {
  const which = and(eq(auditEvents.action, action), eq(auditEvents.resourceId, nonce));
  return plane.control.store.db.select().from(auditEvents).where(which).get()?.details;
};
const mintBy = async (master: Key, body: object = {}): Promise<Key> =>
  keyOf(await api.call('POST', '/projects/web/tokens', { as: master.apiKey, body: { name: 'job', ...body } }));

test('a mint says what it made: a master key, a key of a project with its master key, a token with its scope', async () => {
  const master = await mintMaster(ann, { monthlyBudgetUsdCents: 700 });
  const child = await mintBy(master, { allowed_subdomains: ['pr-*', 'shop'] });
  const agent = await mint(ann, { ttlHours: 2, tunnelQuota: 3 });
  const standard = { project: null, parent: null, monthly_budget_usd_cents: null };
  assert.deepEqual(detailsOf('token.mint', master), {
    ...standard,
    ...{ name: 'factory', kind: 'master', allowed_subdomains: '', tunnel_quota: 0 },
    ...{ expires_at: master.expiresAt, monthly_budget_usd_cents: 700 },
  });
  assert.deepEqual(detailsOf('token.mint', child), {
    ...standard,
    ...{ name: 'job', kind: 'project', project: 'web', parent: master.nonce },
    ...{ allowed_subdomains: 'pr-* shop', tunnel_quota: 5, expires_at: child.expiresAt },
  });
  assert.deepEqual(detailsOf('token.mint', agent), {
    ...standard,
    ...{ name: 'ci', kind: 'agent', allowed_subdomains: '*', tunnel_quota: 3, expires_at: START / 1000 + 7200 },
  });
});

test('a long list of patterns is cut, so that the audit log does not grow by it', async () => {
  const allowedSubdomains = Array.from({ length: 100 }, (_, i) => `${'x'.repeat(50)}-${i}`);
  const text = String(detailsOf('token.mint', await mint(ann, { allowedSubdomains }))?.['allowed_subdomains']);
  assert.deepEqual([text.length, text.at(-1)], [201, '…']);
});

test('a rotation says what took the place', async () => {
  const old = await mint(ann);
  const fresh = keyOf(await ann.call('POST', `/tokens/${old.nonce}/rotate`, { graceHours: 1 }));
  assert.deepEqual(detailsOf('token.rotate', old), {
    ...{ replaced_by: fresh.nonce, grace_hours: 1, name: 'ci', kind: 'agent', project: null, parent: null },
    ...{ allowed_subdomains: '*', tunnel_quota: 5, expires_at: fresh.expiresAt, monthly_budget_usd_cents: null },
  });
  plane.now += HOUR;
  plane.control.tokenEnds.endGraces();
  assert.deepEqual(detailsOf('token.revoke', old), { name: 'ci', kind: 'agent', cause: 'grace_over' });
});

test('a key that ends with its master key says which that was, however that ended', async () => {
  const ways: ReadonlyArray<(master: Key) => Promise<unknown>> = [
    ({ nonce }) => ann.call('DELETE', `/tokens/${nonce}`),
    ({ nonce }) => ann.call('POST', `/tokens/${nonce}/rotate`),
  ];
  for (const end of ways) {
    const master = await mintMaster(ann);
    const child = await mintBy(master);
    await end(master);
    assert.deepEqual(detailsOf('token.revoke', child), { name: 'job', kind: 'project', parent: master.nonce });
  }
  const bob = await team.member('bob@example.test', ann, 'admin');
  const body = { name: 'bobs' };
  const master = keyOf(await api.call('POST', '/tokens/master', { as: await team.acting(bob, ann.home), body }));
  const child = await mintBy(master);
  assert.equal((await ann.call('DELETE', `/orgs/${ann.home}/members/${bob.id}`)).status, 200);
  assert.deepEqual(detailsOf('token.revoke', master), { name: 'bobs', kind: 'master' });
  assert.deepEqual(detailsOf('token.revoke', child), { name: 'job', kind: 'project', parent: master.nonce });
});

test('a key that ends with its project, or with the account of who made it, says so', async () => {
  const key = keyOf(await ann.call('POST', '/projects/web/tokens', { name: 'job' }));
  await ann.call('DELETE', '/projects/web');
  assert.deepEqual(detailsOf('token.revoke', key), { name: 'job', kind: 'project', cause: 'project_deleted' });
  const mine = await mint(ann);
  const operator = { kind: 'operator', orgId: null, userId: null, label: 'root', ipAddress: '' } as const;
  plane.control.operatorUsers.lock(operator, ann.email);
  assert.deepEqual(detailsOf('token.revoke', mine), { name: 'ci', kind: 'agent', cause: 'account_locked' });
});

test('no token is called like a person, and none hides signs in its name', async () => {
  for (const name of ['ann@example.test', 'a\nb', 'a\u001b[2Jb', 'a\u202eb']) {
    for (const path of ['/tokens', '/tokens/master', '/projects/web/tokens'])
      assert.deepEqual(said(await ann.call('POST', path, { name })), [400, 'invalid_request'], path);
  }
});
