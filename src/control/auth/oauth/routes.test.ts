/** Log-in with identity providers over HTTP: a real OpenID provider and a server that behaves as GitHub does. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openDatabase } from '../../db/open.ts';
import { codeAt } from '../../../../test/harness/authenticator.ts';
import { Browser } from '../../../../test/harness/browser.ts';
import { inReverse } from '../../../../test/harness/ends.ts';
import { type Github, githubPerson, startGithub } from '../../../../test/harness/github.ts';
import { type Oidc, startOidc } from '../../../../test/harness/oidc.ts';
import { type Smtp, smtpSettings, startSmtp } from '../../../../test/harness/smtp.ts';
import { type Harness, LOOSE, startHarness } from '../../core/testing/harness.ts';

let h: Harness;
let oidc: Oidc;
let github: Github;
let smtp: Smtp;
const ends = inReverse({ after });
before(async () => {
  oidc = await startOidc(ends);
  github = await startGithub(ends);
  smtp = await startSmtp(ends);
  h = await startHarness(`${LOOSE}\n${oidc.settings}\n${github.settings}\n${smtpSettings(smtp)}`);
  ends.after(() => h.close());
  oidc.register(at('/auth/oauth/google/callback'));
});

const at = (path: string): string => h.server.apiUrl + path;
const isLanding = (url: URL): boolean => url.origin === h.server.apiUrl && !url.pathname.startsWith('/auth/');

/** From start to the redirect after the callback; where that goes to, or the refusal. */
async function viaGithub(browser = new Browser(), returnTo = '/') {
  return browser.open(at(`/auth/oauth/github/start?return_to=${encodeURIComponent(returnTo)}`), isLanding);
}
async function viaOidc(login: string, browser = new Browser()) {
  const callback = await oidc.logIn(browser, at('/auth/oauth/google/start'), login);
  return browser.open(callback, isLanding);
}
const errorOf = (page: { text: string }) => (JSON.parse(page.text) as { error?: string }).error;
const tokenOf = (page: { url: URL; text: string }): string => {
  const token = page.url.searchParams.get('oauth_token');
  assert.ok(token !== null, `${page.url.href} ${page.text}`);
  return token;
};
async function me(token: string) {
  const answer = await h.call('GET', '/auth/me', { as: token });
  assert.equal(answer.status, 200, answer.text);
  return answer.body as unknown as {
    user: { id: string; email: string; name: string; email_verified: boolean };
    active_org: { id: string; role: string; name: string };
    orgs: unknown[];
  };
}
const actions = async (token: string) => {
  const answer = await h.call('GET', '/me/events', { as: token });
  return (answer.body as unknown as { action: string }[]).map(({ action }) => action);
};
async function local(email: string) {
  const { status, text, body } = await h.call('POST', '/superadmin/users', { as: h.owner, body: { email } });
  assert.equal(status, 201, text);
  return { id: String(body['id']), password: String(body['password']) };
}
function sql(text: string, ...values: string[]): void {
  const sqlite = openDatabase(h.dataDir);
  try {
    sqlite.prepare(text).run(...values);
  } finally {
    sqlite.close();
  }
}

test('provider login: a new user of an OpenID issuer gets account, organization, session, refresh cookie', async () => {
  oidc.people.set('ann', { email: 'Ann@Example.test', email_verified: true, name: 'Ann Example' });
  const browser = new Browser();
  const page = await viaOidc('ann', browser);
  assert.equal(`${page.url.origin}${page.url.pathname}`, at('/app/'));
  assert.equal(page.headers.get('referrer-policy'), 'no-referrer');
  const { user, active_org: org } = await me(tokenOf(page));
  assert.deepEqual([user.email, user.name, user.email_verified], ['Ann@Example.test', 'Ann Example', true]);
  assert.deepEqual([org.name, org.role], ['Ann Example', 'owner']);
  assert.deepEqual([...browser.cookies(h.server.apiUrl).keys()], ['qnt_refresh'], 'the cookie of the log-in is gone');
  const refreshed = await browser.request(new URL(at('/auth/refresh')), new URLSearchParams());
  assert.equal(refreshed.status, 200);
  assert.deepEqual(await actions(tokenOf(page)), ['auth.login', 'auth.signup']);
});

