/** The limit of requests to `/auth/*` as strangers meet it: by the true address, whatever they write. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Harness, startHarness } from '../../src/control/core/testing/harness.ts';

const WITHIN = { timeout: 120_000 };
let h: Harness;
before(async () => {
  // The defaults of a fresh server, which believes its own machine as a proxy here.
  h = await startHarness('');
});
after(() => h.close());

/** The status of an attempt that is wrong in any case. */
async function attempt(headers: Record<string, string>): Promise<number> {
  return (await h.call('POST', '/auth/refresh', { headers: { cookie: 'qnt_refresh=rubbish', ...headers } })).status;
}
const FIVE_THEN_NONE = [401, 401, 401, 401, 401, 429, 429];

test(
  'class 9 auth endpoints: five at once and then one in twelve seconds, for an address however it is written',
  WITHIN,
  async () => {
    for (const [what, addresses] of Object.entries({
      'one address': ['203.0.113.1'],
      'what a visitor writes before the proxy': [
        '6.6.6.6, 203.0.113.2',
        '7.7.7.7, 203.0.113.2',
        'x, 203.0.113.2',
        ', 203.0.113.2',
      ],
      'IPv4 in IPv6 clothes': ['203.0.113.3', '::ffff:203.0.113.3', '::FFFF:cb00:7103'],
      'one IPv6 network': ['2001:db8:1:1::1', '2001:db8:1:1::2', '2001:db8:1:1:ffff::', '2001:0db8:0001:0001::9'],
    })) {
      const statuses: number[] = [];
      for (let i = 0; i < 7; i++)
        statuses.push(await attempt({ 'x-forwarded-for': addresses[i % addresses.length] ?? '' }));
      assert.deepEqual(statuses, FIVE_THEN_NONE, what);
    }
    assert.equal(await attempt({ 'x-forwarded-for': '203.0.113.9' }), 401, 'others are not held up');
  },
);

test(
  'class 9 auth endpoints: other headers that name an address are not read, and paths of one kind share a limit',
  WITHIN,
  async () => {
    const true4 = { 'x-forwarded-for': '203.0.113.20' };
    const statuses: number[] = [];
    for (const name of [
      'x-real-ip',
      'forwarded',
      'x-client-ip',
      'true-client-ip',
      'cf-connecting-ip',
      'x-forwarded',
      'x-cluster-client-ip',
    ])
      statuses.push(await attempt({ ...true4, [name]: `203.0.113.${statuses.length + 30}` }));
    assert.deepEqual(statuses, FIVE_THEN_NONE);
    for (const [method, path] of [
      ['POST', '/auth/login'],
      ['POST', '/auth/forgot'],
      ['POST', '/auth/signup'],
      ['POST', '/api/auth/login'],
      ['POST', '/auth/login/mfa'],
    ] as const) {
      const answer = await h.call(method, path, { headers: true4, body: { email: 'a@example.test', password: 'x' } });
      assert.equal(answer.status, 429, path);
      assert.ok(Number(answer.headers.get('retry-after')) >= 1, path);
    }
  },
);

test('class 9 auth endpoints: a known and an unknown account are answered alike', WITHIN, async () => {
  const known = await h.account('known@example.test');
  const said = async (path: string, body: object, from: string): Promise<unknown[]> => {
    const { status, text } = await h.call('POST', path, { body, headers: { 'x-forwarded-for': from } });
    return [status, text];
  };
  const both = async (path: string, body: (email: string) => object): Promise<void> =>
    assert.deepEqual(
      await said(path, body('known@example.test'), '203.0.113.40'),
      await said(path, body('unknown@example.test'), '203.0.113.41'),
      path,
    );
  await both('/auth/login', (email) => ({ email, password: 'not this one' }));
  await both('/auth/forgot', (email) => ({ email }));
  await both('/auth/resend-verify-otp', (email) => ({ email }));
  await both('/auth/signup', (email) => ({ email, password: 'a long password' }));
  assert.ok(known.password.length > 0);
});
