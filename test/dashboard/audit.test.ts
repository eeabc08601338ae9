// group: browser
/** The audit log: found by what, who and when, read page by page, and saved as a file that no spreadsheet runs. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, suite, test } from 'node:test';
import { inReverse } from '../harness/ends.ts';
import { heading, NO_CHROMIUM, noSeriousFinding, PHONE, shoot, startFixture, type Fixture } from './fixture.ts';

const EVENTS = 60;

suite('audit', { timeout: 120_000, skip: NO_CHROMIUM }, () => {
  const ends = inReverse({ after });
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture(ends);
    const { account } = fixture.culvert;
    for (let n = 0; n < EVENTS; n++) {
      const { status } = await account.call('POST', '/projects', { slug: `shop-${n}`, name: `=shop ${n}` });
      assert.equal(status, 201);
    }
    await account.call('POST', '/tunnels', { localPort: 3000, subdomain: 'shop' });
  });

  test('audit page: filters by action and user, and loads earlier events', async (t) => {
    const page = await fixture.open(t, '/audit');
    await heading(page, 'Audit log');
    const rows = page.getByRole('table', { name: 'Audit log' }).locator('tbody').getByRole('row');
    await rows.filter({ hasText: 'created a tunnel' }).first().waitFor();
    assert.equal(await rows.count(), 50);
    await noSeriousFinding(page);
    await shoot(page, 'audit');
    await page.getByRole('button', { name: 'Show older' }).click();
    await rows.nth(55).waitFor();

    await page
      .getByRole('combobox', { name: 'Action' })
      .or(page.getByLabel('Action', { exact: true }))
      .first()
      .fill('created a tunnel');
    await page.getByRole('option', { name: 'created a tunnel' }).click();
    await rows.nth(1).waitFor({ state: 'detached' });
    assert.equal(await rows.count(), 1);
    await page.getByLabel('Actor').fill('unknown@example.com');
    await page.getByRole('heading', { name: 'No events found' }).waitFor();
    await page.getByLabel('Actor').fill('ADMIN@localhost');
    await rows.first().waitFor();
    await page.getByLabel('Since').fill('2999-01-01');
    await page.getByRole('heading', { name: 'No events found' }).waitFor();
    await page.getByLabel('Since').fill('');
    await rows.first().waitFor();
    await page.getByLabel('Until').fill('2000-01-01');
    await page.getByRole('heading', { name: 'No events found' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'No events found' }).waitFor();
    await page.getByLabel('Until').fill('');
    await page.getByRole('link', { name: 'created a tunnel' }).click();
    await page.waitForURL(/\/app\/tunnels\/[0-9a-f-]{36}$/);
  });

  test('audit page: exports CSV without formulas, and JSON', async (t) => {
    const page = await fixture.open(t, '/audit');
    const csv = await save('CSV, for spreadsheets');
    assert.match(csv.name, /^culvert-audit-\d{4}-\d\d-\d\d\.csv$/);
    const lines = csv.text.trimEnd().split('\r\n');
    assert.ok(lines.length > EVENTS, `${lines.length} lines`);
    for (const line of lines) assert.doesNotMatch(line, /(?:^|,)"?[=+@-]/);
    const json = await save('JSON');
    const events = JSON.parse(json.text) as Array<{ action: string }>;
    assert.equal(events.length, lines.length - 1);
    assert.equal(events.filter(({ action }) => action === 'project.create').length, EVENTS);

    async function save(form: string): Promise<{ name: string; text: string }> {
      await page.getByRole('button', { name: 'Export' }).click();
      const saved = page.waitForEvent('download');
      await page.getByRole('menuitem', { name: form }).click();
      const download = await saved;
      return { name: download.suggestedFilename(), text: await readFile(await download.path(), 'utf8') };
    }
  });

  test('audit page: fits a phone', async (t) => {
    const page = await fixture.open(t, '/audit', { context: { viewport: PHONE, colorScheme: 'dark' } });
    await page.getByText('created a tunnel').first().waitFor();
    const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    assert.ok(wide <= 0, `${wide} pixels too wide`);
    await shoot(page, 'audit-phone-dark');
  });
});
