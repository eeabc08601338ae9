/** Mail as people and operators see it: from a request of the API to the mailbox, or to the server log. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { silentLog } from '../../../base/log.ts';
import { makeLog } from '../../../cli/terminal/log.ts';
import { type Server, startServer } from '../../../server/start.ts';
import { freePort } from '../../../../test/harness/config.ts';
import { inReverse } from '../../../../test/harness/ends.ts';
import { smtpSettings, startSmtp } from '../../../../test/harness/smtp.ts';
import { callerOf, FakeNode, LOOSE, settingsFor } from '../testing/harness.ts';

const PASSWORD = 'correct horse battery';

/** Starts servers on one data folder, one after the other. */
function folder(t: TestContext) {
  const ends = inReverse(t);
  const dataDir = mkdtempSync(join(tmpdir(), 'culvert-mail-'));
  ends.after(() => rmSync(dataDir, { recursive: true }));
  return async (toml: string, log = silentLog): Promise<Server> => {
    const settings = settingsFor(dataDir, `${LOOSE}\n${toml}`);
    const server = await startServer(settings, { version: '9.9.9', log, startNode: new FakeNode().start });
    ends.after(() => server.close());
    return server;
  };
}

async function signUp(server: Server, email: string): Promise<void> {
  const { status } = await callerOf(server.apiUrl)('POST', '/auth/signup', { body: { email, password: PASSWORD } });
  assert.equal(status, 201);
}

async function verify(server: Server, email: string, code: string | undefined): Promise<void> {
  const { status, text } = await callerOf(server.apiUrl)('POST', '/auth/verify-email-otp', { body: { email, code } });
  assert.equal(status, 200, text);
}

test('the code of a sign-up comes by mail and confirms the address', async (t) => {
  const smtp = await startSmtp(t);
  const server = await folder(t)(smtpSettings(smtp));
  await signUp(server, 'ann@example.com');
  const mail = await smtp.nextMail('ann@example.com');
  assert.equal(mail.from, 'culvert@example.test');
  await verify(server, 'ann@example.com', mail.code);
});

test('the link of a forgotten password comes by mail, starts with the public URL and works', async (t) => {
  const smtp = await startSmtp(t, { security: 'starttls', user: { name: 'culvert', password: 'relay-password' } });
  const server = await folder(t)(smtpSettings(smtp));
  await signUp(server, 'ann@example.com');
  await verify(server, 'ann@example.com', (await smtp.nextMail('ann@example.com')).code);
  const call = callerOf(server.apiUrl);
  await call('POST', '/auth/forgot', { body: { email: 'ann@example.com' } });
  const { link, token } = await smtp.nextMail('ann@example.com');
  assert.ok(link?.startsWith(`${server.apiUrl}/app/reset?token=`), String(link));
  const { status } = await call('POST', '/auth/reset', { body: { token, new_password: `${PASSWORD} staple` } });
  assert.equal(status, 200);
  assert.match((await smtp.nextMail('ann@example.com')).subject, /password was changed/);
});

test('the answer does not wait for the mail server', async (t) => {
  const gate = Promise.withResolvers<void>();
  const smtp = await startSmtp(t, { hold: () => gate.promise });
  const server = await folder(t)(smtpSettings(smtp));
  for (let n = 0; n < 6; n += 1) await signUp(server, `p${n}@example.com`);
  assert.deepEqual(smtp.mails, []);
  gate.resolve();
  for (let n = 0; n < 6; n += 1) await smtp.nextMail(`p${n}@example.com`);
});

test('mail: an email that waited for the mail server is sent after a restart', async (t) => {
  const away = await startSmtp(t, { port: await freePort() });
  await away.close();
  const start = folder(t);
  const first = await start(smtpSettings(away));
  await signUp(first, 'ann@example.com');
  await first.close();
  const back = await startSmtp(t, { port: away.port });
  const second = await start(smtpSettings(back));
  await verify(second, 'ann@example.com', (await back.nextMail('ann@example.com')).code);
});

/** What a server on transport `log` writes until the email is there. */
async function logged(t: TestContext, format: 'pretty' | 'json'): Promise<{ server: Server; text: string }> {
  let text = '';
  const came = Promise.withResolvers<void>();
  const output = new PassThrough().on('data', (chunk: Buffer) => {
    text += chunk.toString();
    if (text.includes('mail to ann@example.com')) came.resolve();
  });
  const log = await makeLog({ level: 'info', format, output, color: false });
  const server = await folder(t)('', log);
  await signUp(server, 'ann@example.com');
  await came.promise;
  return { server, text };
}

test('without a mail server the code stands alone on a line of the log', async (t) => {
  const { server, text } = await logged(t, 'pretty');
  await verify(server, 'ann@example.com', /^\d{6}$/m.exec(text)?.[0]);
});

test('without a mail server the code is a field of a JSON log line', async (t) => {
  const { server, text } = await logged(t, 'json');
  const line = text.split('\n').find((one) => one.includes('mail to ann@example.com')) ?? '';
  const { level, to, code } = JSON.parse(line);
  assert.deepEqual({ level, to }, { level: 'info', to: 'ann@example.com' });
  await verify(server, 'ann@example.com', code);
});
