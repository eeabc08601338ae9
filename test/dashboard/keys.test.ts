// group: browser
/** Keys: made, shown once, limited, replaced, taken back. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Page } from 'playwright-core';
import { inReverse } from '../harness/ends.ts';
import { heading, NO_CHROMIUM, noSeriousFinding, PHONE, shoot, startFixture, type Fixture } from './fixture.ts';

suite('keys', { timeout: 240_000, skip: NO_CHROMIUM }, () => {
  const ends = inReverse({ after });
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture(ends);
  });

  test('keys page: a new key is shown once, with a working command, and stored nowhere', async (t) => {
    const page = await fixture.open(t, '/keys');
    await page.evaluate("Object.defineProperty(Navigator.prototype, 'clipboard', { value: undefined })");
    await heading(page, 'Keys');
    await page.getByRole('button', { name: 'New key' }).click();
    const dialog = page.getByRole('dialog', { name: 'New key' });
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await dialog.getByText('Enter a name for the key').waitFor();
    await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('laptop');
    await dialog.getByLabel('Allowed names').fill('pr-*,');
    await dialog.getByRole('textbox', { name: 'Monthly budget' }).fill('0.29');
    await noSeriousFinding(page);
    await shoot(page, 'keys-new');
    await dialog.getByRole('button', { name: 'Create key' }).click();
    const key = await shownKey(page, /^mtk_/);
    const command = await dialog.getByRole('group', { name: 'the command' }).innerText();
    assert.equal(command, `CULVERT_TOKEN=${key} culvert http 3000 --subdomain pr-1 --server ${fixture.culvert.apiUrl}`);
    await noSeriousFinding(page);
    await shoot(page, 'keys-minted');
    const agent = fixture.culvert.agent(['http', '3000', '--subdomain', 'pr-1'], { token: key });
    await agent.printed(/pr-1\./);
    await page.locator('[aria-label="Copy the key"]:focus').waitFor();
    await page.keyboard.press('Enter');
    await page.locator('[aria-label="Copy the key"] .tabler-icon-check').waitFor();
    await page.evaluate('document.execCommand = () => false');
    await page.keyboard.press('Enter');
    await page.getByText('The text is selected: press Ctrl+C').waitFor();
    assert.equal(await page.evaluate<string>('getSelection().toString()'), key);
    await page.getByRole('button', { name: 'Dismiss' }).click();
    await page.keyboard.press('Escape');
    assert.equal(await dialog.getByRole('button', { name: 'Close' }).count(), 0);
    await dialog.getByRole('button', { name: 'Done' }).click();
    const row = rowOf(page, 'laptop');
    await row.getByText('pr-*').waitFor();
    await row.getByText('of $0.29').waitFor();
    await dialog.waitFor({ state: 'hidden' });
    assert.ok(!(await page.content()).includes(key), 'it is in the page no more');
    const kept = await page.evaluate<string>(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, history.state, location.href])',
    );
    assert.doesNotMatch(kept, /mtk_/);
    agent.kill();
  });

  test('keys page: a budget is set, and 0 is shown as blocking', async (t) => {
    await mint(fixture, { name: 'spender' });
    const page = await fixture.open(t, '/keys');
    await action(page, 'spender', 'Set budget');
    const dialog = page.getByRole('dialog', { name: 'Budget for the key spender' });
    await dialog.getByRole('radio', { name: 'Cap at' }).check();
    await dialog.getByRole('textbox', { name: 'US dollars per month' }).fill('12,5');
    await dialog.getByRole('button', { name: 'Set budget' }).click();
    await dialog.getByText('Enter US dollars').waitFor();
    await dialog.getByRole('textbox', { name: 'US dollars per month' }).fill('0');
    await dialog.getByText('Visitors of its tunnels see an error immediately').waitFor();
    await noSeriousFinding(page);
    await shoot(page, 'keys-budget');
    await dialog.getByRole('textbox', { name: 'US dollars per month' }).fill('12.50');
    await dialog.getByRole('button', { name: 'Set budget' }).click();
    await rowOf(page, 'spender').getByText('of $12.50').waitFor();
    await action(page, 'spender', 'Set budget');
    await dialog.getByRole('radio', { name: 'Block key' }).check();
    await dialog.getByRole('button', { name: 'Set budget' }).click();
    await rowOf(page, 'spender').getByText('Blocked').waitFor();
  });

  test('keys page: the detail shows what a key serves and its last use; its limits are edited', async (t) => {
    const token = await mint(fixture, { name: 'worker' });
    const agent = fixture.culvert.agent(['http', '3000', '--subdomain', 'job-1'], { token });
    await agent.printed(/job-1\./);
    const page = await fixture.open(t, '/keys');
    const row = rowOf(page, 'worker');
    await row.getByText('1 tunnel', { exact: true }).waitFor();
    await row.getByText('127.0.0.1').waitFor();
    await row.getByRole('button', { name: 'worker', exact: true }).click();
    const detail = page.getByRole('dialog', { name: 'Key worker' });
    await detail.getByRole('link', { name: 'job-1' }).waitFor();
    await detail.getByText(/from 127\.0\.0\.1/).waitFor();
    // It has an address, which "Needs attention" leads to.
    await page.clock.install();
    await page.reload();
    await detail.getByRole('link', { name: 'job-1' }).waitFor();
    await noSeriousFinding(page);
    await shoot(page, 'keys-detail');
    await page.keyboard.press('Escape');
    await detail.waitFor({ state: 'hidden' });
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    const list = page.waitForResponse((response) => response.url().endsWith('/tokens'));
    await page.clock.fastForward(11_000);
    await list;
    assert.deepEqual(
      asked.filter((path) => path.includes('/tokens/')),
      [],
      'of a key that is not in sight nothing is asked for',
    );
    await action(page, 'worker', 'Edit limits');
    const limits = page.getByRole('dialog', { name: 'Limits of the key worker' });
    await limits.getByLabel('Maximum tunnels').fill('2');
    await limits.getByText('The key is in use').waitFor();
    await noSeriousFinding(page);
    await shoot(page, 'keys-limits');
    await limits.getByRole('button', { name: 'Save limits' }).click();
    await page.getByText('Limits of worker saved.').waitFor();
    await row.getByText('2 tunnels, 100 Mbit/s').waitFor();
    agent.kill();
  });

  test('keys page: a key rotated with a grace period is listed beside the new one', async (t) => {
    await mint(fixture, { name: 'turner' });
    const page = await fixture.open(t, '/keys');
    await action(page, 'turner', 'Rotate');
    const dialog = page.getByRole('dialog', { name: 'Rotate the key turner?' });
    await noSeriousFinding(page);
    await dialog.getByRole('button', { name: 'Rotate key' }).click();
    await shownKey(page, /^mtk_/);
    await dialog.getByRole('button', { name: 'Done' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await rowOf(page, 'turner').getByText('Replaced').waitFor();
    assert.equal(await rowOf(page, 'turner').count(), 2);
    const fresh = rowOf(page, 'turner').filter({ hasText: 'the new one' });
    await fresh.getByRole('button', { name: /^Actions for the key turner \([0-9a-f]{8}\)$/ }).click();
    await page.getByRole('menuitem', { name: 'Revoke' }).click();
    await page.getByRole('dialog').getByText('This is the new key').waitFor();
  });

  test('keys page: a master key shows how many keys end with it', async (t) => {
    const { body: master } = await fixture.culvert.account.call('POST', '/tokens/master', { name: 'robot' });
    for (const name of ['run-1', 'run-2']) {
      const answer = await fetch(`${fixture.culvert.apiUrl}/projects/default/tokens`, {
        method: 'POST',
        headers: { authorization: `Bearer ${String(master['apiKey'])}`, 'content-type': 'application/json' },
        body: JSON.stringify({ name }),
      });
      assert.equal(answer.status, 200);
    }
    const page = await fixture.open(t, '/keys');
    await rowOf(page, 'run-1').getByText('created by robot').waitFor();
    await shoot(page, 'keys');
    await noSeriousFinding(page);
    await action(page, 'robot', 'Revoke');
    const dialog = page.getByRole('dialog', { name: 'Revoke the key robot?' });
    await dialog.getByText('The 2 live keys that it created expire with it').waitFor();
    await noSeriousFinding(page);
    await dialog.getByRole('button', { name: 'Revoke 3 keys' }).click();
    await rowOf(page, 'run-1').waitFor({ state: 'detached' });
    await rowOf(page, 'robot').waitFor({ state: 'detached' });
    await choose(page, 'State', 'Revoked');
    await rowOf(page, 'run-2').waitFor();
    await page.getByRole('textbox', { name: 'Search keys' }).fill('run-1');
    await rowOf(page, 'run-2').waitFor({ state: 'detached' });
    assert.equal(await rowOf(page, 'run-1').count(), 1);
  });

  test('keys page: dialogs work by keyboard, and return the focus', async (t) => {
    await mint(fixture, { name: 'typist' });
    const page = await fixture.open(t, '/keys');
    const button = page.getByRole('button', { name: 'Actions for the key typist' });
    await button.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem', { name: 'Revoke' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Revoke the key typist?' }).waitFor();
    await page.keyboard.press('Escape');
    await page.locator('[aria-label="Actions for the key typist"]:focus').waitFor();
  });

  test('keys page: a plan without master keys links to the plans', async (t) => {
    const as = await fixture.person('free@example.com');
    const page = await fixture.open(t, '/keys', { as });
    await page.getByRole('heading', { name: 'No keys yet' }).waitFor();
    await noSeriousFinding(page);
    await shoot(page, 'keys-empty');
    await page.getByRole('button', { name: 'New key' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'New key' });
    await dialog.getByText('Master', { exact: true }).click();
    await dialog.getByRole('link', { name: 'See plans' }).waitFor();
    assert.equal(await dialog.getByRole('button', { name: 'Create key' }).isDisabled(), true);
    await shoot(page, 'keys-new-master');
  });

  test('keys page: a new metrics key comes with the settings for Prometheus', async (t) => {
    const page = await fixture.open(t, '/keys');
    await page.getByRole('button', { name: 'New metrics key' }).click();
    const dialog = page.getByRole('dialog', { name: 'New metrics key' });
    await dialog.getByRole('button', { name: 'Create key' }).click();
    const key = await shownKey(page, /\S/);
    const answer = await fetch(`${fixture.culvert.apiUrl}/metrics/prometheus`, {
      headers: { authorization: `Bearer ${key}` },
    });
    assert.equal(answer.status, 200);
    await dialog.getByText('metrics_path: /metrics/prometheus').waitFor();
    await shoot(page, 'keys-metrics');
    await dialog.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('button', { name: 'Delete the metrics key prometheus' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete key' }).click();
    await page.getByText('None yet.').waitFor();
  });

  test('on a phone nothing is wider than the window', async (t) => {
    const page = await fixture.open(t, '/keys', { context: { viewport: PHONE, colorScheme: 'dark' } });
    await rowOf(page, 'typist').waitFor();
    const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    assert.ok(wide <= 0, `${wide} pixels too wide`);
    await shoot(page, 'keys-phone-dark');
    await page.getByRole('button', { name: 'New key' }).click();
    await page.getByRole('dialog', { name: 'New key' }).waitFor();
    await shoot(page, 'keys-new-phone-dark');
  });
});

/** Returns its text. */
async function mint(fixture: Fixture, body: Record<string, unknown>): Promise<string> {
  const made = await fixture.culvert.account.call('POST', '/tokens', body);
  assert.equal(made.status, 200);
  return String(made.body['apiKey']);
}

function rowOf(page: Page, name: string) {
  return page.getByRole('table', { name: 'Keys', exact: true }).getByRole('row').filter({ hasText: name });
}

async function action(page: Page, key: string, what: string): Promise<void> {
  await page.getByRole('button', { name: `Actions for the key ${key}` }).click();
  await page.getByRole('menuitem', { name: what }).click();
}

async function choose(page: Page, field: string, option: string): Promise<void> {
  await page.getByRole('combobox', { name: field }).click();
  await page.getByRole('option', { name: option, exact: true }).click();
}

async function shownKey(page: Page, like: RegExp): Promise<string> {
  const shown = page.getByRole('dialog').getByRole('group', { name: 'the key', exact: true });
  await shown.waitFor();
  const key = await shown.innerText();
  assert.match(key, like);
  return key;
}
