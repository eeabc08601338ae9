/** What the page of the server's settings sends, and what it says of each. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { INSTANCE_KEYS, INSTANCE_SECRETS } from '../../src/config/instance.ts';
import {
  byKey,
  changesOf,
  GROUPS,
  lockText,
  secretText,
  type Setting,
  valuesOf,
} from '../../src/dashboard/pages/operator/instance/fields.ts';

const setting = (changes: Partial<Setting> & { key: string }): Setting => ({
  value: null,
  is_secret: false,
  is_set: false,
  source: 'default',
  locked_by: null,
  restart_for: null,
  ...changes,
});

test('instance page: every setting of the server has a field, and secrets are hidden', () => {
  const fields = GROUPS.flatMap((group) => group.fields);
  assert.deepEqual(fields.map(({ key }) => key).sort(), [...INSTANCE_KEYS].sort());
  assert.deepEqual(
    fields.flatMap(({ key, kind }) => (kind === 'secret' ? [key] : [])).sort(),
    [...INSTANCE_SECRETS].sort(),
  );
});

test('instance page: only what was changed is sent, and an emptied text goes back to its default', () => {
  const mail = GROUPS.find(({ name }) => name === 'mail')?.fields ?? [];
  const settings = byKey({
    settings: [
      setting({ key: 'mail.transport', value: 'log' }),
      setting({ key: 'mail.smtp_url', value: 'smtp://a@mail.test', is_secret: true, is_set: true }),
      setting({ key: 'mail.from', value: 'a@mail.test', source: 'dashboard' }),
    ],
    first_run: false,
    mail: 'off',
    restart_needed: false,
    redirect_urls: { google: 'https://x.test/g', github: 'https://x.test/h' },
  });
  const before = valuesOf(mail, settings);
  assert.deepEqual(before, { 'mail.transport': 'log', 'mail.smtp_url': '', 'mail.from': 'a@mail.test' });
  assert.deepEqual(changesOf(before, before), {});
  assert.deepEqual(changesOf(before, { ...before, 'mail.transport': 'smtp', 'mail.from': '' }), {
    'mail.transport': 'smtp',
    'mail.from': null,
  });
});

test('instance page: a locked field names the key that keeps it', () => {
  assert.equal(lockText(setting({ key: 'plans.default' })), undefined);
  assert.match(lockText(setting({ key: 'plans.default', locked_by: 'plans.default' })) ?? '', /\(plans\.default\)/);
  const kept = setting({ key: 'oauth.google.issuer', locked_by: 'oauth.google.client_secret' });
  assert.match(lockText(kept) ?? '', /Kept by oauth\.google\.client_secret/);
});

test('instance page: a secret says whether it is set, and shows what is none', () => {
  assert.equal(secretText(setting({ key: 'x' })), 'Not set.');
  assert.match(secretText(setting({ key: 'x', is_set: true, value: 'smtp://a@mail.test' })), /smtp:\/\/a@mail\.test/);
});
