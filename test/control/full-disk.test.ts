/** A database that can take no more, over HTTP: nothing is promised that can't be kept, and it is said alike for every address. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { sql } from 'drizzle-orm';
import { spentOnce, users } from '../../src/control/db/schema.ts';
import { Passwords } from '../../src/control/core/secrets/passwords.ts';
import type { Answer } from '../../src/control/core/testing/harness.ts';
import { type PlaneApi, servePlane } from '../../src/control/core/testing/plane-api.ts';
import { Plane } from '../../src/control/core/testing/plane.ts';
import { kindsTo } from '../../src/control/core/testing/outbox.ts';

const ANN = 'ann@example.test';
const PASSWORD = 'correct horse battery';

let plane: Plane;
let api: PlaneApi;
beforeEach(async () => {
  plane = new Plane();
  api = await servePlane(plane, {
    discovery: () => ({
      version: '1',
      agent_address: 'a:1',
      agent_addresses: ['a:1'],
      edge_domain: 'a',
      api_url: 'http://a',
      server_id: '',
    }),
  });
  await plane.control.accounts.createUser({ email: ANN, name: '', plan: 'free', superadmin: false });
});
afterEach(async () => {
  mock.restoreAll();
  await api.close();
  plane.close();
});

const post = (path: string, body: object): Promise<Answer> => api.call('POST', path, { body });
/** As it is some seconds later. */
const ready = async (): Promise<number> => {
  await plane.control.health.look();
  return (await api.call('GET', '/ready')).status;
};
/** As on a disk of so many pages; 1 is less than there are. */
const allowPages = (count: number): void =>
  void plane.control.store.db.get(sql.raw(`PRAGMA max_page_count = ${count}`));
/** A write that needs new pages. */
const fail = (): void =>
  assert.throws(() =>
    plane.control.store.inTx((tx) =>
      tx.db
        .insert(spentOnce)
        .values({ id: 'y'.repeat(100_000), expiresAt: 0 })
        .run(),
    ),
  );

test('while nothing can be stored the server is not ready, and promises no account and no email', async () => {
  assert.equal(await ready(), 200);
  allowPages(1);
  fail();
  assert.equal(await ready(), 503);
  const hash = mock.method(Passwords.prototype, 'hash');
  for (const [path, more] of [
    ['/auth/signup', { password: PASSWORD }],
    ['/auth/forgot', {}],
    ['/auth/resend-verify-otp', {}],
  ] as const) {
    const answers: string[] = [];
    for (const email of [ANN, 'new@example.test']) {
      const { status, text, body } = await post(path, { email, ...more });
      assert.equal(`${status} ${String(body['error'])}`, '503 unavailable', path);
      assert.match(String(body['message']), /disk/);
      answers.push(text);
    }
    assert.equal(new Set(answers).size, 1);
  }
  assert.equal(hash.mock.callCount(), 0);
  assert.deepEqual(kindsTo(plane, ANN), []);

  allowPages(1_000_000);
  assert.equal((await post('/auth/signup', { email: 'new@example.test', password: PASSWORD })).status, 201);
  assert.equal(await ready(), 200);
  assert.equal(plane.control.store.db.select().from(users).all().length, 2);
  assert.deepEqual(kindsTo(plane, 'new@example.test'), ['verify_email']);
});

test('what the API writes before its answer is 503 while the disk takes nothing, and works after', async () => {
  const made = await plane.control.accounts.createUser({
    email: 'b@x.test',
    name: '',
    plan: 'free',
    superadmin: false,
  });
  const login = (): Promise<Answer> => post('/auth/login', { email: 'b@x.test', password: made.password.reveal() });
  plane.control.store.db.run(sql`PRAGMA query_only = ON`);
  const refused = await login();
  assert.equal(`${refused.status} ${String(refused.body['error'])}`, '503 unavailable');
  assert.equal(await ready(), 503);
  plane.control.store.db.run(sql`PRAGMA query_only = OFF`);
  assert.equal((await login()).status, 200);
  assert.equal(await ready(), 200);
});
