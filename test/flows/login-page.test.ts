// group: browser
/**
 * The page that `culvert login` opens, in a real browser: a person logs in with what their account asks for, compares the words, and lets
 * the command line in, or does not.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, suite, type TestContext, test } from 'node:test';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { checkPhrase } from '../../src/wire/check-phrase.ts';
import { type Harness, LOOSE, startHarness } from '../../src/control/core/testing/harness.ts';
import { codeAt, wrongCode } from '../harness/authenticator.ts';
import { ACCESS_TOKEN, field, NO_CHROMIUM, openTab, press, signIn, sharedChromium } from '../harness/chromium.ts';
import { inReverse } from '../harness/ends.ts';
import { type Github, githubPerson, startGithub } from '../harness/github.ts';

interface Visit {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly code: string;
  /** Whose key the waiting command line gets, of which organization; or why it gets none. */
  pickUp(): Promise<string>;
}

suite('the log-in page', {
  timeout: 120_000,
  skip: NO_CHROMIUM,
}, () => {
  const ends = inReverse({ after });
  let browser: Browser;
  let github: Github;
  let h: Harness;

  before(async () => {
    browser = await sharedChromium(ends);
    github = await startGithub(ends);
    h = await startHarness(`${LOOSE}\n${github.settings}`);
    ends.after(() => h.close());
  });

  /** A new browser, or the one given, at the page of a new code. */
  async function visit(t: TestContext, reuse?: BrowserContext): Promise<Visit> {
    const page = await openTab(t, reuse ?? browser);
    const code = randomBytes(32).toString('base64url');
    await page.goto(`${h.server.apiUrl}/app/cli?device_code=${code}`);
    const pickUp = async (): Promise<string> => {
      const { status, body } = await h.call('POST', '/auth/cli/token', { body: { device_code: code, session: true } });
      return status === 200 ? `${String(body['account'])}, ${String(body['organization'])}` : String(body['error']);
    };
    return { page, context: page.context(), code, pickUp };
  }

  const owner = () => ({ email: 'admin@localhost', password: h.server.firstOwner?.password.reveal() ?? '' });
  const approve = (page: Page) => press(page, 'Approve');

  test('with a password, after a wrong one: the words are those of the terminal, and the command line is in', async (t) => {
    const { page, code, pickUp } = await visit(t);
    await page.getByText(checkPhrase(code), { exact: true }).waitFor();
    assert.ok(!page.url().includes(code), 'the code is out of the address');
    await signIn(page, { ...owner(), password: 'not this one' });
    await page.getByText('The email address or the password is wrong.').waitFor();
    await signIn(page, owner());
    await page.getByText('Logged in as admin@localhost').waitFor();
    assert.equal(await pickUp(), 'authorization_pending');
    await approve(page);
    await page.getByRole('heading', { name: 'CLI authorized' }).waitFor();
    await page.getByText(`cli-${checkPhrase(code)}`).waitFor();
    assert.equal(await pickUp(), 'admin@localhost, Admin');
  });

  test('who is logged in already only approves; a code that was used before is said so', async (t) => {
    const first = await visit(t);
    await signIn(first.page, owner());
    await approve(first.page);
    await first.page.getByRole('heading', { name: 'CLI authorized' }).waitFor();
    const second = await visit(t, first.context);
    await second.page.getByText('Logged in as admin@localhost').waitFor();
    await h.call('POST', '/auth/cli/authorize', { as: h.owner, body: { device_code: second.code } });
    await approve(second.page);
    await second.page.getByText('The code is already approved.').waitFor();
    await press(second.page, 'Use another account');
    await field(second.page, 'Password').waitFor();
  });

  test('cancel gives nothing away', async (t) => {
    const { page, pickUp } = await visit(t);
    await signIn(page, owner());
    await press(page, 'Cancel');
    await page.getByRole('heading', { name: 'Canceled' }).waitFor();
    assert.equal(await pickUp(), 'authorization_pending');
  });

  test('with a second factor: the code of the app, or a recovery code', async (t) => {
    const { secret, recoveryCodes } = await protect(h, h.owner);
    const first = await visit(t);
    await signIn(first.page, owner());
    await field(first.page, 'Code from your authenticator app').fill(wrongCode(secret, Date.now()));
    await press(first.page, 'Continue');
    await first.page.getByRole('alert').getByText(/\w/).waitFor();
    await field(first.page, 'Code from your authenticator app').fill(codeAt(secret, Date.now(), 1));
    await press(first.page, 'Continue');
    await first.page.getByText('Logged in as admin@localhost').waitFor();

    const second = await visit(t);
    await signIn(second.page, owner());
    await press(second.page, 'Use recovery code');
    await field(second.page, 'One of your recovery codes').fill(recoveryCodes[0] ?? '');
    await press(second.page, 'Continue');
    await approve(second.page);
    await second.page.getByRole('heading', { name: 'CLI authorized' }).waitFor();
    assert.equal(await second.pickUp(), 'admin@localhost, Admin');
  });

  test('with an identity provider: it comes back to the same code, and the access token leaves the address', async (t) => {
    github.current = githubPerson(7, 'octo@example.test');
    const { page, code, pickUp } = await visit(t);
    await press(page, 'Log in with GitHub');
    await page.getByText('Logged in as octo@example.test').waitFor();
    assert.equal(page.url(), `${h.server.apiUrl}/app/cli`);
    await page.getByText(checkPhrase(code), { exact: true }).waitFor();
    await approve(page);
    await page.getByRole('heading', { name: 'CLI authorized' }).waitFor();
    assert.equal(await pickUp(), 'octo@example.test, Person 7');
  });

  test('a provider is not enough where the account has a second factor', async (t) => {
    github.current = githubPerson(9, 'careful@example.test');
    const first = await visit(t);
    await press(first.page, 'Log in with GitHub');
    await first.page.getByText('Logged in as careful@example.test').waitFor();
    const as = String(await first.page.evaluate(ACCESS_TOKEN));
    const { secret } = await protect(h, as);
    const second = await visit(t);
    await press(second.page, 'Log in with GitHub');
    await field(second.page, 'Code from your authenticator app').fill(codeAt(secret, Date.now(), 1));
    assert.equal(second.page.url(), `${h.server.apiUrl}/app/cli`);
    await press(second.page, 'Continue');
    await approve(second.page);
    await second.page.getByRole('heading', { name: 'CLI authorized' }).waitFor();
    assert.equal(await second.pickUp(), 'careful@example.test, Person 9');
  });

  test('of several organizations the person chooses one; their names are text', async (t) => {
    const name = '<img src=x onerror=alert(1)> & Sons';
    github.current = githubPerson(8, 'many@example.test');
    const { page, code, pickUp } = await visit(t);
    await press(page, 'Log in with GitHub');
    await page.getByText('Logged in as many@example.test').waitFor();
    await page.evaluate(`(async () => {
      const token = await ${ACCESS_TOKEN};
      const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json' };
      return (await fetch('/orgs', { method: 'POST', headers, body: JSON.stringify({ name: ${JSON.stringify(name)} }) })).json();
    })()`);
    await page.goto(`${h.server.apiUrl}/app/cli?device_code=${code}`);
    await field(page, 'Organization').selectOption({ label: name });
    await field(page, 'Organization')
      .and(page.locator(':enabled'))
      .getByRole('option', { name, selected: true })
      .waitFor({ state: 'attached' });
    await approve(page);
    await page.getByRole('heading', { name: 'CLI authorized' }).waitFor();
    assert.equal(await pickUp(), `many@example.test, ${name}`);
  });

  test('an address without a code says what to do', async (t) => {
    const { page } = await visit(t);
    await page.goto(`${h.server.apiUrl}/app/cli`);
    await page.getByRole('heading', { name: 'This link is incomplete' }).waitFor();
  });
});

/** Puts an authenticator app on an account; `as`: an access token of it. */
async function protect(h: Harness, as: string): Promise<{ secret: string; recoveryCodes: readonly string[] }> {
  const enrolled = await h.call('POST', '/auth/mfa/enroll', { as });
  const secret = String(enrolled.body['secret_base32']);
  const code = codeAt(secret, Date.now());
  const { status, text, body } = await h.call('POST', '/auth/mfa/enroll/verify', { as, body: { code } });
  assert.equal(status, 200, text);
  return { secret, recoveryCodes: body['recovery_codes'] as string[] };
}
