// group: browser
/** Members and the organization: people come, get another role and go; organizations are made, renamed and deleted. */
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

suite('members and organization', { timeout: 120_000, skip: NO_CHROMIUM }, () => {
  const ends = inReverse({ after });
  let fixture: Fixture;
  let bob: Person;
  const used: string[] = [];
  before(async () => {
    fixture = await startFixture(ends);
    bob = await fixture.person('bob@example.com');
  });

  test('members page: an owner invites a member, changes the role, and removes the member', async (t) => {
    const page = await fixture.open(t, '/members');
    await heading(page, 'Members');
    await page.getByRole('button', { name: 'Invite member' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Email address').fill('no address');
    // Mail is off on this server.
    await dialog.getByRole('button', { name: 'Create invitation' }).click();
    await dialog.locator('[aria-invalid="true"]').waitFor();
    await noSeriousFinding(page);
    await shoot(page, 'members-invite');
    await dialog.getByLabel('Email address').fill(bob.email);
    await dialog.getByRole('radio', { name: 'Viewer' }).check();
    await dialog.getByRole('button', { name: 'Create invitation' }).click();
    await dialog.getByText('Mail is off on this server').waitFor();
    const link = await dialog.getByRole('group', { name: 'the link', exact: true }).textContent();
    assert.match(String(link), /\/app\/invite\?token=/);
    await noSeriousFinding(page);
    await shoot(page, 'members-link');
    await dialog.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('table', { name: 'Invitations' }).getByText(bob.email).waitFor();
    await shoot(page, 'members-invited');
    await noSeriousFinding(page);

    await accept(fixture, bob, used);
    await page.reload();
    const row = page.getByRole('table', { name: 'Members' }).getByRole('row').filter({ hasText: bob.email });
    await row.getByText('Viewer').waitFor();
    await page.getByRole('button', { name: `Actions for ${bob.email}` }).click();
    await page.getByRole('menuitem', { name: 'Change role' }).click();
    await dialog.getByRole('radio', { name: 'Admin' }).check();
    await noSeriousFinding(page);
    await shoot(page, 'members-role');
    await dialog.getByRole('button', { name: 'Make admin' }).click();
    await row.getByText('Admin').waitFor();
    await shoot(page, 'members');
    await page.getByRole('group', { name: 'Undo' }).getByText(`${bob.email} is now admin.`).waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await row.getByText('Viewer').waitFor();

    await page.getByRole('button', { name: `Actions for ${bob.email}` }).click();
    await page.getByRole('menuitem', { name: 'Remove member' }).click();
    await dialog.getByRole('button', { name: 'Remove', exact: true }).click();
    await row.waitFor({ state: 'detached' });
  });

  test('members page: an invitation is sent again and revoked, and the last owner cannot leave', async (t) => {
    const page = await fixture.open(t, '/members');
    await fixture.culvert.account.call('POST', `/orgs/${await orgId(fixture)}/invitations`, {
      email: 'cat@example.com',
      role: 'member',
    });
    await page.reload();
    const actions = page.getByRole('button', { name: 'Actions for the invitation for cat@example.com' });
    await actions.click();
    await page.getByRole('menuitem', { name: 'Resend' }).click();
    const sending = page.getByRole('dialog');
    await noSeriousFinding(page);
    await shoot(page, 'members-resend');
    // The list behind it can't be read for a while: the link is shown once, and stays.
    const list = /\/invitations$/;
    await page.route(list, (route) =>
      route.fulfill({ status: 429, json: { error: 'rate_limited', message: 'Slowly.' } }),
    );
    await sending.getByRole('button', { name: 'Resend' }).click();
    await page.locator('main').getByText('Slowly.').waitFor();
    await page.unroute(list);
    const link = await sending.getByRole('group', { name: 'the link', exact: true }).innerText();
    assert.match(link, /\/app\/invite\?token=[\w-]{43}$/);
    await noSeriousFinding(page);
    await shoot(page, 'members-resent');
    await sending.getByRole('button', { name: 'Done' }).click();
    await sending.waitFor({ state: 'hidden' });
    assert.ok(!(await page.content()).includes(link.slice(-43)));
    const theirs = await fixture.open(t, link.slice(link.indexOf('/invite')), { as: null });
    await heading(theirs, 'You are invited');
    await theirs.getByText('cat@example.com', { exact: true }).first().waitFor();
    await actions.click();
    await page.getByRole('menuitem', { name: 'Revoke' }).click();
    await page.getByRole('button', { name: 'Revoke invitation', exact: true }).click();
    await page.getByRole('region', { name: 'Invitations' }).waitFor({ state: 'detached' });
    await theirs.goto(link);
    await heading(theirs, 'Invitation not valid');
    await page.getByRole('button', { name: 'Actions for admin@localhost' }).click();
    await page.getByRole('menuitem', { name: 'Leave organization' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('The member is the last owner.').waitFor();
    await dialog.getByRole('button', { name: 'Leave', exact: true }).click();
    await dialog.getByRole('alert').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    await page.locator('[aria-label="Actions for admin@localhost"]:focus').waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem', { name: 'Change role' }).click();
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await page.locator('[aria-label="Actions for admin@localhost"]:focus').waitFor();
  });

  test('organization page: one is created, renamed and deleted, and the next becomes active', async (t) => {
    const page = await fixture.open(t, '/organization', { as: bob });
    await heading(page, 'Organization');
    assert.equal(await page.getByRole('button', { name: 'Delete organization' }).isDisabled(), true);
    await page.getByRole('button', { name: 'New organization' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Second shop');
    await noSeriousFinding(page);
    await dialog.getByRole('button', { name: 'Create organization' }).click();
    await page.getByRole('button', { name: 'Organization: Second shop' }).waitFor();
    const name = page.getByRole('region', { name: 'About' }).getByLabel('Name');
    await name.fill('Better shop');
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('button', { name: 'Organization: Better shop' }).waitFor();
    await noSeriousFinding(page);
    await shoot(page, 'organization');
    await page.getByRole('button', { name: 'Delete organization' }).click();
    await shoot(page, 'organization-delete');
    await noSeriousFinding(page);
    const action = dialog.getByRole('button', { name: 'Delete organization' });
    assert.equal(await action.isDisabled(), true);
    await dialog.getByLabel('Type Better shop to confirm').fill('Better shop');
    await action.click();
    await page.getByText('This is your only organization.').waitFor();
  });

  test('members page: a thousand members are drawn in part, searched in full, and share one dialog', async (t) => {
    const page = await fixture.open(t, '/account');
    await heading(page, 'Account');
    const many = Array.from({ length: 1_000 }, (_, i) => ({
      user_id: `0199-${i}`,
      email: `m${i}@example.com`,
      name: '',
      role: 'member',
      joined_at: '2026-11-01T00:00:00.000Z',
      mfa_enabled: false,
    }));
    await page.route('**/orgs/*/members', (route) => route.fulfill({ json: many }));
    await page.getByRole('link', { name: 'Members', exact: true }).click();
    const rows = page.getByRole('table', { name: 'Members' }).getByRole('row');
    await rows.nth(50).waitFor();
    assert.equal(await rows.count(), 51);
    await page.getByRole('button', { name: 'Show more: 950 are not shown' }).waitFor();
    await shoot(page, 'members-many');
    await page.getByRole('textbox', { name: 'Search members' }).fill('m999@');
    await page.getByRole('button', { name: 'Actions for m999@example.com' }).click();
    await page.getByRole('menuitem', { name: 'Remove member' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('heading', { name: /^Remove m999@example.com from/ }).waitFor();
    await noSeriousFinding(page);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.locator('[aria-label="Actions for m999@example.com"]:focus').waitFor();
  });

  test('members page: offers only what the role allows, and fits a phone', async (t) => {
    const invited = await fixture.culvert.account.call('POST', `/orgs/${await orgId(fixture)}/invitations`, {
      email: bob.email,
      role: 'viewer',
    });
    assert.equal(invited.status, 201);
    await accept(fixture, bob, used);
    const context = { viewport: PHONE, colorScheme: 'dark' as const };
    const page = await fixture.open(t, '/members', { as: bob, context });
    await page.getByRole('button', { name: /^Organization: / }).click();
    await page.getByRole('menuitem', { name: /viewer/ }).click();
    await page.getByRole('table', { name: 'Members' }).getByText('admin@localhost').first().waitFor();
    assert.equal(await page.getByRole('button', { name: 'Invite member' }).count(), 0);
    assert.equal(await page.getByRole('button', { name: /^Actions for/ }).count(), 1);
    await shoot(page, 'members-phone-dark');
    const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    assert.ok(wide <= 0, `${wide} pixels too wide`);
    await page.getByRole('button', { name: `Actions for ${bob.email}` }).click();
    await page.getByRole('menuitem', { name: 'Leave organization' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Leave', exact: true }).click();
    await page.getByRole('button', { name: /^Organization: / }).waitFor({ state: 'detached' });
  });
});

async function orgId(fixture: Fixture): Promise<string> {
  const { body } = await fixture.culvert.account.call('GET', '/auth/me');
  return (body['active_org'] as { id: string }).id;
}

/** Uses the newest invitation of the person: emails are in the log of this server. `used`: the tokens of those before it, to which its own is added. */
async function accept({ culvert }: Fixture, { email, password }: Person, used: string[]): Promise<void> {
  const others = used.map((token) => `(?!${token})`).join('');
  const token = await culvert.server.printed(new RegExp(`"to":"${email}".*invite\\?token=${others}([\\w-]+)`));
  used.push(token);
  const account = await Account.logIn(culvert.apiUrl, email, password);
  const { status, body } = await account.call('POST', '/orgs/invitations/accept', { token });
  assert.equal(status, 200, JSON.stringify(body));
}
