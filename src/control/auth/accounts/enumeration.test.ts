/**
 * No response reveals whether an address has an account: for each route that takes an address, the same status, headers and body,
 * the same computing, nothing that differs before the answer, and something to write in every case.
 */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { sql } from 'drizzle-orm';
import { Passwords } from '../../core/secrets/passwords.ts';
import type { Visit } from '../../core/rules/caller.ts';
import type { Answer } from '../../core/testing/harness.ts';
import { type PlaneApi, servePlane } from '../../core/testing/plane-api.ts';
import { Plane, VISIT } from '../../core/testing/plane.ts';
import { kindsTo, lastEmail } from '../../core/testing/outbox.ts';

const PASSWORD = 'correct horse battery';
const ADDRESSES = {
  verified: 'ann@example.test',
  unverified: 'bob@example.test',
  'without a password': 'cid@example.test',
  burned: 'dan@example.test',
  'with a code that has run out': 'eve@example.test',
  unknown: 'absent@example.test',
  impossible: 'no address at all',
} as const;

let plane: Plane;
let api: PlaneApi;
beforeEach(async () => {
  plane = new Plane();
  api = await servePlane(plane);
  const { signUp } = plane.control;
  const register = (email: string): Promise<void> =>
    signUp.signUp({ email, password: PASSWORD, name: '', organizationName: '' }, VISIT);
  await register(ADDRESSES['with a code that has run out']);
  plane.now += 3_600_000;
  for (const who of ['verified', 'unverified', 'without a password', 'burned'] as const) await register(ADDRESSES[who]);
  for (const who of ['verified', 'without a password'] as const) {
    const { code } = lastEmail(plane, ADDRESSES[who], 'verify_email');
    signUp.verify({ email: ADDRESSES[who], code }, VISIT);
  }
  plane.control.store.db.run(
    sql`UPDATE users SET password_hash = NULL WHERE email = ${ADDRESSES['without a password']}`,
  );
  for (let i = 0; i < 5; i++) {
    assert.throws(() => signUp.verify({ email: ADDRESSES.burned, code: wrongCode(ADDRESSES.burned) }, VISIT));
  }
});
afterEach(async () => {
  mock.restoreAll();
  await api.close();
  plane.close();
});

function wrongCode(email: string): string {
  const { code } = lastEmail(plane, email, 'verify_email');
  return code === '000000' ? '000001' : '000000';
}

const written = (): number => plane.control.store.db.get<{ n: number }>(sql`SELECT total_changes() AS n`).n;

/** All that a caller sees. The time of day is the same for all. */
function seen({ status, headers, text }: Answer): string {
  const lines = [...headers].filter(([name]) => name !== 'date').map(([name, value]) => `${name}: ${value}`);
  return [status, ...lines, text].join('\n');
}

interface Route {
  readonly path: string;
  readonly body: (email: string) => object;
  readonly status: number;
  /** Argon2 runs. */
  readonly runs: number;
}

const ROUTES: readonly Route[] = [
  { path: '/auth/forgot', body: (email) => ({ email }), status: 202, runs: 0 },
  { path: '/auth/resend-verify-otp', body: (email) => ({ email }), status: 200, runs: 0 },
  { path: '/auth/login', body: (email) => ({ email, password: 'not the password' }), status: 401, runs: 1 },
  { path: '/auth/verify-email-otp', body: (email) => ({ email, code: 'x' }), status: 400, runs: 0 },
  { path: '/auth/verify-email-otp', body: (email) => ({ email, code: '271828' }), status: 400, runs: 0 },
  { path: '/auth/signup', body: (email) => ({ email, password: 'seven green bottles' }), status: 201, runs: 1 },
];

for (const { path, body, status, runs } of ROUTES) {
  test(`${path} answers, computes and writes alike for every address: ${JSON.stringify(body('…'))}`, async () => {
    const hash = mock.method(Passwords.prototype, 'hash');
    const verify = mock.method(Passwords.prototype, 'verify');
    const answers = new Map<string, string[]>();
    for (const [who, email] of Object.entries(ADDRESSES)) {
      // A malformed address is refused before anything is looked up.
      if (path === '/auth/signup' && who === 'impossible') continue;
      const before = written();
      const answer = await api.call('POST', path, { body: body(email) });
      const what = seen(answer);
      assert.equal(answer.status, status, `${who}: ${what}`);
      answers.set(what, [...(answers.get(what) ?? []), who]);
      assert.equal(hash.mock.callCount() + verify.mock.callCount(), runs, who);
      assert.ok(written() > before, `${who}: nothing was written`);
      hash.mock.resetCalls();
      verify.mock.resetCalls();
    }
    assert.deepEqual(
      [...answers.values()].length,
      1,
      [...answers].map(([text, who]) => `${who}: ${text}`).join('\n\n'),
    );
  });
}

test('a burned or outrun code that is right fails as any other', async () => {
  const answers = new Set<string>();
  for (const email of [ADDRESSES.burned, ADDRESSES['with a code that has run out'], ADDRESSES.verified]) {
    const { code } = lastEmail(plane, email, 'verify_email');
    answers.add(seen(await api.call('POST', '/auth/verify-email-otp', { body: { email, code } })));
  }
  answers.add(seen(await api.call('POST', '/auth/verify-email-otp', { body: { email: 'x@y', code: '000000' } })));
  assert.equal(answers.size, 1, [...answers].join('\n\n'));
});

test('enumeration: beyond the limit of emails the responses stay the same, and something is still written', async () => {
  for (const path of ['/auth/forgot', '/auth/resend-verify-otp']) {
    const answers = new Set<string>();
    for (let i = 0; i < 8; i++) {
      const before = written();
      answers.add(seen(await api.call('POST', path, { body: { email: ADDRESSES.unverified } })));
      assert.ok(written() > before);
    }
    assert.equal(answers.size, 1);
  }
});

test('before the answer nothing is looked up or stored for sign-up, forgot and resend', async () => {
  const work: Array<() => void> = [];
  const visit: Visit = { ...VISIT, afterAnswer: (later) => void work.push(later) };
  const { signUp, passwordReset, store } = plane.control;
  const transactions = mock.method(store, 'inTx');
  const reads = mock.method(store.db, 'select');
  for (const email of Object.values(ADDRESSES)) {
    await signUp.signUp({ email, password: PASSWORD, name: '', organizationName: '' }, visit);
    passwordReset.forgot(email, visit);
    signUp.resend(email, visit);
  }
  assert.equal(transactions.mock.callCount() + reads.mock.callCount(), 0);
  assert.equal(work.length, 3 * Object.keys(ADDRESSES).length);
  const before = kindsTo(plane, ADDRESSES.verified).length;
  for (const later of work) later();
  assert.deepEqual(kindsTo(plane, ADDRESSES.verified).slice(before), ['already_registered', 'password_reset']);
});

test('writes that any stranger can cause do not wait for the disk', async () => {
  const { store } = plane.control;
  const inTx = mock.method(store, 'inTx');
  for (const { path, body } of ROUTES) {
    for (const email of [ADDRESSES.unverified, ADDRESSES.unknown]) await api.call('POST', path, { body: body(email) });
  }
  assert.ok(inTx.mock.callCount() >= 2 * ROUTES.length);
  for (const call of inTx.mock.calls) assert.deepEqual(call.arguments[1], { relaxed: true });
});
