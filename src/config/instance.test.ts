/** What holds of the settings file and of the dashboard's values beside it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readInstance, shownOf } from './instance.ts';
import { checkServerConfig } from './load.ts';

const read = (file: string, values: Record<string, string | boolean>) =>
  readInstance(checkServerConfig(file, 'test.toml').settings, new Map(Object.entries(values)));

const SMTP = { 'mail.transport': 'smtp', 'mail.smtp_url': 'smtp://a:b@mail.test', 'mail.from': 'a@mail.test' };

test('instance: a value counts where the file leaves its key out or empty', () => {
  const { part, wrong } = read('[accounts]\nsignup = "closed"\n[mail]\nfrom = ""', {
    ...SMTP,
    'accounts.signup': 'open',
  });
  assert.deepEqual(wrong, []);
  assert.deepEqual([part.accounts.signup, part.mail.transport, part.mail.from], ['closed', 'smtp', 'a@mail.test']);
});

test('instance: half of a mail server is none, and the rest holds', () => {
  const { 'mail.from': _, ...half } = SMTP;
  const { part, wrong } = read('', { ...half, 'server.name': ' Ann ' });
  assert.deepEqual([part.mail.transport, part.server.name], ['log', 'Ann']);
  assert.deepEqual(
    wrong.map(({ key }) => key),
    ['mail.transport'],
  );
});

test('instance: a sign-up mode that cannot be read closes sign-up', () => {
  const { part, wrong } = read('', { 'accounts.signup': 'ajar' });
  assert.equal(part.accounts.signup, 'closed');
  assert.equal(wrong.length, 1);
});

test('instance: a value of the file that does not fit the dashboard ones leaves those out', () => {
  const { part, wrong } = read('[mail]\nsmtp_url = "nonsense"', SMTP);
  assert.equal(part.mail.transport, 'log');
  assert.deepEqual(
    wrong.map(({ key }) => key),
    ['mail.smtp_url'],
  );
});

test('instance: secrets are not shown, and the URL of a mail server without its password', () => {
  const { part } = read('', { ...SMTP, 'oauth.google.client_id': 'x', 'oauth.google.client_secret': 'hidden' });
  const shown = shownOf(part);
  assert.equal(shown.get('mail.smtp_url'), 'smtp://a@mail.test');
  assert.equal(shown.get('oauth.google.client_secret'), null);
  assert.ok(!JSON.stringify([...shown]).includes('hidden'));
});
