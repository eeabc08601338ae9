// group: browser
/** Reserved names: as many as the plan has. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { inReverse } from '../harness/ends.ts';
import { heading, NO_CHROMIUM, noSeriousFinding, PHONE, shoot, startFixture, type Fixture } from './fixture.ts';

suite('reserved names', { timeout: 120_000, skip: NO_CHROMIUM }, () => {
  const ends = inReverse({ after });
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture(ends);
  });

  test('names page: a name is reserved and given up, and a taken one is reported at the field', async (t) => {
    const page = await fixture.open(t, '/names');
    await heading(page, 'Reserved names');
    const field = page.getByRole('textbox', { name: 'Name' });
    await field.fill('api');
    await page.getByRole('button', { name: 'Reserve name' }).click();
    await page.getByText('The server reserves api').waitFor();
    await field.fill('-x');
    await field.press('Enter');
    await page.getByText('no dash at either end').waitFor();
    await noSeriousFinding(page);
    await shoot(page, 'names-fault');
    await field.fill('shop');
    await field.press('Enter');
    const row = page.getByRole('table', { name: 'Reserved names' }).getByRole('row').filter({ hasText: 'shop' });
    await row.getByText('none').waitFor();
    assert.equal(await field.inputValue(), '');
    await noSeriousFinding(page);
    await shoot(page, 'names');
    await page.getByRole('button', { name: 'Release the name shop' }).click();
    const asking = page.getByRole('dialog', { name: 'Release the name shop?' });
    await asking.getByText('For 24 hours only your organization can').waitFor();
    await noSeriousFinding(page);
    await asking.getByRole('button', { name: 'Release name' }).click();
    await row.waitFor({ state: 'detached' });
  });

  test('names page: a plan without names links to the plans, on a phone too', async (t) => {
    const as = await fixture.person('free@example.com');
    const page = await fixture.open(t, '/names', { as, context: { viewport: PHONE, colorScheme: 'dark' } });
    await page.getByText('Your plan, free, has no reserved names.').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Reserve name' }).count(), 0);
    const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    assert.ok(wide <= 0, `${wide} pixels too wide`);
    await shoot(page, 'names-phone-dark');
    await page.getByRole('link', { name: 'See plans' }).click();
    await page.waitForURL('**/app/billing');
  });
});