test('the second log-in finds the same account, also once the provider tells another address', async () => {
  oidc.people.set('bob', { email: 'bob@example.test', email_verified: true });
  const first = await me(tokenOf(await viaOidc('bob')));
  oidc.people.set('bob', { email: 'robert@example.test', email_verified: true });
  const second = await me(tokenOf(await viaOidc('bob')));
  assert.equal(second.user.id, first.user.id);
  assert.equal(second.user.email, 'bob@example.test');
  assert.equal(second.orgs.length, 1);
});

test('provider login: a new user of GitHub gets the primary address, and can return', async () => {
  github.current = githubPerson(7, 'private@example.test', {
    name: null,
    login: 'octo',
    emails: [
      { email: 'other@example.test', primary: false, verified: true, visibility: null },
      { email: 'octo@example.test', primary: true, verified: true, visibility: null },
    ],
  });
  const first = await me(tokenOf(await viaGithub()));
  assert.deepEqual([first.user.email, first.user.name], ['octo@example.test', 'octo']);
  assert.equal((await me(tokenOf(await viaGithub()))).user.id, first.user.id);
});

test('two providers with one verified address lead to one account', async () => {
  oidc.people.set('two', { email: 'two@example.test', email_verified: true });
  const google = await me(tokenOf(await viaOidc('two')));
  github.current = githubPerson(2, 'TWO@example.test');
  const page = await viaGithub();
  assert.equal((await me(tokenOf(page))).user.id, google.user.id);
  const list = await h.call('GET', '/auth/identities', { as: tokenOf(page) });
  assert.deepEqual(
    (list.body as unknown as { provider: string; email: string }[]).map((one) => [one.provider, one.email]),
    [
      ['google', 'two@example.test'],
      ['github', 'TWO@example.test'],
    ],
  );
});

test('an account with a password is linked and keeps it', async () => {
  const { id, password } = await local('keeps@example.test');
  github.current = githubPerson(3, 'keeps@example.test');
  const page = await viaGithub();
  assert.equal((await me(tokenOf(page))).user.id, id);
  assert.ok((await actions(tokenOf(page))).includes('auth.identity_link'));
  const mail = await smtp.nextMail('keeps@example.test');
  assert.match(mail.text, /GitHub/);
  const answer = await h.call('POST', '/auth/login', { body: { email: 'keeps@example.test', password } });
  assert.equal(answer.status, 200);
});

test('provider login: an unconfirmed account is taken over by the owner of the address: its password opens nothing any more', async () => {
  const stranger = { email: 'VICTIM@example.test', password: 'a long password', name: 'Set by a stranger' };
  assert.equal((await h.call('POST', '/auth/signup', { body: stranger })).status, 201);
  const { code } = await smtp.nextMail('victim@example.test');
  oidc.people.set('victim', { email: 'victim@example.test', email_verified: true, name: 'The Owner' });
  const { user, active_org: org } = await me(tokenOf(await viaOidc('victim')));
  assert.deepEqual(
    [user.email, user.email_verified, user.name, org.name],
    ['victim@example.test', true, 'The Owner', 'The Owner'],
  );
  const { email, password } = stranger;
  assert.equal((await h.call('POST', '/auth/login', { body: { email, password } })).status, 401);
  // The code that was sent before proves nothing any more either.
  assert.equal((await h.call('POST', '/auth/verify-email-otp', { body: { email, code } })).status, 400);
  assert.equal((await h.call('POST', '/auth/login', { body: { email, password } })).status, 401);
});

