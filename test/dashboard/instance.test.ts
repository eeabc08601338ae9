// group: browser
/** Settings of the server by clicking: the first run, mail with its test, sign-up, and what the settings file keeps. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { inReverse } from '../harness/ends.ts';
import { type Smtp, startSmtp } from '../harness/smtp.ts';
import { type Fixture, heading, NO_CHROMIUM, noSeriousFinding, PHONE, shoot, startFixture } from './fixture.ts';

suite('instance', { timeout: 180_000, skip: NO_CHROMIUM }, () => {
  const ends = inReverse({ after });
  let fixture: Fixture;
  let smtp: Smtp;
  before(async () => {
    smtp = await startSmtp(ends);
    fixture = await startFixture(ends, { toml: '[plans]\ndefault = "team"' });
  });

  test('instance page: the first run asks for name, sign-up and mail, once', async (t) => {
    const page = await fixture.open(t, '/');
    const questions = page.getByRole('region', { name: 'Set up this server' });
    await questions.getByLabel('Name').fill('Tunnels of Ann');
    await questions.getByText('Mail is off.').waitFor();
    await noSeriousFinding(page);
    await shoot(page, 'instance-first-run');
    await questions.getByRole('button', { name: 'Save setup' }).click();
    await questions.waitFor({ state: 'hidden' });
    await page.reload();
    await heading(page, 'Overview');
    assert.equal(await questions.count(), 0);
  });

  test('instance page: mail is tested, then saved; a key of the settings file is disabled with the reason', async (t) => {
    const page = await fixture.open(t, '/operator/instance');
    await heading(page, 'Operator');
    const accounts = page.getByRole('region', { name: 'Accounts' });
    const plan = accounts.getByRole('combobox', { name: 'Plan of new organizations' });
    assert.ok(await plan.isDisabled());
    await accounts.getByText('Set in the settings file (plans.default)').waitFor();

    const mail = page.getByRole('region', { name: 'Mail' });
    await mail.getByRole('button', { name: 'Send test email' }).click();
    await mail.getByText('Mail is off').waitFor();
    await mail.getByRole('combobox', { name: 'Delivery' }).click();
    await page.getByRole('option', { name: 'Send by SMTP' }).click();
    await mail.getByRole('button', { name: 'Save' }).click();
    await mail.getByText('needs mail.smtp_url').waitFor();
    await mail.getByLabel('SMTP URL').first().fill(smtp.url);
    await mail.getByLabel('Sender').fill('Culvert <culvert@example.test>');
    await mail.getByRole('button', { name: 'Send test email' }).click();
    await mail.getByText(/accepted an email to/).waitFor();
    await noSeriousFinding(page);
    await shoot(page, 'instance-mail');
    await mail.getByRole('button', { name: 'Save' }).click();
    await mail.getByText(`Set: ${smtp.url}`).waitFor();
    assert.equal(smtp.mails.length, 1);
    await page.setViewportSize(PHONE);
    await noSeriousFinding(page);
    await shoot(page, 'instance-phone');
  });
});
