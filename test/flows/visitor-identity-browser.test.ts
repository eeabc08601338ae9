// group: browser
/** A tunnel that asks who its visitors are, in Chromium: what visitor-identity.test.ts plays by hand is what a browser does. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_CHROMIUM, openTab, startChromium } from '../harness/chromium.ts';
import { inReverse } from '../harness/ends.ts';
import { HTTPS, oidcFixture } from './visitor-fixture.ts';

test('refused as one person, in as another', { timeout: 90_000, skip: NO_CHROMIUM }, async (context) => {
  const t = inReverse(context);
  const chromium = await startChromium(t);
  const w = await oidcFixture(context, HTTPS);
  await w.put({ allowed_domains: ['example.com'] });
  const tabs = await chromium.newContext({ viewport: { width: 390, height: 844 }, ignoreHTTPSErrors: true });
  const page = await openTab(t, tabs);
  const logIn = async (login: string): Promise<void> => {
    await page.locator('input[name=login]').fill(login);
    await page.locator('input[name=password]').fill('any');
    await page.locator('button[type=submit]').click();
    await page.getByText('Continue').click();
  };
  await page.goto(`${w.url}/orders`);
  await logIn('bob');
  await page.getByRole('heading', { name: /^You can't open shop\.localhost/ }).waitFor();
  await page.getByText('You are logged in as bob@elsewhere.example').waitFor();
  await page.getByRole('link', { name: 'Try another account' }).click();
  await logIn('ann');
  await page.getByText('hello from /orders').waitFor();
  assert.equal(page.url(), `${w.url}/orders`);
  const names = (await tabs.cookies(w.url)).map(({ name, httpOnly, secure, sameSite, domain }) => ({
    name,
    httpOnly,
    secure,
    sameSite,
    domain,
  }));
  const flags = { httpOnly: true, secure: true, sameSite: 'Lax', domain: 'shop.localhost' };
  assert.deepEqual(names, [
    { name: '__Host-culvert_nonce', ...flags },
    { name: 'culvert_visitor', ...flags },
    { name: '__Host-culvert_browser', ...flags },
  ]);
  const fetched = await page.evaluate(`fetch('/api').then((answer) => answer.text())`);
  assert.equal(fetched, 'hello from /api');
  await page.goto(`${w.url}/.culvert/sign-out`);
  await page.getByRole('heading', { name: 'You have logged out' }).waitFor();
  assert.ok(!(await tabs.cookies(w.url)).some(({ name }) => name === 'culvert_visitor'));
  await page.getByRole('link', { name: 'Log in again' }).click();
  await page.getByText('hello from /').waitFor();

  // By a link of another site: only once the person has said so.
  await page.goto('about:blank');
  await page.setContent(`<a href="${w.url}/.culvert/sign-out">a gift</a>`);
  await page.getByRole('link', { name: 'a gift' }).click();
  await page.getByRole('heading', { name: 'Log out?' }).waitFor();
  assert.ok((await tabs.cookies(w.url)).some(({ name }) => name === 'culvert_visitor'));
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByRole('heading', { name: 'You have logged out' }).waitFor();
});
