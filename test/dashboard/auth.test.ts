// group: browser
/**
 * The authentication pages and the pages of links as axe-core and a phone see them, and without a server that answers. What they do with real mails and
 * providers is in test/flows/pages.test.ts and test/flows/login-page.test.ts.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, suite, test } from 'node:test';
import type { Page } from 'playwright-core';
import { checkPhrase } from '../../src/wire/check-phrase.ts';
import { field, press, signIn } from '../harness/chromium.ts';
import { inReverse } from '../harness/ends.ts';
import { heading, NO_CHROMIUM, noSeriousFinding, PHONE, shoot, startFixture, type Fixture } from './fixture.ts';

suite('authentication pages', { timeout: 180_000, skip: NO_CHROMIUM }, () => {
  const ends = inReverse({ after });
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture(ends);
  });

  async function fits(page: Page): Promise<void> {
    const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    assert.ok(wide <= 0, `${wide} pixels too wide`);
    await noSeriousFinding(page);
  }

  test('auth pages: every step fits a phone, with the focus in its first field', async (t) => {
    const page = await fixture.open(t, '/', { as: null, context: { viewport: PHONE } });
    await heading(page, 'Log in');
    assert.equal(await page.title(), 'Log in - Culvert');
    await field(page, 'Email address').and(page.locator(':focus')).waitFor();
    await fits(page);
    await field(page, 'Email address').fill('ann@example.test');
    await press(page, 'Forgot password');
    await heading(page, 'Forgot password');
    await field(page, 'Email address').and(page.locator(':focus')).waitFor();
    await fits(page);
    assert.match(page.url(), /\/app\/forgot$/);
    await page.reload();
    await heading(page, 'Forgot password');
    await field(page, 'Email address').fill('ann@example.test');
    await press(page, 'Back to login');
    await field(page, 'Password').and(page.locator(':focus')).waitFor();
    await press(page, 'Create account');
    await heading(page, 'Create account');
    await page.goBack();
    await heading(page, 'Log in');
    await page.goForward();
    await heading(page, 'Create account');
    assert.equal(await field(page, 'Email address').inputValue(), 'ann@example.test', 'typed once');
    await field(page, 'Password').fill('too short');
    await press(page, 'Continue');
    await page.getByText('This one has 9').waitFor();
    await fits(page);
    await shoot(page, 'sign-up-phone');
    await field(page, 'Password').fill('correct horse battery staple');
    await press(page, 'Continue');
    await heading(page, 'Confirm your email');
    await fits(page);
    await shoot(page, 'confirm-phone');
    assert.match(page.url(), /\/app\/confirm$/);
    await page.goBack();
    await heading(page, 'Create account');
    await page.goForward();
    await heading(page, 'Confirm your email');
    await page.reload();
    await page.getByRole('alert').getByText('Then enter the code').waitFor();
    // A signed-in user does not need the step.
    await signIn(page, fixture.owner);
    await heading(page, 'Overview');
    assert.match(page.url(), /\/app\/?$/);
  });

  test('auth pages: the document shows a loading state in the system colours until the script runs', async (t) => {
    const { promise: code, resolve: comes } = Promise.withResolvers<undefined>();
    const page = await fixture.open(t, '/page.css', { as: null, context: { colorScheme: 'dark' } });
    await page.route('**/assets/main-*.js', async (route) => {
      await code;
      await route.continue();
    });
    await page.goto(`${fixture.culvert.apiUrl}/app/`, { waitUntil: 'commit' });
    await page.getByRole('status').getByText('Loading …').waitFor();
    await fits(page);
    await shoot(page, 'loading-dark');
    comes(undefined);
    await heading(page, 'Log in');
    assert.equal(await page.getByText('Loading …').count(), 0);
  });

  test('auth pages: pages of links fit a phone, and report an incomplete link', async (t) => {
    for (const [path, title] of [
      ['/reset', 'Request new link'],
      ['/reset?token=x', 'Set new password'],
      ['/invite', 'This link is incomplete'],
      ['/invite?token=x', 'Invitation not valid'],
      ['/cli?device_code=x', 'This link is incomplete'],
    ] as const) {
      const page = await fixture.open(t, path, { as: null, context: { viewport: PHONE } });
      await heading(page, title);
      await fits(page);
    }
  });

  test('invitation: shown before any question, and each step has its address', async (t) => {
    const { account, server } = fixture.culvert;
    const { id, name } = (await account.call('GET', '/auth/me')).body['active_org'] as { id: string; name: string };
    const sent = await account.call('POST', `/orgs/${id}/invitations`, { email: 'new@example.test', role: 'admin' });
    assert.equal(sent.status, 201, JSON.stringify(sent.body));
    const token = await server.printed(/"to":"new@example.test".*invite\?token=([\w-]+)/);
    const path = `/invite?token=${token}`;
    const page = await fixture.open(t, path, { as: null, context: { viewport: PHONE } });
    await heading(page, 'You are invited');
    for (const text of [name, 'Admin', 'new@example.test'])
      await page.getByText(text, { exact: true }).first().waitFor();
    await page.getByText('admin@localhost').waitFor();
    await page.getByRole('button', { name: 'Create account' }).waitFor();
    await fits(page);
    await shoot(page, 'invite-choice-phone');
    await press(page, 'Create account');
    assert.equal(await field(page, 'Email address').inputValue(), 'new@example.test');
    await field(page, 'Password').and(page.locator(':focus')).waitFor();
    await fits(page);
    await shoot(page, 'invite-sign-up-phone');
    await press(page, 'Back');
    await press(page, 'Log in');
    assert.equal(await field(page, 'Email address').inputValue(), 'new@example.test');
    await shoot(page, 'invite-login-phone');
    await signIn(page, fixture.owner);
    await page.getByRole('heading', { name: 'Wrong account' }).waitFor();
    await fits(page);
    await shoot(page, 'invite-other-phone');
    assert.ok(!(await page.content()).includes(token));
    const desk = await fixture.open(t, path, { as: null, context: { colorScheme: 'dark' } });
    await desk.getByRole('button', { name: 'Create account' }).waitFor();
    await fits(desk);
    await shoot(desk, 'invite-choice-dark');
    // With closed sign-up it is not offered.
    await desk.route('**/auth/providers', (route) => route.fulfill({ json: { signup: 'closed', providers: [] } }));
    await desk.goto(`${fixture.culvert.apiUrl}/app${path}`);
    await desk.getByText('Operators of this server create accounts').waitFor();
    await desk.getByRole('button', { name: 'Log in' }).waitFor();
    assert.equal(await desk.getByRole('button', { name: 'Create account' }).count(), 0);
    await shoot(desk, 'invite-closed-dark');
  });

  test('auth pages: logging in leads to the wanted page, and a CLI session can be approved', async (t) => {
    const code = randomBytes(32).toString('base64url');
    const page = await fixture.open(t, '/account', { as: null });
    await signIn(page, fixture.owner);
    await heading(page, 'Account');
    await page.goto(`${fixture.culvert.apiUrl}/app/cli?device_code=${code}`);
    await page.getByText(checkPhrase(code), { exact: true }).waitFor();
    await page.getByText('Logged in as admin@localhost').waitFor();
    assert.ok(!page.url().includes(code));
    await fits(page);
    await shoot(page, 'cli');
    await page.route('**/auth/cli/authorize', (route) => route.abort());
    await press(page, 'Approve');
    await page.getByRole('alert').getByText('The server is not responding.').waitFor();
    await page.unroute('**/auth/cli/authorize');
    await press(page, 'Approve');
    await heading(page, 'CLI authorized');
    await fits(page);
  });

  test('second factor: the challenge of a provider login works once, and can be cancelled', async (t) => {
    const page = await fixture.open(t, '/?mfa_challenge=a.b.c', { as: null });
    await heading(page, 'Two-factor authentication');
    assert.ok(!page.url().includes('challenge'));
    await noSeriousFinding(page);
    await field(page, 'Code from your authenticator app').fill('123456');
    await press(page, 'Continue');
    await page.getByRole('alert').getByText(/\w/).waitFor();
    await press(page, 'Back to login');
    await signIn(page, fixture.owner);
    await heading(page, 'Overview');
    await press(page, 'Your account');
    await page.getByRole('menuitem', { name: 'Log out' }).click();
    await heading(page, 'Log in');
  });
});
