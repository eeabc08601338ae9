/** Ways to log in, over HTTP to a real server: forged answers of providers, addresses that lead elsewhere, codes that are guessed, cookies. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Account } from '../harness.ts';
import { codeAt, wrongCode } from '../harness/authenticator.ts';
import { Browser } from '../harness/browser.ts';
import { type Github, githubPerson, startGithub } from '../harness/github.ts';
import { accountOf, type Ask, request, say, serverFixture } from './fixture.ts';

const WITHIN = { timeout: 120_000 };
let github: Github;
const fixture = serverFixture(async (ends) => {
  github = await startGithub(ends);
  return github.settings;
});

const idOf = async (account: Account): Promise<unknown> =>
  ((await account.call('GET', '/auth/me')).body['user'] as { id: string }).id;
const ask: Ask = (...request) => fixture().ask(...request);

test('headscale 0.24: an address that the provider has not verified opens no account', WITHIN, async () => {
  const { ann } = fixture();
  const email = 'proven@example.test';
  const local = await accountOf(ann, email);
  for (const [id, emails] of [
    [7, [{ email, primary: true, verified: false, visibility: 'private' }]],
    [
      8,
      [
        { email, primary: false, verified: false, visibility: null },
        { email: 'else@example.test', primary: true, verified: true, visibility: null },
      ],
    ],
  ] as const) {
    github.current = githubPerson(id, email, { emails });
    const page = await new Browser().open(`${ann.apiUrl}/auth/oauth/github/start`, (at) =>
      at.pathname.startsWith('/app/'),
    );
    const token = page.url.searchParams.get('oauth_token');
    if (token !== null) assert.notEqual(await idOf(new Account(ann.apiUrl, token)), await idOf(local));
  }
});

test(
  'CVE-2026-81888 @hono/oauth-providers: an answer of a provider needs the state of this very browser',
  WITHIN,
  async () => {
    const { apiUrl } = fixture().ann;
    github.current = githubPerson(9, 'state@example.test');
    const browser = new Browser();
    const { url } = await browser.open(`${apiUrl}/auth/oauth/github/start`, (at) => at.pathname.endsWith('/callback'));
    const forged = (state: string | null): URL => {
      const to = new URL(url);
      if (state === null) to.searchParams.delete('state');
      else to.searchParams.set('state', state);
      return to;
    };
    for (const [what, who, to] of [
      ['absent', browser, forged(null)],
      ['empty', browser, forged('')],
      ['another', browser, forged('x'.repeat(43))],
      ['another browser', new Browser(), url],
    ] as const)
      assert.equal((await who.open(to)).status, 400, what);
    assert.equal((await browser.open(url, (at) => at.searchParams.has('oauth_token'))).status, 302);
    assert.equal((await browser.open(url)).status, 400, 'replayed');
  },
);

test('wg-portal e62db0d: a log-in ends on a page of this server, wherever it was asked to end', WITHIN, async () => {
  const { apiUrl } = fixture().ann;
  const places = [
    ...[
      'https://evil.test',
      '//evil.test',
      '/\\evil.test',
      '\\\\evil.test',
      '/\t/evil.test',
      '/%2f/evil.test',
      '/%5cevil.test',
      'javascript:alert(1)',
    ],
    ...[
      '/app/../..//evil.test',
      '/.//evil.test',
      'data:text/html,x',
      ' //evil.test',
      '///evil.test',
      '/app//evil.test/..//',
    ],
  ];
  github.current = githubPerson(10, 'return@example.test');
  for (const place of places) {
    const start = `${apiUrl}/auth/oauth/github/start?return_to=${encodeURIComponent(place)}`;
    const { url } = await new Browser().open(start, (at) => at.searchParams.has('oauth_token'));
    assert.equal(url.origin, apiUrl, place);
    assert.doesNotMatch(url.pathname, /^\/[/\\]|%2f|%5c/i, place);
  }
});

test('CVE-2026-28512 Pocket ID: a host behind a user name is no host of this server', WITHIN, async () => {
  const { apiUrl } = fixture().ann;
  const host = new URL(apiUrl).host;
  for (const place of [
    `https://${host}@evil.test`,
    `//${host}@evil.test/`,
    `http://${host}:80@evil.test`,
    `/\\${host}@evil.test`,
    `@evil.test`,
    `${apiUrl}@evil.test`,
    `${apiUrl}.evil.test`,
  ]) {
    const start = `${apiUrl}/auth/oauth/github/start?return_to=${encodeURIComponent(place)}`;
    const { url } = await new Browser().open(start, (at) => at.searchParams.has('oauth_token'));
    assert.equal(url.origin, apiUrl, place);
    const given = new URL(start);
    given.searchParams.set('redirect_uri', place);
    const { url: provider } = await new Browser().open(given, (at) => at.origin === github.url);
    assert.equal(new URL(provider.searchParams.get('redirect_uri') ?? '').origin, apiUrl, place);
  }
});

test(
  'CVE-2025-64102 ZITADEL: codes are counted per account, however many log-ins they are spread over',
  WITHIN,
  async () => {
    const { ann } = fixture();
    const made = (await ann.call('POST', '/superadmin/users', { email: 'factor@example.test' })).body;
    const person = { email: 'factor@example.test', password: String(made['password']) };
    const account = await Account.logIn(ann.apiUrl, person.email, person.password);
    const secret = String((await account.call('POST', '/auth/mfa/enroll')).body['secret_base32']);
    const now = Date.now();
    assert.equal((await account.call('POST', '/auth/mfa/enroll/verify', { code: codeAt(secret, now) })).status, 200);
    const statuses: number[] = [];
    for (let i = 0; i < 7; i++) {
      const login = (await (await ask('POST', '/auth/login', person)).json()) as { challenge_token: string };
      const tried = await ask('POST', '/auth/login/mfa', {
        challenge_token: login.challenge_token,
        code: wrongCode(secret, now),
      });
      statuses.push(tried.status);
    }
    assert.deepEqual(statuses, [401, 401, 401, 401, 401, 429, 429]);
  },
);

test(
  'CVE-2026-105211: no answer holds a code that was sent, or the secret that codes are made of',
  WITHIN,
  async () => {
    const { ann } = fixture();
    const made = (await ann.call('POST', '/superadmin/users', { email: 'quiet@example.test' })).body;
    const person = { email: 'quiet@example.test', password: String(made['password']) };
    const account = await Account.logIn(ann.apiUrl, person.email, person.password);
    const secret = String((await account.call('POST', '/auth/mfa/enroll')).body['secret_base32']);
    const verified = await account.call('POST', '/auth/mfa/enroll/verify', { code: codeAt(secret, Date.now()) });
    const texts = [
      JSON.stringify(verified.body),
      await (await ask('POST', '/auth/login', person)).text(),
      await (await ask('POST', '/auth/signup', { email: 'otp@example.test', password: 'a long password' })).text(),
      await (await ask('POST', '/auth/resend-verify-otp', { email: 'otp@example.test' })).text(),
      await (await ask('POST', '/auth/forgot', { email: person.email })).text(),
      JSON.stringify((await account.call('GET', '/auth/mfa')).body),
      JSON.stringify((await account.call('GET', '/auth/me')).body),
    ];
    for (const text of texts) {
      assert.ok(!text.includes(secret), text);
      assert.doesNotMatch(
        text.replaceAll(/"(challenge_token|recovery_codes)":("[^"]*"|\[[^\]]*\])/g, ''),
        /(?<![\w-])\d{6}(?![\w-])/,
        text,
      );
    }
  },
);

test('GHSA-mq4x-r2w3-j7mr ZITADEL: the cookie of a log-in is of one host, and no script reads it', WITHIN, async () => {
  const { culvert } = fixture();
  const password = culvert.server.firstOwner?.password.reveal();
  const cookies = (await ask('POST', '/auth/login', { email: 'admin@localhost', password })).headers.getSetCookie();
  assert.equal(cookies.length, 1);
  assert.match(cookies[0] ?? '', /^qnt_refresh=[^;]+;/);
  assert.doesNotMatch(cookies[0] ?? '', /domain/i);
  for (const attribute of ['HttpOnly', 'SameSite=Lax', 'Path=/']) assert.ok(cookies[0]?.includes(attribute), attribute);
});

test('tunnelmole (docs): no password, key or token counts in an address', WITHIN, async () => {
  const { ann, culvert } = fixture();
  const password = culvert.server.firstOwner?.password.reveal() ?? '';
  for (const query of [
    `access_token=${ann.bearer}`,
    `token=${culvert.token}`,
    `oauth_token=${ann.bearer}`,
    `api_key=${culvert.token}`,
  ])
    assert.equal((await ask('GET', `/tunnels?${query}`)).status, 401, query.slice(0, 12));
  const login = `/auth/login?email=admin@localhost&password=${encodeURIComponent(password)}`;
  assert.ok((await ask('POST', login, {})).status >= 400);
  assert.ok([401, 404, 405].includes((await ask('GET', login)).status));
  // The one token that is in an address for a moment reaches no other host.
  github.current = githubPerson(11, 'url@example.test');
  const { url } = await new Browser().open(`${ann.apiUrl}/auth/oauth/github/start`, (at) =>
    at.searchParams.has('oauth_token'),
  );
  const page = await fetch(url);
  assert.equal(page.headers.get('referrer-policy'), 'no-referrer');
});

test(
  'GHSA-qccm-wmcq-pwr6 Tailscale: a page of another origin reads nothing of the API, and acts by no cookie',
  WITHIN,
  async () => {
    const { culvert } = fixture();
    const password = culvert.server.firstOwner?.password.reveal();
    const [cookie = ''] = (
      await ask('POST', '/auth/login', { email: 'admin@localhost', password })
    ).headers.getSetCookie();
    const [pair = ''] = cookie.split(';');
    const from = { origin: 'https://evil.test', 'sec-fetch-site': 'cross-site' };
    for (const path of ['/auth/refresh', '/auth/logout']) {
      const answer = await ask('POST', path, undefined, { ...from, cookie: pair });
      assert.equal(answer.status, 403, path);
      assert.equal(answer.headers.get('access-control-allow-origin'), null);
    }
    for (const path of ['/tunnels', '/openapi.json', '/.well-known/culvert']) {
      const answer = await ask('OPTIONS', path, undefined, { ...from, 'access-control-request-method': 'GET' });
      assert.equal(answer.headers.get('access-control-allow-origin'), null, path);
    }
    // A name that was made to point here: nothing is opened without a bearer, and links do not follow the Host.
    const rebound = await say(
      Number(new URL(culvert.account.apiUrl).port),
      request('GET /tunnels', 'Host: evil.test', 'Connection: close'),
    );
    assert.match(rebound, /^HTTP\/1\.1 401 /);
    assert.equal((await ask('POST', '/auth/refresh', undefined, { cookie: pair })).status, 200, 'the session is alive');
  },
);
