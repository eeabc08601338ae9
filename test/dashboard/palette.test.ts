// group: browser
/** The palette and the keys of the dashboard, without a mouse; the zone of times; the page that is none. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { inReverse } from '../harness/ends.ts';
import { type Fixture, heading, NO_CHROMIUM, noSeriousFinding, shoot, startFixture } from './fixture.ts';

suite('palette', { timeout: 120_000, skip: NO_CHROMIUM }, () => {
  const ends = inReverse({ after });
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture(ends);
    const { status } = await fixture.culvert.account.call('POST', '/projects', { slug: 'docs', name: 'Handbook' });
    assert.equal(status, 201);
  });

  test('palette: Ctrl+K finds a page and a thing by part of a name, with the keyboard alone', async (t) => {
    const page = await fixture.open(t, '/');
    await heading(page, 'Overview');
    await page.keyboard.press('Control+k');
    const field = page.getByRole('combobox', { name: /^Search pages/ });
    await field.waitFor();
    await page.keyboard.type('aulog');
    const option = page.getByRole('option', { selected: true });
    assert.match(String(await option.textContent()), /Audit log/);
    assert.equal(await field.getAttribute('aria-activedescendant'), await option.getAttribute('id'));
    await noSeriousFinding(page);
    await shoot(page, 'palette');
    await page.keyboard.press('Enter');
    await heading(page, 'Audit log');

    await page.keyboard.press('Control+k');
    await page.keyboard.type('handbook');
    await page.getByRole('option', { name: /Handbook/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/projects\/docs$/);
    await page.keyboard.press('Control+k');
    await field.waitFor();
    await page.keyboard.press('Escape');
    await field.waitFor({ state: 'detached' });
  });

  test('keys: a question mark lists them, and none is taken while the user types', async (t) => {
    const page = await fixture.open(t, '/names');
    await heading(page, 'Reserved names');
    await page.keyboard.press('Shift+?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await noSeriousFinding(page);
    await shoot(page, 'palette-keys');
    await page.keyboard.press('Escape');
    await page.getByRole('textbox').first().focus();
    await page.keyboard.press('Shift+?');
    assert.equal(await page.getByRole('dialog').count(), 0);
  });

  test('times: UTC is chosen in the account menu, marked, and kept', async (t) => {
    const page = await fixture.open(t, '/organization');
    await heading(page, 'Organization');
    await page.getByRole('button', { name: 'Your account' }).click();
    await page.getByRole('menuitem', { name: 'UTC', exact: true }).click();
    await page.locator('time[title$=" UTC"]').first().waitFor({ state: 'attached' });
    await page.reload();
    await page.locator('time[title$=" UTC"]').first().waitFor({ state: 'attached' });
    await page.getByRole('button', { name: 'Your account' }).click();
    assert.equal(await page.getByRole('menuitem', { name: 'UTC', exact: true }).getAttribute('aria-current'), 'true');
    await shoot(page, 'palette-menu');
  });

  test('no page: there is a way out', async (t) => {
    const page = await fixture.open(t, '/nowhere');
    await page.getByRole('link', { name: 'Go to overview' }).click();
    await heading(page, 'Overview');
  });
});
