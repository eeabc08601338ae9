// group: browser
/** Billing: buying and cancelling a plan that costs nothing, the result of a checkout, and a server without plans. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { inReverse } from '../harness/ends.ts';
import {
  heading,
  NO_CHROMIUM,
  noSeriousFinding,
  type Person,
  PHONE,
  shoot,
  startFixture,
  type Fixture,
} from './fixture.ts';

suite('billing', { timeout: 120_000, skip: NO_CHROMIUM }, () => {
  const ends = inReverse({ after });
  let fixture: Fixture;
  let ann: Person;
  before(async () => {
    fixture = await startFixture(ends);
    ann = await fixture.person('ann@example.com');
  });

  test('billing page: an owner buys a plan without payment, and goes back to Free', async (t) => {
    const page = await fixture.open(t, '/billing', { as: ann });
    await heading(page, 'Billing');
    await page.getByRole('heading', { name: 'The plan is Free' }).waitFor();
    await noSeriousFinding(page);
    await shoot(page, 'billing-free');
    const team = page.getByRole('article', { name: 'Team' });
    await page.getByText('Yearly').click();
    await team.getByRole('button', { name: 'Choose Team' }).click();
    await page.getByRole('heading', { name: 'You are on Team' }).waitFor();
    await page.getByRole('link', { name: 'To your account' }).click();
    await heading(page, 'Overview');
    await page.getByRole('link', { name: 'Billing' }).click();
    await page.getByRole('heading', { name: 'The plan is Team' }).waitFor();
    await team.getByText('current plan').waitFor();

    await page.getByRole('button', { name: 'Change to Free' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Applies immediately.').waitFor();
    await noSeriousFinding(page);
    await shoot(page, 'billing-cancel');
    await dialog.getByRole('button', { name: 'Change to Free' }).click();
    await page.getByRole('heading', { name: 'The plan is Free' }).waitFor();
    await page.getByText('Plan changed to Free.').waitFor();
  });

  test('billing page: reports the result of a checkout once', async (t) => {
    const page = await fixture.open(t, '/billing?billing=cancelled&x=1');
    await page.getByRole('status').filter({ hasText: 'Checkout canceled' }).waitFor();
    assert.equal(new URL(page.url()).search, '?x=1');
    await page.goto(`${fixture.culvert.apiUrl}/app/billing?billing=done`);
    await page.getByText('Purchase complete. Plan changed to Enterprise.').waitFor();
    assert.equal(new URL(page.url()).search, '');
    await page.reload();
    await page.getByRole('heading', { name: 'The plan is Enterprise' }).waitFor();
    assert.equal(await page.getByText('Purchase complete').count(), 0);
  });

  test('billing page: no redirect to an unsafe address, and a refusal is shown', async (t) => {
    const page = await fixture.open(t, '/billing', { as: ann });
    await page.route('**/billing/checkout-session', (route) =>
      route.fulfill({ json: { checkout_url: 'javascript:document.title="taken"' } }),
    );
    await page.getByRole('button', { name: 'Choose Pro' }).click();
    await page.getByRole('alert').filter({ hasText: 'returned no checkout URL' }).waitFor();
    assert.equal(await page.title(), 'Billing - Culvert');
  });

  test('billing page: fits a phone', async (t) => {
    const page = await fixture.open(t, '/billing', { as: ann, context: { viewport: PHONE, colorScheme: 'dark' } });
    await page.getByRole('button', { name: 'Choose Pro' }).waitFor();
    const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    assert.ok(wide <= 0, `${wide} pixels too wide`);
    await shoot(page, 'billing-phone-dark');
  });
});

suite('billing where nothing is sold', { timeout: 120_000, skip: NO_CHROMIUM }, () => {
  const ends = inReverse({ after });
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture(ends, { toml: '[billing]\nmode = "none"\n' });
  });

  test('billing page: no purchase where nothing is sold', async (t) => {
    const page = await fixture.open(t, '/billing');
    await page.getByText('This server sells no plans.').waitFor();
    assert.equal(await page.getByRole('button', { name: /^Choose/ }).count(), 0);
    await shoot(page, 'billing-none');
  });
});
