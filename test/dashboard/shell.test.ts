// group: browser
/** What is around every page: the way in, the menu, the colours, the way out. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { inReverse } from '../harness/ends.ts';
import { heading, NO_CHROMIUM, noSeriousFinding, PHONE, startFixture, type Fixture } from './fixture.ts';

suite('the shell', { timeout: 120_000, skip: NO_CHROMIUM }, () => {
  const ends = inReverse({ after });
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture(ends);
  });

  test('shell: a session continues after a reload, and no secret is in storage or the address', async (t) => {
    const page = await fixture.open(t, '/?oauth_token=eyJ.not.mine&mfa_challenge=a.b.c&x=1');
    await heading(page, 'Overview');
    assert.equal(new URL(page.url()).search, '?x=1');
    const kept = await page.evaluate<string>(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, history.state])',
    );
    assert.doesNotMatch(kept, /eyJ|token/);
    await noSeriousFinding(page);
  });

  test('shell: the menu leads to every page, by keyboard too, and marks the current one', async (t) => {
    const page = await fixture.open(t, '/');
    await heading(page, 'Overview');
    const link = page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Tunnels' });
    await link.focus();
    await page.keyboard.press('Enter');
    await heading(page, 'Tunnels');
    assert.equal(await page.title(), 'Tunnels - Culvert');
    assert.equal(await link.getAttribute('aria-current'), 'page');
    assert.equal(await page.evaluate<string>('document.activeElement.id'), 'main');
    await page.goBack();
    await heading(page, 'Overview');
  });

  test('shell: the menu of a phone opens, and closes on navigation', async (t) => {
    const page = await fixture.open(t, '/', { context: { viewport: PHONE } });
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('link', { name: 'Tunnels' }).click();
    await heading(page, 'Tunnels');
    assert.equal(await page.getByRole('button', { name: 'Menu' }).getAttribute('aria-expanded'), 'false');
    assert.equal(await page.evaluate<boolean>("document.querySelector('nav').inert"), true);
    const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    assert.ok(wide <= 0, `${wide} pixels too wide`);
  });

  test('shell: an unknown address is reported', async (t) => {
    const page = await fixture.open(t, '/nowhere');
    await heading(page, 'Page not found');
  });

  test('shell: logging out ends the session in the browser and on the server', async (t) => {
    const page = await fixture.open(t, '/');
    await page.getByRole('button', { name: 'Your account' }).click();
    await page.getByRole('menuitem', { name: 'Log out' }).click();
    await page.getByRole('button', { name: 'Log in', exact: true }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Log in', exact: true }).waitFor();
  });
});
