// group: browser
/** Alerts: a rule is made in a short form, tested, changed, disabled and deleted. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { inReverse } from '../harness/ends.ts';
import {
  DESKTOP,
  heading,
  NO_CHROMIUM,
  noSeriousFinding,
  PHONE,
  shoot,
  startFixture,
  type Fixture,
} from './fixture.ts';

suite('alerts', { timeout: 120_000, skip: NO_CHROMIUM }, () => {
  const ends = inReverse({ after });
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture(ends);
  });

  const onlyAlert = async (): Promise<Record<string, unknown>> => {
    const { body } = await fixture.culvert.account.call('GET', '/alerts');
    return (body as unknown as Record<string, unknown>[])[0] ?? {};
  };

  test('alerts page: a rule by email needs two clicks, and can be tested, changed, disabled and deleted', async (t) => {
    const page = await fixture.open(t, '/alerts');
    await heading(page, 'Alerts');
    await page.getByText('No alerts yet').waitFor();
    await page.getByRole('button', { name: 'New alert' }).click();
    const making = page.getByRole('dialog', { name: 'New alert' });
    await making.getByRole('textbox', { name: 'Email address' }).waitFor();
    await noSeriousFinding(page);
    await shoot(page, 'alerts-new');
    await making.getByRole('button', { name: 'Create alert' }).click();
    const row = page.getByRole('table', { name: 'Alert rules' }).getByRole('row').filter({ hasText: 'Tunnel offline' });
    await row.getByText('Tunnel offline for 5 min').waitFor();
    const menu = async (entry: string): Promise<void> => {
      await row.getByRole('button', { name: 'Actions for Tunnel offline' }).click();
      await page.getByRole('menuitem', { name: entry }).click();
    };
    await menu('Send test');
    await page.getByText('Test sent.').waitFor();
    await menu('Edit');
    const editing = page.getByRole('dialog', { name: 'Edit alert' });
    await editing.getByRole('textbox', { name: 'For at least' }).fill('15');
    await editing.getByRole('switch', { name: 'Quiet hours' }).click();
    await editing.getByLabel('From').waitFor();
    await noSeriousFinding(page);
    await shoot(page, 'alerts-edit');
    await editing.getByRole('button', { name: 'Save' }).click();
    await row.getByText('Tunnel offline for 15 min').waitFor();
    await row.getByText(/quiet 22:00 to 07:00/).waitFor();
    await menu('Disable');
    await row.getByText('Disabled').waitFor();
    await shoot(page, 'alerts');
    const notice = page.getByRole('group', { name: 'Undo' });
    await notice.getByRole('status').getByText('Alert disabled.').waitFor();
    // The focus holds the notice, for as long as the checks below may take.
    await notice.getByRole('button', { name: 'Undo' }).focus();
    await noSeriousFinding(page);
    await shoot(page, 'alerts-undo');
    await page.setViewportSize(PHONE);
    await page.emulateMedia({ colorScheme: 'dark' });
    await noSeriousFinding(page);
    await shoot(page, 'alerts-undo-phone-dark');
    await page.setViewportSize(DESKTOP);
    await notice.getByRole('button', { name: 'Undo' }).press('Enter');
    await page.getByText('Undone.').waitFor();
    await row.getByText('Disabled').waitFor({ state: 'detached' });
    assert.equal(await notice.count(), 0);
    assert.equal(await page.evaluate('document.activeElement.id'), 'main', 'the keyboard goes on in the page');
    await row.getByText(/quiet 22:00 to 07:00/).waitFor();
    await menu('Disable');
    await row.getByText('Disabled').waitFor();
    const alert = await onlyAlert();
    await fixture.culvert.account.call('PATCH', `/alerts/${String(alert['id'])}`, { enabled: true });
    await notice.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('alert').getByText('Nothing was undone').waitFor();
    assert.equal((await onlyAlert())['enabled'], true);
    await row.getByText('Disabled').waitFor({ state: 'detached' });
    await shoot(page, 'alerts-undo-refused');
    await menu('Disable');
    await row.getByText('Disabled').waitFor();
    await menu('Edit');
    await editing.waitFor();
    await page.evaluate('document.activeElement.blur()');
    await page.keyboard.press('Control+z');
    await editing.getByRole('button', { name: 'Cancel' }).click();
    await editing.waitFor({ state: 'detached' });
    assert.equal((await onlyAlert())['enabled'], false, 'Ctrl+Z does nothing behind a dialog');
    await notice.getByRole('button', { name: 'Dismiss' }).press('Enter');
    await notice.waitFor({ state: 'detached' });
    assert.equal(await page.evaluate('document.activeElement.id'), 'main', 'nor does a dismissal lose the place');
    await menu('Delete');
    await page
      .getByRole('dialog', { name: /^Delete the alert/ })
      .getByRole('button', { name: 'Delete alert' })
      .click();
    await page.getByText('No alerts yet').waitFor();
  });

  test('alerts page: the signing secret of a webhook is shown once, a fault stands at its field, on a phone too', async (t) => {
    const page = await fixture.open(t, '/alerts', { context: { viewport: PHONE, colorScheme: 'dark' } });
    await page.getByRole('button', { name: 'New alert' }).click();
    const making = page.getByRole('dialog', { name: 'New alert' });
    await making.getByRole('combobox', { name: 'Send to' }).click();
    await page.getByRole('option', { name: 'Webhook' }).click();
    await making.getByRole('button', { name: 'Create alert' }).click();
    await making.getByText('Enter the URL.').waitFor();
    await making.getByRole('textbox', { name: 'URL' }).fill('https://hooks.example.invalid/alerts');
    await noSeriousFinding(page);
    await shoot(page, 'alerts-new-phone-dark');
    await making.getByRole('button', { name: 'Create alert' }).click();
    const made = page.getByRole('dialog', { name: 'Alert created' });
    await made.getByText(/^whsec_/).waitFor();
    await made.getByRole('button', { name: 'Done' }).click();
    const row = page.getByRole('table', { name: 'Alert rules' }).getByRole('row').filter({ hasText: 'Webhook' });
    await row.getByRole('button', { name: /^Actions for/ }).click();
    await page.getByRole('menuitem', { name: 'Send test' }).click();
    await row.getByText('Fails', { exact: true }).waitFor();
    await row.getByText("Not sent: the name hooks.example.invalid can't be resolved").waitFor();
    assert.equal(await page.getByText(/whsec_/).count(), 0);
    const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    assert.ok(wide <= 0, `${wide} pixels too wide`);
    await noSeriousFinding(page);
    await shoot(page, 'alerts-phone-dark');
  });

  test('alerts page: the history shows what fires, what has recovered and events', async (t) => {
    const page = await fixture.open(t, '/domains');
    const at = new Date(Date.now() - 600_000).toISOString();
    const incident = (state: string, title: string, recovered: string | null) => ({
      ...{ id: title, alert_id: 'a', object: { type: 'tunnel', id: 't' }, state, title, detail: '', since: at },
      ...{ fired_at: at, recovered_at: recovered, href: '/app/tunnels/t' },
    });
    const history = [
      incident('firing', 'Tunnel shop is offline', null),
      incident('noted', 'An agent connected from a new address: 198.51.100.9', null),
      incident('recovered', 'Tunnel blog is offline', at),
    ];
    await page.route('**/alerts/history', (route) => route.fulfill({ json: history }));
    await page.getByRole('link', { name: 'Alerts' }).click();
    const table = page.getByRole('table', { name: 'History' });
    const row = (text: string) => table.getByRole('row').filter({ hasText: text });
    await row('Tunnel shop is offline').getByText('Firing').waitFor();
    await row('Tunnel shop is offline').getByText('not yet').waitFor();
    await row('Tunnel blog is offline').getByText('Recovered').waitFor();
    await row('198.51.100.9').getByText('Event').waitFor();
    assert.equal(await row('Tunnel shop is offline').getByRole('link').getAttribute('href'), '/app/tunnels/t');
    await noSeriousFinding(page);
    await shoot(page, 'alerts-history');
  });
});
