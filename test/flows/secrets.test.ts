/**
 * Everything that has a secret in it, done once against a real server that logs all it can; then everything that the server wrote is searched
 * for them: both streams, database, write-ahead log, key files and whatever else is in its folder.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, openSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { test } from 'node:test';
import { codeAt, wrongCode } from '../harness/authenticator.ts';
import { Browser } from '../harness/browser.ts';
import { configText, freePorts } from '../harness/config.ts';
import { type Oidc, startOidc } from '../harness/oidc.ts';
import { type Mail, type Smtp, smtpSettings, startSmtp } from '../harness/smtp.ts';
import { culvertCommand } from '../harness/spawned.ts';

/** Shorter ones would be found by chance; codes of six digits are looked for in text alone, between other characters. */
const MIN_LENGTH = 12;
const PASSWORDS = { first: 'seeded-password-one', second: 'seeded-password-two', wrong: 'seeded-password-wrong' };
const SMTP_USER = { name: 'culvert', password: 'seeded-smtp-password' };

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly cookie: string | undefined;
}

class Client {
  readonly #url: string;
  /** Secrets that the server got or gave, by kind. */
  readonly secrets = new Map<string, string>();
  readonly codes = new Map<string, string>();
  token = '';

  constructor(url: string) {
    this.#url = url;
  }

  async call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const response = await fetch(this.#url + path, {
      method,
      redirect: 'manual',
      headers: {
        'content-type': 'application/json',
        ...(this.token === '' ? {} : { authorization: `Bearer ${this.token}` }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const cookie = /qnt_refresh=([^;]+)/.exec(response.headers.get('set-cookie') ?? '')?.[1];
    this.keep(`cookie of ${method} ${path}`, cookie);
    return { status: response.status, body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>), cookie };
  }

  /** A call that must succeed. */
  async ok(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
    const answer = await this.call(method, path, body);
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  keep(what: string, secret: unknown): string {
    if (typeof secret !== 'string') return '';
    assert.ok(secret.length >= MIN_LENGTH, `${what}: ${secret}`);
    this.secrets.set(what, secret);
    return secret;
  }
}

const tokenIn = (mail: Mail): string => /[?&]token=([\w-]+)/.exec(mail.text)?.[1] ?? '';
const codeIn = (mail: Mail): string => /^(\d{6})$/m.exec(mail.text)?.[1] ?? '';

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

test('nothing that the server writes holds a secret in clear', { timeout: 120_000 }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'culvert-secrets-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const smtp = await startSmtp(t, { user: SMTP_USER });
  const oidc = await startOidc(t);
  oidc.people.set('olga', { email: 'olga@example.test', email_verified: true });
  const ports = await freePorts();
  const settings = join(folder, 'server.toml');
  const toml = `${smtpSettings(smtp)}\n${oidc.settings}`;
  writeFileSync(settings, configText({ folder, ports, toml }).replace('level = "info"', 'level = "debug"'), {
    mode: 0o600,
  });
  const [program = '', ...first] = culvertCommand();
  const output = join(folder, 'output.txt');
  const streams = openSync(output, 'a', 0o600);
  const server = spawn(program, [...first, 'serve', '--config', settings], {
    cwd: folder,
    stdio: ['ignore', streams, streams],
  });
  t.after(() => server.kill('SIGKILL'));
  const printed = (): string => readFileSync(output, 'utf8');
  while (!printed().includes('admin@localhost\n') || !printed().endsWith('\n')) await pause(20);
  const ownerPassword = /admin@localhost\n(\S+)\n/.exec(printed())?.[1] ?? '';
  const before = printed().length;

  const url = `http://127.0.0.1:${ports.api}`;
  const client = new Client(url);
  await liveAndLogIn(client, { smtp, oidc, url });
  const owner = new Client(url);
  owner.keep('password of the owner', ownerPassword);
  owner.token = owner.keep(
    'access token of the owner',
    (await owner.ok('POST', '/auth/login', { email: 'admin@localhost', password: ownerPassword }))['access_token'],
  );
  await runTheServer(owner);
  await pause(300); // what runs after an answer, and the log's stream

  server.kill('SIGTERM');
  assert.deepEqual(await once(server, 'exit'), [0, null]);
  // The first start prints the owner's password, once and on purpose: what came after that is searched.
  writeFileSync(output, printed().slice(before));
  const secrets = new Map([...client.secrets, ...owner.secrets]);
  secrets.set('password of the mail server', SMTP_USER.password);
  secrets.set('secret of the identity provider', /client_secret = "([^"]+)"/.exec(oidc.settings)?.[1] ?? '');
  search(folder, settings, { secrets, codes: client.codes });
});

