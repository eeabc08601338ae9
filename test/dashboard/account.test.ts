// group: browser
/** The account page: name, password, second factor, sessions, and what has happened. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Page } from 'playwright-core';
import { codeAt, wrongCode } from '../harness/authenticator.ts';
import { field, press, signIn } from '../harness/chromium.ts';
import { inReverse } from '../harness/ends.ts';
import { heading, NO_CHROMIUM, noSeriousFinding, PHONE, shoot, startFixture, type Fixture } from './fixture.ts';

const NEXT = 'seven green bottles sit';

suite('the account page', { timeout: 180_000, skip: NO_CHROMIUM }, () => {
  const ends = inReverse({ after });
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture(ends);
  });

  const panel = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
  const dialog = (page: Page) => page.getByRole('dialog');

  test('account page: a wrong password is reported at its field, a new one ends the other sessions', async (t) => {
    const ann = await fixture.person('ann@example.test');
    const elsewhere = await fixture.open(t, '/account', { as: ann });
    await heading(elsewhere, 'Account');
    const page = await fixture.open(t, '/account', { as: ann });
    await heading(page, 'Account');
    await panel(page, 'Profile').getByText('ann@example.test').waitFor();
    await field(page, 'Name').fill('<b>Ann</b>');
    await press(page, 'Save');
    await page.getByText('Name saved.').waitFor();
    assert.equal(await field(page, 'Name').inputValue(), '<b>Ann</b>');
    await panel(page, 'Sessions').getByText('Chrome on Linux').first().waitFor();
    assert.equal(await panel(page, 'Sessions').getByText('Current').count(), 1);
    await noSeriousFinding(page);
    await shoot(page, 'account');

    await press(page, 'Change password');
    await field(page, 'Current password').fill('not this one');
    await field(page, 'New password').fill(NEXT);
    await dialog(page).getByRole('button', { name: 'Change password' }).click();
    await dialog(page).getByText('The current password is wrong.').waitFor();
    assert.equal(await field(page, 'Current password').getAttribute('aria-invalid'), 'true');
    await noSeriousFinding(page);
    await field(page, 'Current password').fill(ann.password);
    await dialog(page).getByRole('button', { name: 'Change password' }).click();
    await page.getByText('Password changed. Your other sessions ended.').waitFor();
    await panel(page, 'Security feed').getByText('changed the password').waitFor();
    await elsewhere.reload();
    await signIn(elsewhere, { ...ann, password: NEXT });
    await heading(elsewhere, 'Account');
  });

  test('account page: a second factor is set up, required, renewed and turned off', async (t) => {
    const bob = await fixture.person('bob@example.test');
    const page = await fixture.open(t, '/account', { as: bob });
    await press(page, 'Set up');
    await dialog(page).getByRole('img', { name: 'QR code of the secret' }).waitFor();
    const secret = (await dialog(page).getByRole('group', { name: 'the secret' }).innerText()).trim();
    assert.match(secret, /^[A-Z2-7]{32}$/);
    await noSeriousFinding(page);
    await shoot(page, 'account-enrol');
    await field(page, 'Code from the app').fill(wrongCode(secret, Date.now()));
    await press(page, 'Turn on');
    await dialog(page).getByText('The code is wrong').waitFor();
    await field(page, 'Code from the app').fill(codeAt(secret, Date.now()));
    await press(page, 'Turn on');
    const codes = await codesShown(page);
    assert.equal(codes.length, 10);
    await noSeriousFinding(page);
    await shoot(page, 'account-codes');
    const [file] = await Promise.all([page.waitForEvent('download'), press(page, 'Save as file')]);
    assert.equal(file.suggestedFilename(), 'culvert-recovery-codes.txt');
    await press(page, 'Done');
    await panel(page, 'Two-factor authentication').getByText('10 recovery codes left').waitFor();
    await dialog(page).waitFor({ state: 'detached' });
    assert.ok(!(await page.content()).includes(codes[0] ?? ''), 'shown once');

    await press(page, 'New recovery codes');
    await dialog(page).getByLabel('Password', { exact: true }).fill(bob.password);
    await press(page, 'Create codes');
    const renewed = await codesShown(page);
    assert.notDeepEqual(renewed, codes);
    await press(page, 'Done');

    const other = await fixture.open(t, '/', { as: null });
    await signIn(other, bob);
    await press(other, 'Use recovery code');
    await field(other, 'One of your recovery codes').fill(renewed[0] ?? '');
    await press(other, 'Continue');
    await heading(other, 'Overview');

    await press(page, 'Turn off');
    await page.getByText('Recovery code', { exact: true }).click();
    await field(page, 'One of your recovery codes').fill(renewed[0] ?? '');
    await dialog(page).getByRole('button', { name: 'Turn off' }).click();
    await dialog(page).getByText('The recovery code is wrong or already used.').waitFor();
    await noSeriousFinding(page);
    await field(page, 'One of your recovery codes').fill(renewed[1] ?? '');
    await dialog(page).getByRole('button', { name: 'Turn off' }).click();
    await page.getByText('Two-factor authentication turned off.').waitFor();
    await press(page, 'Set up');
  });

  test('account page: sessions end one by one and all at once; the page fits a phone', async (t) => {
    const eve = await fixture.person('eve@example.test');
    const tabs = [];
    for (let i = 0; i < 3; i++) tabs.push(await fixture.open(t, '/account', { as: eve }));
    const page = await fixture.open(t, '/account', { as: eve, context: { viewport: PHONE, colorScheme: 'dark' } });
    const ending = panel(page, 'Sessions').getByRole('button', { name: /^End the session with Chrome on Linux from/ });
    await ending.first().waitFor();
    assert.equal(await ending.count(), 3);
    const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    assert.ok(wide <= 0, `${wide} pixels too wide`);
    await noSeriousFinding(page);
    await shoot(page, 'account-phone-dark');
    await ending.first().click();
    await page.getByText('Session ended.').waitFor();
    await ending.nth(2).waitFor({ state: 'detached' });
    // A command line has a key, and tunnels with it: that is asked first.
    const login = await fetch(`${fixture.culvert.apiUrl}/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'culvert on laptop' },
      body: JSON.stringify(eve),
    });
    assert.equal(login.status, 200);
    await page.reload();
    await panel(page, 'Sessions')
      .getByRole('button', { name: /^End the session with CLI on laptop/ })
      .click();
    await dialog(page).getByText('End the session of the CLI on laptop?').waitFor();
    await noSeriousFinding(page);
    await dialog(page).getByRole('button', { name: 'End session' }).click();
    await page.getByText('CLI on laptop', { exact: true }).waitFor({ state: 'detached' });
    await press(page, 'End other sessions');
    await dialog(page).getByText('You are logged out everywhere except here.').waitFor();
    await noSeriousFinding(page);
    await dialog(page).getByRole('button', { name: 'End other sessions' }).click();
    await page.getByText('2 sessions ended.').waitFor();
    for (const tab of tabs) {
      await tab.reload();
      await press(tab, 'Log in');
    }
    await page.reload();
    await heading(page, 'Account');
    await panel(page, 'Security feed').getByText('ended a session').nth(2).waitFor();
  });
});

async function codesShown(page: Page): Promise<string[]> {
  const items = page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem');
  await items.first().waitFor();
  return (await items.allInnerTexts()).map((code) => code.trim());
}
