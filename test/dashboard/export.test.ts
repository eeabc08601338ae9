// group: browser
/** The export's page: destinations are set, a secret is shown once, saved values stay hidden, and the state is there. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { inReverse } from '../harness/ends.ts';
import { heading, NO_CHROMIUM, noSeriousFinding, PHONE, shoot, startFixture, type Fixture } from './fixture.ts';

suite('export', { timeout: 120_000, skip: NO_CHROMIUM }, () => {
  const ends = inReverse({ after });
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture(ends);
  });

  test('export page: a collector and a webhook are set, secrets are kept, and failures are shown', async (t) => {
    const page = await fixture.open(t, '/export');
    await heading(page, 'Export');
    await page.getByRole('switch', { name: 'Send to a collector' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Enter the endpoint.').waitFor();
    await page.getByText('Select at least one event.').waitFor();
    await page.getByRole('checkbox', { name: 'Audit events' }).click();
    await page.getByRole('textbox', { name: 'Endpoint' }).fill('https://127.0.0.1');
    await page.getByRole('button', { name: 'Add header' }).click();
    await page.getByRole('textbox', { name: 'Name of header 1' }).fill('X-Key');
    await page.getByLabel('Value of header 1', { exact: true }).fill('very-secret');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('otlp.endpoint must lead to a public address.').waitFor();
    await page.getByRole('textbox', { name: 'Endpoint' }).fill('https://otlp.example.invalid');
    await page.getByRole('switch', { name: 'Send to a webhook' }).click();
    await page.getByRole('textbox', { name: 'URL' }).fill('https://siem.example.invalid/in');
    await noSeriousFinding(page);
    await shoot(page, 'export-form');
    await page.getByRole('button', { name: 'Save' }).click();
    const shown = page.getByRole('dialog', { name: 'Signing secret' });
    await shown.getByText(/^whsec_/).waitFor();
    await noSeriousFinding(page);
    await shown.getByRole('button', { name: 'Done' }).click();
    await page.getByText('Saved headers: X-Key.').waitFor();
    await page.getByText("The last attempt failed: the name otlp.example.invalid can't be resolved").waitFor();
    assert.equal(await page.getByText('very-secret').count(), 0);
    await page.getByRole('textbox', { name: 'Endpoint' }).fill('https://otlp.example.test');
    await page.getByText('Saved headers are not sent to another endpoint.').waitFor();
  });

  test('export page: a save by another admin keeps what was typed, and a repeated header is shown', async (t) => {
    const { account } = fixture.culvert;
    const me = await account.call('GET', '/auth/me');
    const path = `/orgs/${(me.body['active_org'] as { readonly id: string }).id}/export`;
    const saveElsewhere = async (endpoint: string): Promise<void> => {
      const otlp = { endpoint, headers: {} };
      const saved = await account.call('PUT', path, { events: ['audit'], otlp, webhook: null });
      assert.equal(saved.status, 200, JSON.stringify(saved.body));
    };
    await saveElsewhere('https://otlp.example.invalid');
    const page = await fixture.open(t, '/export');
    const endpoint = page.getByRole('textbox', { name: 'Endpoint' });
    const notice = page.getByText('Another admin changed these settings. Save replaces them with yours.');
    const name = (nth: number) => page.getByRole('textbox', { name: `Name of header ${nth}` });
    await endpoint.waitFor();
    for (const [nth, text] of [
      [1, 'X-Key'],
      [2, 'x-key'],
    ] as const) {
      await page.getByRole('button', { name: 'Add header' }).click();
      await name(nth).fill(text);
      await page.getByLabel(`Value of header ${nth}`, { exact: true }).fill('v');
    }
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Another header has this name. Remove one of them.').waitFor();
    await shoot(page, 'export-repeated-header');
    await name(2).fill('Y-Key');
    await saveElsewhere('https://two.example.invalid');
    await page.getByRole('button', { name: 'Save' }).click();
    await notice.waitFor();
    assert.deepEqual(
      [await name(2).inputValue(), await endpoint.inputValue()],
      ['Y-Key', 'https://otlp.example.invalid'],
    );
    await noSeriousFinding(page);
    await shoot(page, 'export-changed');
    await page.getByRole('button', { name: 'Discard my changes' }).click();
    await notice.waitFor({ state: 'detached' });
    assert.equal(await endpoint.inputValue(), 'https://two.example.invalid');
    await saveElsewhere('https://three.example.invalid');
    await page.locator('input[value="https://three.example.invalid"]').waitFor();
    assert.equal(await notice.count(), 0, 'an untouched form shows the newest');
  });

  test('export page: a member sees the state and changes nothing, on a phone too', async (t) => {
    const page = await fixture.open(t, '/export', { context: { viewport: PHONE, colorScheme: 'dark' } });
    await heading(page, 'Export');
    const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    assert.ok(wide <= 0, `${wide} pixels too wide`);
    await page.route('**/auth/me', async (route) => {
      const response = await route.fetch();
      const me = (await response.json()) as { active_org: object };
      await route.fulfill({ response, json: { ...me, active_org: { ...me.active_org, role: 'member' } } });
    });
    await page.reload();
    await page.getByText('Admins and owners can change the export.').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Save' }).count(), 0);
    await noSeriousFinding(page);
    await shoot(page, 'export-phone-dark');
  });
});
