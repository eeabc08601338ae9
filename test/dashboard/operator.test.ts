// group: browser
/** The pages of those who run the server: accounts, organizations, its figures, signing keys and the audit log of all. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { Account } from '../harness/account.ts';
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

suite('operator', { timeout: 180_000, skip: NO_CHROMIUM }, () => {
  const ends = inReverse({ after });
  let fixture: Fixture;
  let ann: Person;
  before(async () => {
    fixture = await startFixture(ends);
    ann = await fixture.person('ann@example.com');
  });

  test('operator page: an account is created, locked and unlocked, and its new password is shown once', async (t) => {
    const page = await fixture.open(t, '/operator/users');
    await heading(page, 'Operator');
    await page.getByRole('button', { name: 'New account' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Email address').fill('bob@example.com');
    await noSeriousFinding(page);
    await shoot(page, 'operator-new-account');
    await dialog.getByRole('button', { name: 'Create account' }).click();
    await dialog.getByText("You won't see it again").waitFor();
    const password = await dialog.getByRole('group', { name: 'the password', exact: true }).textContent();
    await noSeriousFinding(page);
    await page.keyboard.press('Escape');
    await dialog.getByRole('button', { name: 'Done' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await Account.logIn(fixture.culvert.apiUrl, 'bob@example.com', String(password));
    assert.doesNotMatch(await page.content(), new RegExp(String(password)));

    await page.getByRole('textbox', { name: 'Search by name or email' }).fill('bob@');
    const rows = page.getByRole('table', { name: 'Accounts' }).locator('tbody').getByRole('row');
    await rows.nth(1).waitFor({ state: 'detached' });
    await shoot(page, 'operator-users');
    await choose('Lock account');
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await page.locator('[aria-label="Actions for bob@example.com"]:focus').waitFor();
    await choose('Lock account');
    await dialog.getByText('agents with these keys are disconnected').waitFor();
    await noSeriousFinding(page);
    await dialog.getByRole('button', { name: 'Lock account' }).click();
    await rows.getByText('locked', { exact: true }).waitFor();
    await assert.rejects(Account.logIn(fixture.culvert.apiUrl, 'bob@example.com', String(password)));
    await choose('Unlock account');
    await dialog.getByRole('button', { name: 'Unlock account' }).click();
    await rows.getByText('locked', { exact: true }).waitFor({ state: 'detached' });
    await choose('Reset password');
    await dialog.getByRole('button', { name: 'Reset password' }).click();
    await dialog.getByText("You won't see it again").waitFor();
    const next = await dialog.getByRole('group', { name: 'the password', exact: true }).textContent();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await Account.logIn(fixture.culvert.apiUrl, 'bob@example.com', String(next));

    async function choose(action: string): Promise<void> {
      await page.getByRole('button', { name: 'Actions for bob@example.com' }).click();
      await page.getByRole('menuitem', { name: action }).click();
    }
  });

  test('operator page: an organization is suspended, approved, and moved to another plan', async (t) => {
    const page = await fixture.open(t, '/operator/organizations');
    const row = page.getByRole('row').filter({ hasText: ann.email });
    const dialog = page.getByRole('dialog');
    await choose('Suspend');
    await dialog.getByRole('button', { name: 'Suspend' }).click();
    await row.getByText('suspended').waitFor();
    await choose('Approve');
    await row.getByText('approved').waitFor();
    await choose('Change plan');
    await dialog.getByRole('radio', { name: 'Team' }).check();
    await noSeriousFinding(page);
    await shoot(page, 'operator-plan');
    await dialog.getByRole('button', { name: 'Change plan' }).click();
    await row.getByText('Team').waitFor();
    await dialog.waitFor({ state: 'hidden' });
    await noSeriousFinding(page);
    await shoot(page, 'operator-organizations');

    async function choose(action: string): Promise<void> {
      await row.getByRole('button', { name: /^Actions for/ }).click();
      await page.getByRole('menuitem', { name: action }).click();
    }
  });

  test('operator page: live figures of the server, and reasons of blocked visitors', async (t) => {
    const { ports } = fixture.culvert;
    const page = await fixture.open(t, '/operator');
    await page.getByRole('img', { name: /^Requests: / }).waitFor();
    await fetch(`http://127.0.0.1:${ports.http}/`, { headers: { host: 'nothing.localhost' } });
    const answered = page.getByRole('table', { name: 'Edge errors' });
    await answered.getByRole('row').filter({ hasText: 'tunnel_not_found' }).waitFor();
    await page.getByRole('switch', { name: 'Show zero counts' }).click();
    const dropped = page.getByRole('table', { name: 'Dropped' });
    await dropped.getByText('edge.limits.max_connections_per_ip').first().waitFor();
    await page.getByRole('switch', { name: 'Show zero counts' }).click();
    await noSeriousFinding(page);
    await shoot(page, 'operator-server');
  });

  test('operator page: signing keys rotate after confirmation, and the audit log records it', async (t) => {
    const page = await fixture.open(t, '/operator/keys');
    await page.getByRole('button', { name: 'Rotate the signing key: Logins' }).click();
    const dialog = page.getByRole('dialog');
    await noSeriousFinding(page);
    await dialog.getByRole('button', { name: 'Rotate' }).click();
    await page.getByRole('status').filter({ hasText: 'The new signing key is' }).waitFor();
    await shoot(page, 'operator-keys');
    await page.getByRole('tab', { name: 'Audit log' }).click();
    const log = page.getByRole('table', { name: 'Audit log' });
    await log.getByText('rotated a signing key').waitFor();
    await log
      .getByRole('row')
      .filter({ hasText: 'locked an account' })
      .filter({ hasText: 'bob@example.com' })
      .first()
      .waitFor();
    await noSeriousFinding(page);
    await shoot(page, 'operator-audit');
    await page.getByRole('tab', { name: 'Certificates' }).click();
    await page.getByRole('heading', { name: 'No ACME certificates' }).waitFor();
    await shoot(page, 'operator-certificates');
  });

  test('operator page: other users have no access, and see why', async (t) => {
    const page = await fixture.open(t, '/operator/users', { as: ann });
    await page.getByRole('heading', { name: 'Operators only' }).waitFor();
    assert.equal(await page.getByRole('link', { name: 'Operator' }).count(), 0);
  });

  test('operator page: fits a phone', async (t) => {
    const page = await fixture.open(t, '/operator', { context: { viewport: PHONE, colorScheme: 'dark' } });
    await page.getByRole('img', { name: /^Requests: / }).waitFor();
    await shoot(page, 'operator-server-phone-dark');
    for (const tab of ['Server', 'Users', 'Organizations', 'Audit log']) {
      await page.getByRole('tab', { name: tab }).click();
      await page
        .getByRole(tab === 'Server' ? 'img' : 'table')
        .first()
        .waitFor();
      const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
      assert.ok(wide <= 0, `${tab}: ${wide} pixels too wide`);
      if (tab === 'Users') await shoot(page, 'operator-users-phone-dark');
    }
  });
});
