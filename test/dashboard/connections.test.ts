// group: browser
/** The page of connections: who is there, ending one, and how the last ones ended. */
import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { after, before, suite, test } from 'node:test';
import { inReverse } from '../harness/ends.ts';
import type { Program } from '../../scripts/quickstart/program.ts';
import { heading, NO_CHROMIUM, noSeriousFinding, PHONE, shoot, startFixture, type Fixture } from './fixture.ts';

suite('connections', { timeout: 120_000, skip: NO_CHROMIUM }, () => {
  const ends = inReverse({ after });
  let fixture: Fixture;
  let shop: Program;
  before(async () => {
    fixture = await startFixture(ends);
    shop = fixture.culvert.agent(['http', '3000', '--subdomain', 'shop']);
    const brief = fixture.culvert.agent(['tcp', '5432']);
    await Promise.all([shop.printed(/http:\/\/shop\.localhost/), brief.printed(/tcp:\/\//)]);
    assert.equal(await brief.stop(), 0);
  });

  test('connections page: an agent is disconnected with a reason, shows it, and reconnects', async (t) => {
    const page = await fixture.open(t, '/connections');
    await heading(page, 'Connections');
    const live = page.getByRole('table', { name: 'Connected agents' });
    const ended = page.getByRole('table', { name: 'Ended' });
    await live.getByRole('link', { name: 'shop' }).waitFor();
    await live.getByText('harness').waitFor();
    await ended.getByText('Stopped', { exact: true }).waitFor();
    await noSeriousFinding(page);
    await shoot(page, 'connections');
    await page.getByRole('button', { name: `Disconnect ${hostname()}` }).click();
    const dialog = page.getByRole('dialog', { name: `Disconnect ${hostname()}?` });
    await dialog.getByLabel('Reason (optional)').fill('moved to the new machine');
    await noSeriousFinding(page);
    await shoot(page, 'connections-disconnect');
    await dialog.getByRole('button', { name: 'Disconnect' }).click();
    await page.getByText('Agent disconnected.').waitFor();
    await shop.printed(/moved to the new machine/);
    await ended.getByText('moved to the new machine').waitFor();
    await ended.getByText('Disconnected', { exact: true }).waitFor();
    await live.getByRole('link', { name: 'shop' }).waitFor();
  });

  test('connections page: rows are cards on a phone, and all fits', async (t) => {
    const page = await fixture.open(t, '/connections', { context: { viewport: PHONE, colorScheme: 'dark' } });
    await page.getByRole('table', { name: 'Ended' }).waitFor();
    const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    assert.ok(wide <= 0, `${wide} pixels too wide`);
    await noSeriousFinding(page);
    await shoot(page, 'connections-phone-dark');
  });

  test('connections page: an organization without agents sees how to connect one', async (t) => {
    const page = await fixture.open(t, '/connections', { as: await fixture.person('ann@example.test') });
    await page.getByRole('heading', { name: 'No agents connected' }).waitFor();
    await page.getByRole('button', { name: 'Connect an agent' }).click();
    await page.getByRole('dialog', { name: 'Connect an agent' }).waitFor();
    await shoot(page, 'connections-empty');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
  });
});
