/** Accounts and organizations by the REST API of a real server: roles and reads gained by writing more fields than the form has. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Account } from '../harness.ts';
import { accountOf, answersIn, type Ask, request, say as sayTo, serverFixture } from './fixture.ts';

const WITHIN = { timeout: 120_000 };
const fixture = serverFixture();

interface Me {
  readonly user: { readonly id: string; readonly email: string };
  readonly active_org: { readonly id: string; readonly role: string };
  readonly is_superadmin: boolean;
  readonly entitlements: { readonly plan: string };
}
const me = async (account: Account): Promise<Me> => (await account.call('GET', '/auth/me')).body as unknown as Me;
const ask: Ask = (...request) => fixture().ask(...request);

test('CVE-2026-3209 Pangolin: a body that names other things changes none of them', WITHIN, async () => {
  const { ann, eve, tunnelOf } = fixture();
  const [annMe, eveMe] = [await me(ann), await me(eve)];
  const [shop, shed] = [await tunnelOf(ann, 'shop'), await tunnelOf(eve, 'shed')];
  const foreign = {
    ...{ id: shop, tunnel_id: shop, tunnelId: shop, org_id: annMe.active_org.id, orgId: annMe.active_org.id },
    ...{ user_id: annMe.user.id, userId: annMe.user.id, roleIds: [1], role: 'owner' },
  };
  await eve.call('PUT', `/tunnels/${shed}/auth`, { username: 'eve', password: 'eve eve eve', ...foreign });
  await eve.call('PUT', `/tunnels/${shed}/maintenance`, { ...foreign, message: 'by eve' });
  await eve.call('PUT', `/tunnels/${shed}/policy`, { actions: [{ kind: 'deny', path_prefix: '/' }], ...foreign });
  await eve.call('PATCH', `/orgs/${eveMe.active_org.id}`, { name: 'Eve', ...foreign });
  await eve.call('PATCH', `/orgs/${eveMe.active_org.id}/members/${eveMe.user.id}`, { ...foreign });
  await eve.call('POST', '/tunnels', { localPort: 1, subdomain: 'bait', ...foreign });
  const seen = (await ann.call('GET', `/tunnels/${shop}`)).body;
  assert.deepEqual([seen['authEnabled'], seen['maintenance'], seen['policyEnabled']], [false, false, false]);
  assert.match(await fixture().say(request('GET /', 'Host: shop.localhost')), /^HTTP\/1\.1 200 /);
  const lists = JSON.stringify((await ann.call('GET', '/tunnels')).body);
  assert.ok(!lists.includes('bait'), 'made in the organization of the caller');
  assert.deepEqual(await me(ann), annMe);
  await eve.call('DELETE', `/tunnels/${shed}/auth`);
  await eve.call('DELETE', `/tunnels/${shed}/maintenance`);
  await eve.call('DELETE', `/tunnels/${shed}/policy`);
});

test('CVE-2026-27899 wg-portal: no user writes their own role, plan or verification', WITHIN, async () => {
  const { ann } = fixture();
  const mallory = await accountOf(ann, 'mallory@example.test');
  const before = await me(mallory);
  const more = {
    ...{ is_superadmin: true, isSuperadmin: true, superadmin: true, is_admin: true, role: 'owner', plan: 'enterprise' },
    ...{
      email: 'admin@localhost',
      email_verified: true,
      approval_status: 'approved',
      mfa_enabled: false,
      locked: false,
    },
    ...{
      entitlements: { plan: 'enterprise' },
      active_org: { role: 'owner' },
      __proto__: { superadmin: true },
      constructor: {},
    },
  };
  await mallory.call('PATCH', '/auth/me', { name: 'Mallory', ...more });
  await mallory.call('PATCH', `/orgs/${before.active_org.id}`, { name: 'M', ...more });
  await mallory.call('POST', '/orgs', { name: 'Second', ...more });
  const after = await me(mallory);
  assert.deepEqual(
    [after.user.email, after.is_superadmin, after.entitlements, after.active_org.role],
    [before.user.email, before.is_superadmin, before.entitlements, before.active_org.role],
  );
  assert.equal((await mallory.call('GET', '/superadmin/users')).status, 403);
  const made = await ask('POST', '/auth/signup', { ...more, email: 'new@example.test', password: 'a long password' });
  assert.equal(made.status, 201);
  const login = await ask('POST', '/auth/login', { ...more, email: 'new@example.test', password: 'a long password' });
  assert.equal(login.status, 403, 'the address is not proven by saying so');
});

test('zrok 2.0.1: the id of another organization’s row gives a 404', WITHIN, async () => {
  const { ann, eve, tunnelOf } = fixture();
  const shop = await tunnelOf(ann, 'shop');
  const { user, active_org: org } = await me(ann);
  const minted = (await ann.call('POST', '/tokens', { name: 'mine' })).body;
  const nonce = String(minted['nonce']);
  for (const [method, path, body] of [
    ['GET', `/tunnels/${shop}`],
    ['DELETE', `/tunnels/${shop}`],
    ['POST', `/tunnels/${shop}/stop`],
    ['PUT', `/tunnels/${shop}/auth`, { username: 'eve', password: 'eve eve eve' }],
    ['DELETE', `/tunnels/${shop}/auth`],
    ['PUT', `/tunnels/${shop}/policy`, { actions: [] }],
    ['PUT', `/tunnels/${shop}/maintenance`],
    ['POST', `/tokens/${nonce}/rotate`],
    ['DELETE', `/tokens/${nonce}`],
    ['PUT', `/tokens/${nonce}/budget`, { monthlyBudgetUsdCents: 0 }],
    ['GET', `/orgs/${org.id}`],
    ['GET', `/orgs/${org.id}/members`],
    ['PATCH', `/orgs/${org.id}/members/${user.id}`, { role: 'viewer' }],
    ['DELETE', `/orgs/${org.id}/members/${user.id}`],
    ['POST', `/orgs/${org.id}/invitations`, { email: 'eve@example.test', role: 'owner' }],
    ['POST', '/auth/switch-org', { org_id: org.id }],
  ] as const) {
    const { status, body: said } = await eve.call(method, path, body);
    assert.deepEqual([status, said['error']], [404, 'not_found'], `${method} ${path}`);
  }
  assert.match(await fixture().say(request('GET /', 'Host: shop.localhost')), /^HTTP\/1\.1 200 /);
});

test(
  'zrok 2.0.1: a page of the edge shows text, and nothing that a visitor or an owner can make a script of',
  WITHIN,
  async () => {
    const { ann, tunnelOf } = fixture();
    const shop = await tunnelOf(ann, 'shop');
    const script = `"'></p><script>alert(1)</script><img src=x onerror=alert(1)>`;
    await ann.call('PUT', `/tunnels/${shop}/maintenance`, { message: script });
    const html = 'Accept: text/html';
    const down = await fixture().say(request(`GET /${encodeURI(script)}`, 'Host: shop.localhost', html));
    const lost = await fixture().say(
      request('GET /<script>alert(1)</script>?"><script>', 'Host: none.localhost', html, 'Referer: <script>'),
    );
    const bad = await fixture().say(`GET /<script> HTTP/1.1\r\nHost: <script>\r\nAccept: text/html\r\n\r\n`);
    for (const text of [down, lost, bad]) {
      assert.doesNotMatch(text, /<script>|<img/i, text);
      assert.match(text, /\r\nX-Content-Type-Options: nosniff\r\n/);
    }
    assert.match(down, /\r\nContent-Security-Policy: default-src 'none'[^]*&lt;script&gt;/);
    await ann.call('DELETE', `/tunnels/${shop}/maintenance`);
  },
);

test('zrok 2.0.1: a password reset gets the same response for known and unknown addresses', WITHIN, async () => {
  const answers = await Promise.all(
    ['admin@localhost', 'unknown@example.test', 'eve@example.test'].map(async (email) => {
      const answer = await ask('POST', '/auth/forgot', { email });
      return [answer.status, await answer.text()];
    }),
  );
  assert.deepEqual(answers[0], answers[1]);
  assert.deepEqual(answers[1], answers[2]);
});

test('zrok 2.0.1: many cookies and large ones are passed on, or refused, and break nothing', WITHIN, async () => {
  const cookie = (count: number, size: number): string =>
    `Cookie: ${Array.from({ length: count }, (_, i) => `c${i}=${'x'.repeat(size)}`).join('; ')}`;
  const visit = (...fields: string[]) => fixture().say(request('GET /', 'Host: shop.localhost', ...fields));
  fixture().take();
  assert.match(await visit(cookie(300, 20)), /^HTTP\/1\.1 200 /);
  assert.match(await visit(...Array.from({ length: 50 }, () => cookie(1, 100))), /^HTTP\/1\.1 200 /);
  assert.equal(fixture().take()[0]?.headers.cookie?.split('; ').length, 300);
  for (const many of [[cookie(1, 40_000)], Array.from({ length: 150 }, () => cookie(1, 1))])
    assert.match(await visit(...many), /^HTTP\/1\.1 431 /);
  const api = await ask('GET', '/auth/me', undefined, {
    cookie: Array.from({ length: 300 }, () => 'qnt_refresh=x').join('; '),
  });
  assert.equal(api.status, 401);
});

test('sish c228e55: an empty password is none, anywhere', WITHIN, async () => {
  const { ann, tunnelOf } = fixture();
  const shop = await tunnelOf(ann, 'shop');
  for (const body of [
    { username: '', password: '' },
    { username: 'ann', password: '' },
    { username: '', password: 'long enough' },
    { username: 'ann', password: null },
    { username: 'ann' },
    { password: 'long enough' },
    { username: 'ann', password: ['x'] },
    {},
  ])
    assert.equal((await ann.call('PUT', `/tunnels/${shop}/auth`, body)).status, 400, JSON.stringify(body));
  for (const password of ['', ' ', null, undefined, '\0', [], {}, true])
    assert.ok(
      (await ask('POST', '/auth/login', { email: 'admin@localhost', password })).status >= 400,
      String(password),
    );
});

test('sish #338: an empty bearer, cookie or key is none', WITHIN, async () => {
  for (const value of [
    'Bearer ',
    'Bearer',
    'Bearer null',
    'Bearer undefined',
    'Bearer mtk_',
    'Bearer mtk_master_',
    'Basic Og==',
    '',
  ])
    assert.equal((await ask('GET', '/auth/me', undefined, { authorization: value })).status, 401, value);
  for (const cookie of ['qnt_refresh=', 'qnt_refresh', 'qnt_refresh=null', 'qnt_refresh=.'])
    assert.equal((await ask('POST', '/auth/refresh', undefined, { cookie })).status, 401, cookie);
});

test('CVE-2025-10678 NetBird: a fresh server has no known password', WITHIN, async () => {
  for (const password of ['admin', 'password', 'admin@localhost', 'culvert', 'changeme', 'Password1', '123456789012'])
    assert.equal((await ask('POST', '/auth/login', { email: 'admin@localhost', password })).status, 401, password);
  const { culvert } = fixture();
  assert.ok((culvert.server.firstOwner?.password.reveal().length ?? 0) >= 16);
});

test('wg-portal 316f389: events of one organization reach no other', WITHIN, async () => {
  const { ann, eve } = fixture();
  await ann.call('POST', '/tokens', { name: 'marker-of-ann' });
  for (const query of ['', '?limit=100', '?actor=admin@localhost', `?org_id=${(await me(ann)).active_org.id}`]) {
    const { body } = await eve.call('GET', `/events${query}`);
    assert.ok(!JSON.stringify(body).includes('marker-of-ann'), query);
  }
  assert.ok(JSON.stringify((await ann.call('GET', '/events')).body).includes('marker-of-ann'));
});

test(
  'class 10 tenant isolation: lists, feeds and trails of one organization hold nothing of another',
  WITHIN,
  async () => {
    const { ann, eve, tunnelOf } = fixture();
    const marks = [await tunnelOf(ann, 'shop'), (await me(ann)).active_org.id, 'admin@localhost'];
    for (const path of [
      '/tunnels',
      '/tokens',
      '/projects',
      '/domains',
      '/reserved-subdomains',
      '/connections',
      '/events',
      '/me/events',
      '/orgs',
      '/auth/sessions',
      '/billing',
    ]) {
      const { status, body } = await eve.call('GET', path);
      assert.equal(status, 200, path);
      for (const mark of marks) assert.ok(!JSON.stringify(body).includes(mark), `${path} holds ${mark}`);
    }
    assert.equal((await eve.call('GET', '/superadmin/orgs')).status, 403);
  },
);

test(
  'NetBird InvalidKeyDoesNotCorruptExistingConfig: what is refused leaves what was there, and that holds at the edge',
  WITHIN,
  async () => {
    const { ann, tunnelOf, say } = fixture();
    const shop = await tunnelOf(ann, 'shop');
    const policy = { actions: [{ kind: 'deny', path_prefix: '/admin' }] };
    assert.equal((await ann.call('PUT', `/tunnels/${shop}/policy`, policy)).status, 200);
    assert.equal(
      (await ann.call('PUT', `/tunnels/${shop}/auth`, { username: 'ann', password: 'open sesame' })).status,
      200,
    );
    for (const wrong of [
      {},
      { actions: [{ kind: 'allow' }] },
      { actions: [{ ...policy.actions[0], enforced: true }] },
      { actions: null },
      [],
      { actions: [{ kind: 'response_header_set', name: 'Set-Cookie', value: 'a=1; Domain=localhost' }] },
    ])
      assert.equal((await ann.call('PUT', `/tunnels/${shop}/policy`, wrong)).status, 400, JSON.stringify(wrong));
    assert.equal((await ann.call('PUT', `/tunnels/${shop}/auth`, { username: 'x', password: '' })).status, 400);
    assert.deepEqual((await ann.call('GET', `/tunnels/${shop}/policy`)).body['policy'], policy);
    const basic = `Authorization: Basic ${Buffer.from('ann:open sesame').toString('base64')}`;
    const visit = async (path: string, ...fields: string[]) =>
      answersIn(await say(request(`GET ${path}`, 'Host: shop.localhost', ...fields))).join();
    assert.deepEqual(
      [await visit('/admin', basic), await visit('/'), await visit('/', basic)],
      ['403 denied', '401 unauthorized', '200'],
    );
    await ann.call('DELETE', `/tunnels/${shop}/policy`);
    await ann.call('DELETE', `/tunnels/${shop}/auth`);
    assert.equal(await visit('/admin'), '200');
  },
);

test(
  'class 1 smuggling: the API, which Node itself reads, takes nothing that can be read in two ways',
  WITHIN,
  async () => {
    const port = Number(new URL(fixture().ann.apiUrl).port);
    const post = (...fields: string[]): string => request('POST /auth/login', 'Host: localhost', ...fields);
    for (const text of [
      `${post('Content-Length: 4', 'Transfer-Encoding: chunked')}0\r\n\r\n`,
      `${post('Content-Length: 2', 'Content-Length: 3')}{}x`,
      `${post('Content-Length : 2')}{}`,
      `${post('Transfer-Encoding: chunked, identity')}0\r\n\r\n`,
      `${post('Transfer-Encoding: xchunked')}0\r\n\r\n`,
      `${post('X: 1\rContent-Length: 2')}{}`,
      `${post('Transfer-Encoding: chunked')}0;\n\r\n\r\n`,
      post('X: 1').replaceAll('\r\n', '\n'),
    ]) {
      const answer = await sayTo(port, `${text}GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n`);
      assert.match(answer, /^(HTTP\/1\.1 400 [^]*)?$/, JSON.stringify(text));
      assert.doesNotMatch(answer, /HTTP\/1\.1 200/, JSON.stringify(text));
    }
  },
);
