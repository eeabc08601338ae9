// group: browser
/**
 * The ways into the dashboard and the pages that mails lead to, in a real browser with real mail and a provider: a new account, a forgotten
 * password, an invitation. `CULVERT_SCREENSHOTS=FOLDER` keeps pictures of them.
 */
import assert from 'node:assert/strict';
import { after, before, suite, type TestContext, test } from 'node:test';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { type Harness, LOOSE, startHarness } from '../../src/control/core/testing/harness.ts';
import { codeAt } from '../harness/authenticator.ts';
import { ACCESS_TOKEN, field, NO_CHROMIUM, openTab, press, signIn, sharedChromium } from '../harness/chromium.ts';
import { inReverse } from '../harness/ends.ts';
import { type Github, githubPerson, startGithub } from '../harness/github.ts';
import { type Smtp, smtpSettings, startSmtp } from '../harness/smtp.ts';

const PASSWORD = 'correct horse battery staple';
const OTHER = 'seven green bottles sit';
const HOSTILE = '<img src=x onerror=alert(1)> & "Sons"';

suite('the pages', { timeout: 180_000, skip: NO_CHROMIUM }, () => {
  const ends = inReverse({ after });
  let browser: Browser;
  let github: Github;
  let smtp: Smtp;
  let h: Harness;

  before(async () => {
    browser = await sharedChromium(ends);
    github = await startGithub(ends);
    smtp = await startSmtp(ends);
    h = await startHarness(`${LOOSE}\n${smtpSettings(smtp)}\n${github.settings}`);
    ends.after(() => h.close());
  });

  async function open(t: TestContext, path: string, of: Browser | BrowserContext = browser): Promise<Page> {
    const page = await openTab(t, of);
    await page.goto(path.startsWith('http') ? path : h.server.apiUrl + path);
    return page;
  }

  const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true }).waitFor();
  const alertOf = (page: Page, text: string) => page.getByRole('alert').getByText(text).waitFor();
  const signedInAs = (page: Page, email: string) => page.getByText(`Logged in as ${email}`, { exact: true }).waitFor();

  /** Logged in, as the user in the menu. */
  async function isIn(page: Page, email: string): Promise<void> {
    await heading(page, 'Overview');
    await press(page, 'Your account');
    await page.getByRole('menu').getByText(email, { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('menu').waitFor({ state: 'hidden' });
  }

  async function signOut(page: Page): Promise<void> {
    await press(page, 'Your account');
    await page.getByRole('menuitem', { name: 'Log out' }).click();
  }

  /** From the login form to a confirmed account. */
  async function signUp(page: Page, email: string): Promise<void> {
    await press(page, 'Create account');
    await field(page, 'Email address').fill(email);
    await field(page, 'Password').fill(PASSWORD);
    await press(page, 'Continue');
    await heading(page, 'Confirm your email');
    await field(page, 'Code from the email').fill((await smtp.nextMail(email)).code ?? '');
    await press(page, 'Confirm');
  }

  /** The link of an invitation to a new organization of the owner. */
  async function invite(email: string, name: string): Promise<{ link: string; token: string }> {
    const org = await h.call('POST', '/orgs', { as: h.owner, body: { name } });
    assert.equal(org.status, 201, org.text);
    const { access_token: as } = (
      await h.call('POST', '/auth/switch-org', { as: h.owner, body: { org_id: org.body['id'] } })
    ).body as unknown as { access_token: string };
    const sent = await h.call('POST', `/orgs/${String(org.body['id'])}/invitations`, {
      as,
      body: { email, role: 'member' },
    });
    assert.equal(sent.status, 201, sent.text);
    const { link = '', token = '' } = await smtp.nextMail(email);
    return { link, token };
  }

  test('a stranger signs up by mail, is in, logs out and in again', async (t) => {
    const page = await open(t, '/');
    assert.equal(page.url(), `${h.server.apiUrl}/app/`);
    await heading(page, 'Log in');
    await shoot(page, 'login');
    await press(page, 'Create account');
    await field(page, 'Email address').fill('ann@example.test');
    await field(page, 'Password').fill('too short');
    await press(page, 'Continue');
    await page.getByText('A password must have 12 to 256 characters. This one has 9.').waitFor();
    assert.equal(await field(page, 'Password').getAttribute('aria-invalid'), 'true');
    await shoot(page, 'sign-up');
    await field(page, 'Password').fill(PASSWORD);
    await press(page, 'Continue');
    await page.getByText('from the email to ann@example.test').waitFor();
    await field(page, 'Code from the email').fill('nonsense');
    await press(page, 'Confirm');
    await alertOf(page, 'The code is wrong');
    await shoot(page, 'confirm');
    await smtp.nextMail('ann@example.test');
    await press(page, 'Send new code');
    await page.getByRole('status').getByText('a new code was sent').waitFor();
    await field(page, 'Code from the email').fill((await smtp.nextMail('ann@example.test')).code ?? '');
    await press(page, 'Confirm');
    await isIn(page, 'ann@example.test');
    assert.equal(
      await page.evaluate("Object.keys(localStorage).filter((key) => !key.startsWith('mantine')).length"),
      0,
    );
    assert.equal(await page.evaluate('sessionStorage.length + document.cookie.length'), 0);

    await page.reload();
    await isIn(page, 'ann@example.test');
    await page.route('**/auth/logout', (route) => route.abort());
    await signOut(page);
    await alertOf(page, 'The server is not responding.');
    await page.unroute('**/auth/logout');
    await signOut(page);
    await page.getByText('You are logged out.').waitFor();
    await page.reload();
    await signIn(page, { email: 'ann@example.test', password: OTHER });
    await alertOf(page, 'The email address or the password is wrong.');
    await signIn(page, { email: 'ann@example.test', password: PASSWORD });
    await isIn(page, 'ann@example.test');
  });

  test('who logs in before the address is confirmed types the code then', async (t) => {
    const email = 'early@example.test';
    await h.call('POST', '/auth/signup', { body: { email, password: PASSWORD, organization_name: HOSTILE } });
    const page = await open(t, '/app/');
    await signIn(page, { email, password: PASSWORD });
    await field(page, 'Code from the email').fill((await smtp.nextMail(email)).code ?? '');
    await press(page, 'Confirm');
    await page.getByRole('banner').getByText(HOSTILE, { exact: true }).waitFor();
    await shoot(page, 'hostile');
  });

  test('an address that was signed up with two passwords gets a third by a link', async (t) => {
    const email = 'contested@example.test';
    await h.call('POST', '/auth/signup', { body: { email, password: OTHER } });
    await smtp.nextMail(email);
    const page = await open(t, '/app/');
    await press(page, 'Create account');
    await field(page, 'Email address').fill(email);
    await field(page, 'Password').fill(PASSWORD);
    await press(page, 'Continue');
    await field(page, 'Code from the email').fill((await smtp.nextMail(email)).code ?? '');
    await press(page, 'Confirm');
    await alertOf(page, 'Your email is confirmed, but your password was not set');
    await press(page, 'Send link');
    await page.goto((await smtp.nextMail(email)).link ?? '');
    await field(page, 'New password').fill(PASSWORD);
    await field(page, 'Confirm password').fill(PASSWORD);
    await press(page, 'Set password');
    await page.getByRole('link', { name: 'Log in' }).click();
    await signIn(page, { email, password: PASSWORD });
    await isIn(page, email);
  });

  test('a forgotten password: a link by mail, a new password, logged out everywhere', async (t) => {
    const email = 'bob@example.test';
    const { password } = await h.account(email);
    const elsewhere = await open(t, '/app/');
    await signIn(elsewhere, { email, password });
    await isIn(elsewhere, email);

    const page = await open(t, '/app/');
    await field(page, 'Email address').fill(email);
    await press(page, 'Forgot password');
    assert.equal(await field(page, 'Email address').inputValue(), email, 'typed once');
    await shoot(page, 'forgot');
    await press(page, 'Send link');
    await heading(page, 'Check your email');
    await shoot(page, 'sent');
    const { link = '', token = '' } = await smtp.nextMail(email);
    await page.goto(link);
    await heading(page, 'Set new password');
    assert.equal(page.url(), `${h.server.apiUrl}/app/reset`, 'the token is out of the address');
    assert.ok(!(await page.content()).includes(token));
    await field(page, 'New password').fill('too short');
    await field(page, 'Confirm password').fill('too short');
    await press(page, 'Set password');
    await page.getByText('This one has 9').waitFor();
    await field(page, 'New password').fill(OTHER);
    await field(page, 'Confirm password').fill(PASSWORD);
    await press(page, 'Set password');
    await page.getByText("The passwords don't match.").waitFor();
    await shoot(page, 'reset');
    await field(page, 'Confirm password').fill(OTHER);
    await press(page, 'Set password');
    await heading(page, 'Password changed');
    await page.getByText('You are logged out of all browsers and CLIs').waitFor();
    await shoot(page, 'reset-done');
    await page.getByRole('link', { name: 'Log in' }).click();
    await signIn(page, { email, password: OTHER });
    await isIn(page, email);
    await elsewhere.reload();
    await heading(elsewhere, 'Log in');

    await page.goto(link);
    await field(page, 'New password').fill(PASSWORD);
    await field(page, 'Confirm password').fill(PASSWORD);
    await press(page, 'Set password');
    await alertOf(page, 'This link was already used or has expired.');
    await shoot(page, 'reset-used');
    await field(page, 'Email address').fill(email);
    await press(page, 'Send link');
    await heading(page, 'Check your email');
    assert.notEqual((await smtp.nextMail(email)).token, token);
    await page.goto(`${h.server.apiUrl}/app/reset`);
    await alertOf(page, 'This link is incomplete');
    await heading(page, 'Request new link');
  });

  test('an invitation: a stranger makes an account on the way, and is in', async (t) => {
    const { link, token } = await invite('carol@example.test', HOSTILE);
    const page = await open(t, link);
    await heading(page, 'You are invited');
    // Before anything is asked: the inviter, the address and the organization.
    for (const text of [HOSTILE, 'admin@localhost', 'Member']) await page.getByText(text).first().waitFor();
    await page.getByText('carol@example.test', { exact: true }).first().waitFor();
    await shoot(page, 'invite');
    await signUp(page, 'carol@example.test');
    await signedInAs(page, 'carol@example.test');
    assert.equal(page.url(), `${h.server.apiUrl}/app/invite`, 'the token is out of the address');
    const kept =
      '[localStorage, sessionStorage, history.state, document.cookie].map((one) => JSON.stringify(one)).join()';
    assert.ok(!(await page.evaluate<string>(kept)).includes(token));
    await shoot(page, 'invite-accept');
    await press(page, 'Accept invitation');
    await heading(page, 'Invitation accepted');
    await page.getByText(`You joined the organization ${HOSTILE} with the role member.`, { exact: true }).waitFor();
    await shoot(page, 'invite-done');
    await press(page, 'Open dashboard');
    await page.getByRole('button', { name: `Organization: ${HOSTILE}`, exact: true }).waitFor();
    assert.equal(page.url(), `${h.server.apiUrl}/app/`);

    await page.goto(link);
    await heading(page, 'Invitation not valid');
    await alertOf(page, 'The invitation was used, revoked or has expired.');
    await press(page, 'Open dashboard');
    await isIn(page, 'carol@example.test');
  });

  test('an invitation with an identity provider and a second factor: the token comes back with the browser', async (t) => {
    const email = 'octo@example.test';
    github.current = githubPerson(7, email);
    const first = await open(t, '/app/');
    await press(first, 'Log in with GitHub');
    await isIn(first, email);
    assert.equal(first.url(), `${h.server.apiUrl}/app/`, 'the access token is out of the address');
    const as = String(await first.evaluate(ACCESS_TOKEN));
    const enrolled = await h.call('POST', '/auth/mfa/enroll', { as });
    const secret = String(enrolled.body['secret_base32']);
    await h.call('POST', '/auth/mfa/enroll/verify', { as, body: { code: codeAt(secret, Date.now()) } });
    assert.match((await smtp.nextMail(email)).subject, /Two-factor/);

    const { link, token } = await invite(email, 'Acme');
    const page = await open(t, link);
    await heading(page, 'You are invited');
    const addresses: string[] = [];
    page.on('request', (request) => addresses.push(decodeURIComponent(request.url())));
    await press(page, 'Log in with GitHub');
    await field(page, 'Code from your authenticator app').fill(codeAt(secret, Date.now(), 1));
    assert.equal(page.url(), `${h.server.apiUrl}/app/invite`, 'challenge and token are out of the address');
    assert.ok(addresses.some((address) => address.startsWith(github.url)));
    assert.deepEqual(
      addresses.filter((address) => address.includes(token)),
      [],
      'and never were in one',
    );
    assert.ok(!(await page.content()).includes(token));
    await shoot(page, 'second');
    await press(page, 'Continue');
    await press(page, 'Accept invitation');
    await page.getByText('You joined the organization Acme with the role member.').waitFor();
  });

  test('an invitation to another address names the logged-in user; an unknown one has expired', async (t) => {
    const dave = await h.account('dave@example.test');
    const { link } = await invite('erin@example.test', 'Erin & Co');
    const page = await open(t, link);
    await press(page, 'Log in');
    assert.equal(await field(page, 'Email address').inputValue(), 'erin@example.test', 'prefilled');
    await signIn(page, { email: 'dave@example.test', password: dave.password });
    await heading(page, 'Wrong account');
    await signedInAs(page, 'dave@example.test');
    assert.equal(await page.getByRole('button', { name: 'Accept invitation' }).count(), 0);
    await shoot(page, 'invite-other');
    await press(page, 'Use another account');
    await press(page, 'Log in');
    await signIn(page, { email: 'dave@example.test', password: dave.password });
    await signedInAs(page, 'dave@example.test');
    await page.goto(`${h.server.apiUrl}/app/invite?token=nothing`);
    await heading(page, 'Invitation not valid');
    await alertOf(page, 'The invitation was used, revoked or has expired.');
    await shoot(page, 'invite-over');
    await page.goto(`${h.server.apiUrl}/app/invite`);
    await heading(page, 'This link is incomplete');
  });

  test('a link with another user’s access token logs no one in', async (t) => {
    const mallory = await h.stranger('mallory@example.test');
    const { link } = await invite('gina@example.test', 'Gina');
    const invited = link.slice(h.server.apiUrl.length);
    for (const path of ['/app/', invited, `/app/cli?device_code=${'a'.repeat(43)}`]) {
      const page = await open(t, `${path}${path.includes('?') ? '&' : '?'}oauth_token=${mallory}`);
      if (path === invited) await press(page, 'Log in');
      await field(page, 'Password').waitFor();
      assert.equal(page.url(), h.server.apiUrl + path.replace(/\?.*/, ''));
      assert.ok(!(await page.content()).includes('mallory'));
    }
    const victim = await open(t, '/app/');
    const { password } = await h.account('victim@example.test');
    await signIn(victim, { email: 'victim@example.test', password });
    await isIn(victim, 'victim@example.test');
    await victim.goto(`${h.server.apiUrl}/app/?oauth_token=${mallory}`);
    await isIn(victim, 'victim@example.test');
  });

  test('a page whose session has become another user’s does nothing in their name', async (t) => {
    const { link } = await invite('frank@example.test', 'Franks');
    const page = await open(t, link);
    const erin = await h.account('erin2@example.test');
    const frank = await h.account('frank@example.test');
    await press(page, 'Log in');
    await signIn(page, { email: 'frank@example.test', password: frank.password });
    await signedInAs(page, 'frank@example.test');
    const other = await page.context().newPage();
    await other.goto(`${h.server.apiUrl}/app/`);
    await isIn(other, 'frank@example.test');
    // Past the dashboard, whose tabs tell each other: as when the word of it is not there yet.
    await other.evaluate("fetch('/auth/logout', { method: 'POST' })");
    await other.evaluate(logIn('erin2@example.test', erin.password));
    await press(page, 'Accept invitation');
    await alertOf(page, 'No changes were made');
    await signedInAs(page, 'erin2@example.test');
    await heading(page, 'Wrong account');
    await other.reload();
    await isIn(other, 'erin2@example.test');
    assert.equal(await other.getByRole('button', { name: /^Organization:/ }).count(), 0, 'one organization, as before');
  });

  test('messages of the server are text, and a tab that comes too early tries again', async (t) => {
    const page = await openTab(t, browser);
    const message = HOSTILE;
    await page.route('**/auth/login', (route) =>
      route.fulfill({ status: 429, json: { error: 'rate_limited', message } }),
    );
    await page.goto(`${h.server.apiUrl}/app/`);
    await signIn(page, { email: 'admin@localhost', password: 'x' });
    await alertOf(page, HOSTILE);
    await page.unroute('**/auth/login');
    await signIn(page, { email: 'admin@localhost', password: h.server.firstOwner?.password.reveal() ?? '' });
    await isIn(page, 'admin@localhost');
    let early = 0;
    await page.route('**/auth/refresh', (route) => {
      early += 1;
      if (early > 1) return route.continue();
      return route.fulfill({ status: 401, json: { error: 'unauthorized', message, retry_after_seconds: 0.05 } });
    });
    await page.reload();
    await isIn(page, 'admin@localhost');
    assert.equal(early, 2);
  });

  test('the pages work under /api too, and with the keyboard alone', async (t) => {
    const page = await open(t, '/api/app/?oauth_token=x');
    await field(page, 'Email address').and(page.locator(':focus')).waitFor();
    await page.keyboard.type('admin@localhost');
    await page.keyboard.press('Tab');
    await page.keyboard.type(h.server.firstOwner?.password.reveal() ?? '');
    await page.keyboard.press('Enter');
    await isIn(page, 'admin@localhost');
    assert.equal(page.url(), `${h.server.apiUrl}/api/app/`);
  });
});

/** Evaluated in a page: the browser's session is theirs then. */
function logIn(email: string, password: string): string {
  const headers = { 'content-type': 'application/json' };
  return `fetch('/auth/login', ${JSON.stringify({ method: 'POST', headers, body: JSON.stringify({ email, password }) })})`;
}

/** Pictures as a reader with a desk, and one with a phone at night, see the page. */
async function shoot(page: Page, name: string): Promise<void> {
  const folder = process.env['CULVERT_SCREENSHOTS'];
  if (folder === undefined) return;
  const before = page.viewportSize() ?? { width: 390, height: 844 };
  await page.setViewportSize({ width: 1200, height: 860 });
  await page.emulateMedia({ colorScheme: 'light' });
  await page.screenshot({ path: `${folder}/${name}-desk.png` });
  await page.setViewportSize(before);
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.screenshot({ path: `${folder}/${name}-phone.png`, fullPage: true });
}
