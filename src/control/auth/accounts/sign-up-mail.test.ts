/** From the settings file to the mailbox: a whole server, and the mail that people get. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { inReverse } from '../../../../test/harness/ends.ts';
import { type Smtp, smtpSettings, startSmtp } from '../../../../test/harness/smtp.ts';
import { type Harness, LOOSE, startHarness } from '../../core/testing/harness.ts';

const ANN = 'ann@example.test';
const PASSWORD = 'correct horse battery';
const NEW = 'seven green bottles';

async function start(t: TestContext, accounts = ''): Promise<{ h: Harness; smtp: Smtp }> {
  const ends = inReverse(t);
  const smtp = await startSmtp(ends);
  const h = await startHarness([LOOSE, smtpSettings(smtp), accounts].join('\n'));
  ends.after(() => h.close());
  return { h, smtp };
}

test('sign-up, code, log-in, forgotten password, link, log-in: all by what the mail says', async (t) => {
  const { h, smtp } = await start(t, '[accounts]\nrequire_approval = true\n[plans]\ndefault = "pro"');
  const post = (path: string, body: object) => h.call('POST', path, { body });
  assert.equal((await post('/auth/signup', { email: ANN, password: PASSWORD })).status, 201);
  const { code } = await smtp.nextMail(ANN);
  assert.equal((await post('/auth/verify-email-otp', { email: ANN, code })).status, 200);
  const first = await post('/auth/login', { email: ANN, password: PASSWORD });
  assert.equal(first.status, 200);
  assert.equal((first.body['active_org'] as { approval_status: string }).approval_status, 'pending');
  const me = await h.call('GET', '/auth/me', { as: String(first.body['access_token']) });
  assert.equal((me.body['entitlements'] as { plan: string }).plan, 'pro');

  assert.equal((await post('/auth/forgot', { email: ANN })).status, 202);
  const mail = await smtp.nextMail(ANN);
  assert.ok(mail.link?.startsWith(h.server.apiUrl), `a link to ${String(mail.link)}`);
  assert.equal((await post('/auth/reset', { token: mail.token, new_password: NEW })).status, 200);
  assert.equal((await h.call('GET', '/auth/me', { as: String(first.body['access_token']) })).status, 401);
  assert.equal((await post('/auth/login', { email: ANN, password: NEW })).status, 200);
  const warning = await smtp.nextMail(ANN);
  assert.equal(warning.code, undefined);
  assert.equal(warning.token, undefined);

  assert.equal((await post('/auth/signup', { email: ANN, password: PASSWORD })).status, 201);
  const notice = await smtp.nextMail(ANN);
  assert.equal(notice.code, undefined);

  const secrets = [PASSWORD, NEW, mail.token ?? '?'];
  const files = readdirSync(h.dataDir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  assert.ok(files.length >= 3);
  for (const { parentPath, name } of files) {
    const bytes = readFileSync(join(parentPath, name));
    for (const secret of secrets) assert.ok(!bytes.includes(secret), `${name} holds ${secret}`);
  }
});

test('accounts.signup = "closed" reaches the API', async (t) => {
  const { h, smtp } = await start(t, '[accounts]\nsignup = "closed"');
  const { status, body } = await h.call('POST', '/auth/signup', { body: { email: ANN, password: PASSWORD } });
  assert.equal(`${status} ${String(body['error'])}`, '403 forbidden');
  assert.deepEqual(smtp.tries, []);
});