test('an address that the provider does not vouch for links nothing, makes nothing, and is 403 email_not_verified', async () => {
  await local('target@example.test');
  const emails = { primary: true, verified: false, visibility: null };
  const refusals: Array<() => ReturnType<typeof viaGithub>> = [];
  for (const email of ['target@example.test', 'fresh@example.test']) {
    refusals.push(() => {
      oidc.people.set(`x-${email}`, { email, email_verified: false });
      return viaOidc(`x-${email}`);
    });
    refusals.push(() => {
      oidc.people.set(`y-${email}`, { email });
      return viaOidc(`y-${email}`);
    });
    refusals.push(() => {
      github.current = githubPerson(99, email, { emails: [{ ...emails, email }] });
      return viaGithub();
    });
    refusals.push(() => {
      github.current = githubPerson(99, email, { emails: [{ ...emails, email, primary: false, verified: true }] });
      return viaGithub();
    });
  }
  refusals.push(() => {
    github.current = githubPerson(99, '', { emails: [] });
    return viaGithub();
  });
  refusals.push(() => {
    oidc.people.set('no-address', {});
    return viaOidc('no-address');
  });
  for (const refusal of refusals) {
    const page = await refusal();
    assert.deepEqual([page.status, errorOf(page)], [403, 'email_not_verified'], page.text);
    assert.equal(
      page.headers.getSetCookie().some((line) => line.startsWith('qnt_refresh')),
      false,
    );
  }
  // GitHub itself may refuse for the same reason.
  github.tokenError = 'unverified_user_email';
  const page = await viaGithub();
  github.tokenError = undefined;
  assert.deepEqual([page.status, errorOf(page)], [403, 'email_not_verified']);
});

test('provider login: a character that only looks like another in lower case makes no link', async () => {
  await local('kate@example.test');
  // U+212A, the sign of the unit kelvin, becomes a plain k.
  github.current = githubPerson(98, '\u212Aate@example.test');
  const page = await viaGithub();
  assert.deepEqual([page.status, errorOf(page)], [403, 'email_not_verified']);
});

test('a known identity whose address now belongs to another user opens its own account', async () => {
  github.current = githubPerson(50, 'fifty@example.test');
  const fifty = await me(tokenOf(await viaGithub()));
  await local('sixty@example.test');
  github.current = githubPerson(50, 'sixty@example.test');
  assert.equal((await me(tokenOf(await viaGithub()))).user.id, fifty.user.id);
});

test('with a second factor there is a challenge and no session', async () => {
  github.current = githubPerson(4, 'mfa@example.test');
  const token = tokenOf(await viaGithub());
  const enrolled = await h.call('POST', '/auth/mfa/enroll', { as: token });
  const code = codeAt(String(enrolled.body['secret_base32']), Date.now());
  const verified = await h.call('POST', '/auth/mfa/enroll/verify', { as: token, body: { code } });
  assert.equal(verified.status, 200, verified.text);
  const [recovery] = verified.body['recovery_codes'] as string[];
  const browser = new Browser();
  const page = await viaGithub(browser, '/app/x?oauth_token=forged&tab=1');
  assert.equal(page.url.searchParams.get('oauth_token'), null);
  assert.equal(page.url.searchParams.get('tab'), '1');
  assert.deepEqual([...browser.cookies(h.server.apiUrl).keys()], []);
  const challenge = page.url.searchParams.get('mfa_challenge');
  const done = await h.call('POST', '/auth/login/mfa', {
    body: { challenge_token: challenge, recovery_code: recovery },
  });
  assert.equal(done.status, 200, done.text);
});

test('provider login: a user without an organization gets a new one', async () => {
  github.current = githubPerson(5, 'alone@example.test');
  const before = await me(tokenOf(await viaGithub()));
  sql('DELETE FROM memberships WHERE user_id = ?', before.user.id);
  const now = await me(tokenOf(await viaGithub()));
  assert.notEqual(now.active_org.id, before.active_org.id);
  assert.equal(now.active_org.role, 'owner');
});