/** The life of one person: sign-up to log-out, with every way in. */
async function liveAndLogIn(c: Client, { smtp, oidc, url }: { smtp: Smtp; oidc: Oidc; url: string }): Promise<void> {
  const email = 'ann@example.test';
  for (const [name, password] of Object.entries(PASSWORDS)) c.keep(`${name} password`, password);
  await c.ok('POST', '/auth/signup', { email, password: PASSWORDS.first, organization_name: 'marker-of-this-test' });
  const code = codeIn(await smtp.nextMail(email));
  assert.match(code, /^\d{6}$/);
  c.codes.set('code of the mail', code);
  await c.call('POST', '/auth/verify-email-otp', { email, code: code === '000000' ? '000001' : '000000' });
  await c.ok('POST', '/auth/verify-email-otp', { email, code });
  await c.call('POST', '/auth/login', { email, password: PASSWORDS.wrong });
  const login = await c.call('POST', '/auth/login', { email, password: PASSWORDS.first });
  c.token = c.keep('access token', login.body['access_token']);
  const refreshed = await c.call('POST', '/auth/refresh', undefined, { cookie: `qnt_refresh=${login.cookie}` });
  c.keep('refreshed access token', refreshed.body['access_token']);

  const factor = await c.ok('POST', '/auth/mfa/enroll');
  const secret = c.keep('secret of the authenticator', factor['secret_base32']);
  c.keep('address of the authenticator', factor['otpauth_uri']);
  const now = Date.now();
  const { recovery_codes: codes } = (await c.ok('POST', '/auth/mfa/enroll/verify', { code: codeAt(secret, now) })) as {
    recovery_codes: string[];
  };
  for (const [i, one] of codes.entries()) c.keep(`recovery code ${i}`, one);
  const challenge = async (): Promise<string> => {
    const answer = await c.call('POST', '/auth/login', { email, password: PASSWORDS.first });
    return c.keep('challenge', answer.body['challenge_token']);
  };
  await c.call('POST', '/auth/login/mfa', { challenge_token: await challenge(), code: wrongCode(secret, now) });
  const again = await c.ok('POST', '/auth/login/mfa', { challenge_token: await challenge(), recovery_code: codes[0] });
  c.keep('access token after the second factor', again['access_token']);

  const minted = await c.ok('POST', '/tokens', { name: 'ci' });
  c.keep('key of an agent', minted['apiKey']);
  c.keep('wire form of a token', minted['wireBytes']);
  const device = c.keep('device code', randomBytes(32).toString('base64url'));
  await c.ok('POST', '/auth/cli/authorize', { device_code: device });
  const fetched = await c.ok('POST', '/auth/cli/token', { device_code: device, session: true });
  c.keep('wire form of a command line', fetched['wire_bytes_b64']);
  c.keep('refresh value of a command line', fetched['refresh_token']);

  const org = ((await c.ok('GET', '/auth/me'))['active_org'] as { id: string }).id;
  await c.ok('POST', `/orgs/${org}/invitations`, { email: 'guest@example.test', role: 'member' });
  c.keep('token of an invitation', tokenIn(await smtp.nextMail('guest@example.test')));
  const [invited] = (await c.ok('GET', `/orgs/${org}/invitations`)) as unknown as readonly [{ id: string }];
  await c.ok('POST', `/orgs/${org}/invitations/${invited.id}/resend`);
  const sentAgain = tokenIn(await smtp.nextMail('guest@example.test'));
  c.keep('token of an invitation that was sent again', sentAgain);
  await c.ok('POST', '/orgs/invitations/lookup', { token: sentAgain });

  await throughProvider(c, oidc, url);
  await c.ok('POST', '/auth/forgot', { email });
  let reset = '';
  // Other emails (second factor on, recovery code used) come to the same address.
  while (reset === '') reset = tokenIn(await smtp.nextMail(email));
  c.keep('token of a reset', reset);
  await c.ok('POST', '/auth/reset', { token: reset, new_password: PASSWORDS.second });
  await c.call('POST', '/auth/reset', { token: reset, new_password: PASSWORDS.second });
}

async function throughProvider(c: Client, oidc: Oidc, url: string): Promise<void> {
  const browser = new Browser();
  oidc.register(`${url}/auth/oauth/google/callback`);
  const back = await oidc.logIn(browser, `${url}/auth/oauth/google/start`, 'olga');
  c.keep('code of a provider', back.searchParams.get('code'));
  c.keep('state of a provider', back.searchParams.get('state'));
  const { url: home } = await browser.open(back, (at) => at.searchParams.has('oauth_token'));
  c.keep('access token in an address', home.searchParams.get('oauth_token'));
  c.keep('cookie of a browser', browser.cookies(url).get('qnt_refresh'));
}

/** What an operator does. */
async function runTheServer(c: Client): Promise<void> {
  const made = await c.ok('POST', '/superadmin/users', { email: 'made@example.test' });
  c.keep('password of a made account', made['password']);
  const reset = await c.ok('POST', `/superadmin/users/${String(made['id'])}/reset-password`);
  c.keep('password that an operator set', reset['password']);
  await c.ok('POST', '/superadmin/keys/access/rotate');
}

function search(
  folder: string,
  settings: string,
  { secrets, codes }: { secrets: ReadonlyMap<string, string>; codes: ReadonlyMap<string, string> },
): void {
  assert.ok(secrets.size > 30, `${secrets.size} secrets`);
  const found: string[] = [];
  const files = filesIn(folder).filter((file) => file !== settings);
  const bytes = new Map(files.map((file) => [file, readFileSync(file)]));
  assert.ok(
    [...bytes.values()].some((all) => all.includes('marker-of-this-test')),
    'the search finds what is there',
  );
  for (const [file, all] of bytes) {
    const isOutput = file.endsWith('output.txt');
    for (const [what, secret] of secrets) if (all.includes(secret)) found.push(`${file}: ${what}`);
    for (const [what, code] of codes)
      if (isOutput && new RegExp(`(?<![0-9])${code}(?![0-9])`).test(all.toString())) found.push(`${file}: ${what}`);
    if (!isOutput) assert.equal(statSync(file).mode & 0o777, 0o600, file);
  }
  assert.deepEqual(found, []);
}
