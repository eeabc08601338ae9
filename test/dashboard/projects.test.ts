// group: browser
/** Projects: made, renamed, with their keys and tunnels, and deleted. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { inReverse } from '../harness/ends.ts';
import { heading, NO_CHROMIUM, noSeriousFinding, PHONE, shoot, startFixture, type Fixture } from './fixture.ts';

suite('projects', { timeout: 120_000, skip: NO_CHROMIUM }, () => {
  const ends = inReverse({ after });
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture(ends);
  });

  test('projects page: a project is created, gets a working key, is renamed, and deleted with its contents', async (t) => {
    const page = await fixture.open(t, '/projects');
    await heading(page, 'Projects');
    await noSeriousFinding(page);
    await page.getByRole('button', { name: 'New project' }).click();
    const making = page.getByRole('dialog', { name: 'New project' });
    await making.getByRole('textbox', { name: 'Name' }).fill('Web shop');
    assert.equal(await making.getByRole('textbox', { name: 'Slug' }).inputValue(), 'web-shop');
    await making.getByText('pr-7-web-shop.localhost').waitFor();
    await making.getByRole('textbox', { name: 'Slug' }).fill('-shop');
    await making.getByRole('button', { name: 'Create project' }).click();
    await making.getByText('no dash at either end').waitFor();
    await making.getByRole('textbox', { name: 'Slug' }).fill('shop');
    await noSeriousFinding(page);
    await shoot(page, 'projects-new');
    await making.getByRole('button', { name: 'Create project' }).click();
    await heading(page, 'Web shop');
    assert.match(page.url(), /\/app\/projects\/shop$/);

    await page.getByRole('button', { name: 'New key' }).click();
    const minting = page.getByRole('dialog', { name: 'New key' });
    await minting.getByRole('textbox', { name: 'Name', exact: true }).fill('run');
    await minting.getByRole('button', { name: 'Create key' }).click();
    const shown = minting.getByRole('group', { name: 'the key', exact: true });
    await shown.waitFor();
    const token = await shown.innerText();
    await minting.getByText('--project shop').waitFor();
    await minting.getByRole('button', { name: 'Done' }).click();
    await fixture.culvert
      .agent(['http', '3000', '--project', 'shop', '--subdomain', 'pr-7'], { token })
      .printed(/pr-7-shop/);
    const tunnel = page.getByRole('table', { name: 'Tunnels' }).getByRole('row').filter({ hasText: 'pr-7-shop' });
    await page.reload();
    await tunnel.getByText('Online').waitFor();
    await page.getByRole('table', { name: 'Project keys' }).getByText('run').waitFor();
    await noSeriousFinding(page);
    await shoot(page, 'project');

    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill('Store');
    await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click();
    await heading(page, 'Store');

    await page.getByRole('button', { name: 'Delete project' }).click();
    const asking = page.getByRole('dialog', { name: 'Delete the project Store?' });
    await asking.getByText('Its 1 tunnel and 1 live key are deleted too').waitFor();
    await noSeriousFinding(page);
    await shoot(page, 'project-delete');
    await asking.getByRole('button', { name: 'Delete project' }).click();
    await heading(page, 'Projects');
    await page.getByText('Store deleted, with 1 tunnel and 1 key.').waitFor();
    assert.equal((await fixture.culvert.account.call('GET', '/projects/shop')).status, 404);
  });

  test('projects page: the default project stays, and a missing one is reported', async (t) => {
    const page = await fixture.open(t, '/projects/default', { context: { viewport: PHONE, colorScheme: 'dark' } });
    await page.getByText('The default project').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Delete project' }).count(), 0);
    const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    assert.ok(wide <= 0, `${wide} pixels too wide`);
    await shoot(page, 'project-phone-dark');
    await page.goto(`${fixture.culvert.apiUrl}/app/projects/nothing`);
    await page.getByRole('heading', { name: 'Project not found' }).waitFor();
    await page.goto(`${fixture.culvert.apiUrl}/app/projects`);
    await page.getByRole('table', { name: 'Projects' }).waitFor();
    await shoot(page, 'projects-phone-dark');
  });
});
