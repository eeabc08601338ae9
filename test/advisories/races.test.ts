/** What two requests at once, or one sent twice, could do that neither may: on a clock that stands still. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eq } from 'drizzle-orm';
import { memberships } from '../../src/control/db/schema.ts';
import { MfaPerson } from '../../src/control/auth/mfa/testing.ts';
import { Plane } from '../../src/control/core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../../src/control/core/testing/plane-api.ts';
import { Team } from '../../src/control/core/testing/team.ts';

const WITHIN = { timeout: 120_000 };
let plane: Plane;
let api: PlaneApi;
let team: Team;
before(async () => {
  plane = new Plane();
  api = await servePlane(plane);
  team = new Team(plane, api);
});
after(async () => {
  await api.close();
  plane.close();
});

test('GO-2026-5646 NetBird: owners who demote, remove or leave at once leave one', WITHIN, async () => {
  for (const [action, method, body] of [
    ['demote', 'PATCH', { role: 'viewer' }],
    ['remove', 'DELETE', undefined],
    ['leave', 'DELETE', undefined],
  ] as const) {
    const one = await team.person(`one-${action}@example.test`);
    const two = await team.member(`two-${action}@example.test`, one, 'owner');
    const tokens = [one.token, await team.acting(two, one.home)];
    const ids = action === 'leave' ? [one.id, two.id] : [two.id, one.id];
    const answers = await Promise.all(
      tokens.map((as, i) =>
        api.call(method, `/orgs/${one.home}/members/${ids[i]}`, { as, ...(body === undefined ? {} : { body }) }),
      ),
    );
    assert.equal(
      answers.filter(({ status }) => status < 300).length,
      1,
      `${action}: ${answers.map(({ text }) => text).join()}`,
    );
    const { store } = plane.control;
    const owners = store.db.select().from(memberships).where(eq(memberships.orgId, one.home)).all();
    assert.equal(owners.filter(({ role }) => role === 'owner').length, 1, action);
  }
});

test('GO-2026-5646 NetBird: an admin makes no owner, of themselves or by an invitation', WITHIN, async () => {
  const owner = await team.person('owner@example.test');
  const admin = await team.member('admin@example.test', owner, 'admin');
  const as = await team.acting(admin, owner.home);
  for (const [method, path, body] of [
    ['PATCH', `/orgs/${owner.home}/members/${admin.id}`, { role: 'owner' }],
    ['PATCH', `/orgs/${owner.home}/members/${owner.id}`, { role: 'viewer' }],
    ['DELETE', `/orgs/${owner.home}/members/${owner.id}`, undefined],
    ['POST', `/orgs/${owner.home}/invitations`, { email: 'x@example.test', role: 'owner' }],
    ['DELETE', `/orgs/${owner.home}`, undefined],
  ] as const) {
    const { status } = await api.call(method, path, { as, ...(body === undefined ? {} : { body }) });
    assert.equal(status, 403, `${method} ${path}`);
  }
});

test(
  'wg-easy #2668: a code of an authenticator, a challenge and a recovery code are good once, also at once',
  WITHIN,
  async () => {
    const ann = await MfaPerson.protected(plane, api, 'factor@example.test');
    plane.now += 30_000;
    const code = ann.code();
    const challenges = await Promise.all(Array.from({ length: 4 }, () => ann.challenge()));
    const byCode = await Promise.all(challenges.map((challenge) => ann.second({ code }, challenge)));
    assert.equal(byCode.filter(({ status }) => status === 200).length, 1);
    const [recovery] = ann.codes;
    const more = await Promise.all(Array.from({ length: 4 }, () => ann.challenge()));
    const byRecovery = await Promise.all(more.map((challenge) => ann.second({ recovery_code: recovery }, challenge)));
    assert.equal(byRecovery.filter(({ status }) => status === 200).length, 1);
  },
);

test('class 9 auth endpoints: of many uses of one refresh cookie at once exactly one succeeds', WITHIN, async () => {
  const person = await team.person('tabs@example.test');
  const login = await api.call('POST', '/auth/login', { body: { email: person.email, password: person.password } });
  const cookie = (login.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  const answers = await Promise.all(
    Array.from({ length: 6 }, () => api.call('POST', '/auth/refresh', { headers: { cookie } })),
  );
  assert.equal(answers.filter(({ status }) => status === 200).length, 1);
  assert.ok(answers.every(({ status }) => status === 200 || status === 401));
});

test('class 8 tokens: keys that are minted while their master key is revoked die with it', WITHIN, async () => {
  const ann = await team.person('minter@example.test');
  await ann.call('POST', '/projects', { slug: 'web', name: 'Web' });
  const master = (await ann.call('POST', '/tokens/master', { name: 'm' })).body;
  const as = String(master['apiKey']);
  const mint = () => api.call('POST', '/projects/web/tokens', { as, body: { name: 'child' } });
  const answers = await Promise.all([
    mint(),
    mint(),
    ann.call('DELETE', `/tokens/${String(master['nonce'])}`),
    mint(),
    mint(),
  ]);
  assert.ok(answers.some(({ status }) => status < 300));
  const tokens = (await ann.call('GET', '/tokens')).body as unknown as Array<{ name: string; revoked: boolean }>;
  for (const token of tokens.filter(({ name }) => name === 'child')) assert.equal(token.revoked, true);
  assert.equal((await mint()).status, 401);
});