test('the path asked for is kept with its query, and what is no path of this server becomes /app/', async () => {
  github.current = githubPerson(6, 'path@example.test');
  const page = await viaGithub(new Browser(), '/app/tunnels?sort=name&oauth_token=forged#top');
  assert.equal(page.url.pathname, '/app/tunnels');
  assert.deepEqual(page.url.searchParams.getAll('oauth_token').length, 1);
  assert.notEqual(page.url.searchParams.get('oauth_token'), 'forged');
  assert.equal(page.url.searchParams.get('sort'), 'name');
  assert.equal(page.url.hash, '#top');
  for (const evil of [
    'https://evil.test/',
    '//evil.test',
    '/\\evil.test',
    '/%2f%2fevil.test',
    '/\t/evil.test',
    '@evil.test',
  ]) {
    const { url } = await viaGithub(new Browser(), evil);
    assert.equal(url.origin + url.pathname, at('/app/'), evil);
  }
});

test('an identity can be unlinked by its owner alone, and never the last way in', async () => {
  github.current = githubPerson(8, 'unlink@example.test');
  const token = tokenOf(await viaGithub());
  const one = await h.call('GET', '/auth/identities', { as: token });
  const id = (one.body as unknown as { id: string }[])[0]?.id;
  const foreign = await h.call('DELETE', `/auth/identities/${id}`, { as: h.owner });
  assert.deepEqual([foreign.status, foreign.body['error']], [404, 'not_found']);
  const last = await h.call('DELETE', `/auth/identities/${id}`, { as: token });
  assert.deepEqual([last.status, last.body['error']], [409, 'conflict']);
  oidc.people.set('unlink', { email: 'unlink@example.test', email_verified: true });
  await viaOidc('unlink');
  assert.equal((await h.call('DELETE', `/auth/identities/${id}`, { as: token })).status, 200);
  assert.equal((await h.call('DELETE', `/auth/identities/${id}`, { as: token })).status, 404);
  assert.ok((await actions(token)).includes('auth.identity_unlink'));
  assert.equal((await h.call('GET', '/auth/identities')).status, 401);
});

test('oauth: the login page can list the login options without a limit', async () => {
  const answer = await h.call('GET', '/auth/providers');
  const start = (id: string): string => at(`/auth/oauth/${id}/start`);
  assert.deepEqual(answer.body, {
    name: null,
    signup: 'open',
    mail: 'on',
    providers: [
      { id: 'google', name: new URL(oidc.issuer).host, start_url: start('google') },
      { id: 'github', name: 'GitHub', start_url: start('github') },
    ],
  });
});

test('a server without providers says so; one with closed sign-up admits known users', async (t) => {
  const closed = await startHarness(`${LOOSE}\n[accounts]\nsignup = "closed"\n${github.settings}`);
  t.after(() => closed.close());
  const none = await closed.call('GET', '/auth/oauth/google/start');
  assert.deepEqual([none.status, none.body['error']], [503, 'not_configured']);
  const noneBack = await closed.call('GET', '/auth/oauth/google/callback?code=x&state=y');
  assert.deepEqual([noneBack.status, noneBack.body['error']], [503, 'not_configured']);
  assert.equal((await closed.call('GET', '/auth/oauth/gitlab/start')).status, 404);
  const ways = await closed.call('GET', '/auth/providers');
  assert.deepEqual([ways.body['signup'], (ways.body['providers'] as unknown[]).length], ['closed', 1]);

  const land = (url: URL): boolean => url.origin === closed.server.apiUrl && !url.pathname.startsWith('/auth/');
  github.current = githubPerson(9, 'stranger@example.test');
  const start = `${closed.server.apiUrl}/auth/oauth/github/start`;
  const page = await new Browser().open(start, land);
  assert.deepEqual([page.status, errorOf(page)], [403, 'forbidden']);
  await closed.stranger('stranger@example.test');
  assert.ok((await new Browser().open(start, land)).url.searchParams.has('oauth_token'));
});
