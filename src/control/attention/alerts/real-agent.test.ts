/** Alerts of a real server: an agent comes from an address that is new, and an email and a webhook say so. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { startOrigin } from '../../../../test/harness.ts';
import { smtpSettings, startSmtp } from '../../../../test/harness/smtp.ts';
import { spawnCulvert } from '../../../../test/harness/spawned.ts';

/** Resolves with the first post. */
async function takePost(t: TestContext): Promise<{ url: string; posted: Promise<Readonly<Record<string, unknown>>> }> {
  const { promise, resolve } = Promise.withResolvers<Readonly<Record<string, unknown>>>();
  const { port } = await startOrigin(t, (request, response) => {
    let body = '';
    request.on('data', (part: Buffer) => (body += part.toString()));
    void once(request, 'end').then(() => {
      response.end('ok');
      resolve(JSON.parse(body) as Readonly<Record<string, unknown>>);
    });
  });
  return { url: `http://127.0.0.1:${port}/hook`, posted: promise };
}

test('alerts: a server evaluates its rules and sends by itself', { timeout: 120_000 }, async (t) => {
  const smtp = await startSmtp(t);
  const culvert = await spawnCulvert(t, { toml: smtpSettings(smtp), edge: 'allow_private_jwks = true' });
  const hook = await takePost(t);
  const channels = [
    { type: 'email', to: 'ops@example.test' },
    { type: 'webhook', url: hook.url },
  ];
  const made = await culvert.account.call('POST', '/alerts', { kind: 'new_address', for_minutes: 1, channels });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const { token } = await smtp.nextMail('ops@example.test');
  assert.equal((await culvert.account.call('POST', '/alerts/confirm', { token })).status, 200);
  const { port } = await startOrigin(t, (_request, response) => response.end('hello'));
  const began = performance.now();
  await culvert.agent(['http', String(port), '--subdomain', 'shop', '--json']).printed(/"tunnel_online"/);
  const post = await hook.posted;
  const mail = await smtp.nextMail('ops@example.test');
  assert.match(mail.subject, /: An agent connected from a new address: 127\.0\.0\.1$/);
  assert.equal(post['type'], 'alert.fired');
  t.diagnostic(`${((performance.now() - began) / 1000).toFixed(1)} s from the agent's start to both messages`);
  const [rule] = (await culvert.account.call('GET', '/alerts')).body as unknown as ReadonlyArray<{
    channels: ReadonlyArray<{ last_error: string | null }>;
  }>;
  assert.deepEqual(
    rule?.channels.map(({ last_error }) => last_error),
    [null, null],
  );
});
