/**
 * A person logs their command line in, publishes a port with what they got, and logs out. Server and commands are processes of their own;
 * the person is the API, as the page uses it.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { checkPhrase } from '../../src/wire/check-phrase.ts';
import { get, startOrigin } from '../harness.ts';
import { sharedCulvert, type SpawnedCulvert, spawnCulvert } from '../harness/spawned.ts';

/** A person's machine: its commands share a home and have no key but what `login` stores. */
function machine(culvert: SpawnedCulvert) {
  const home = join(culvert.folder, `person-${randomUUID()}`);
  mkdirSync(home, { recursive: true });
  const env = { HOME: home, XDG_RUNTIME_DIR: home, CULVERT_TOKEN: '' };
  return {
    file: join(home, '.config/culvert/credentials.json'),
    culvert: (...args: string[]) => culvert.agent(args, { env }),
  };
}

/** Someone on a machine of their own, who waits for the approval. */
async function loggingIn(culvert: SpawnedCulvert) {
  const person = machine(culvert);
  const login = person.culvert('login');
  const code = await login.printed(/\/app\/cli\?device_code=(\S+)/);
  return {
    culvert,
    person,
    login,
    code,
    approve: () => culvert.account.call('POST', '/auth/cli/authorize', { device_code: code }),
  };
}

/** Names of the live keys of command lines. */
async function keysOf(culvert: SpawnedCulvert): Promise<string[]> {
  const { body } = await culvert.account.call('GET', '/tokens');
  const tokens = body as unknown as { kind: string; name: string; revoked: boolean }[];
  return tokens
    .filter(({ kind, revoked }) => kind === 'cli' && !revoked)
    .map(({ name }) => name)
    .sort();
}

suite('culvert login', { timeout: 120_000 }, () => {
  const shared = sharedCulvert();

  test('what was approved carries a tunnel, shows in status, and is over after culvert logout', async (t) => {
    const { culvert, person, login, code, approve } = await loggingIn(await shared());
    await login.printed(new RegExp(`^  (${checkPhrase(code)})$`, 'm'));
    assert.equal((await approve()).status, 200);
    await login.printed(/^Logged in at \S+ as (admin@localhost), organization Admin\.$/m);
    assert.equal(await login.ended(), 0);
    assert.equal(statSync(person.file).mode & 0o777, 0o600);
    assert.equal(statSync(join(person.file, '..')).mode & 0o777, 0o700);

    const origin = await startOrigin(t, (_request, response) => response.end('by log-in'));
    const agent = person.culvert('http', String(origin.port), '--subdomain', 'mine');
    await agent.printed(/^http:\/\/mine\.localhost/m);
    assert.equal((await get('http://mine.localhost', culvert.ports.http)).body, 'by log-in');
    const status = person.culvert('status');
    assert.equal(await status.ended(), 0);
    assert.match(status.output, /^login {3}admin@localhost, organization Admin {2}until \d{4}-/m);

    const logout = person.culvert('logout');
    assert.equal(await logout.ended(), 0);
    assert.match(logout.output, /logged out at .*admin@localhost is revoked/);
    assert.equal(await agent.ended(), 3, 'the agent is cut, and does not try again');
    assert.match(agent.output, /culvert: The command line has logged out\. Run culvert login --server http/);
    assert.ok(!existsSync(person.file));
    const { body } = await culvert.account.call('GET', '/auth/sessions');
    assert.ok(!JSON.stringify(body).includes('culvert on '), 'the session is over too');
    const without = person.culvert('http', '3000');
    assert.equal(await without.ended(), 2);
    assert.match(
      without.output,
      /no key for http:\S+ \(--server names another\)\. Log in with `culvert login --server http:\S+`/,
    );
  });

  test('a revoked log-in ends with 3 and says to log in again', async () => {
    const { culvert, person, login, approve } = await loggingIn(await shared());
    await approve();
    assert.equal(await login.ended(), 0);
    const tokens = (await culvert.account.call('GET', '/tokens')).body as unknown as { kind: string; nonce: string }[];
    const { nonce } = tokens.find(({ kind }) => kind === 'cli') ?? assert.fail('no token of kind cli');
    await culvert.account.call('DELETE', `/tokens/${nonce}`);
    const agent = person.culvert('http', '3000');
    assert.equal(await agent.ended(), 3);
    assert.match(agent.output, /Run culvert login --server http:\/\/127\.0\.0\.1:\d+$/m);
  });

  test('a log-in outlives a restart of the server, and another one ends the first, with its key', async (t) => {
    const { culvert, person, login, code } = await loggingIn(await spawnCulvert(t));
    await culvert.killServer();
    await login.printed(/(retrying)/);
    await culvert.startServer();
    const approve = (device_code: string) => culvert.account.call('POST', '/auth/cli/authorize', { device_code });
    await approve(code);
    assert.equal(await login.ended(), 0);

    const again = person.culvert('login', '--json');
    const started = JSON.parse(await again.printed(/^(\{"event":"login_started".*)$/m)) as Record<string, string>;
    const next = new URL(started['url'] ?? '').searchParams.get('device_code') ?? '';
    assert.equal(started['check_phrase'], checkPhrase(next));
    await approve(next);
    const done = JSON.parse(await again.printed(/^(\{"event":"logged_in".*)$/m)) as Record<string, string>;
    assert.equal(await again.ended(), 0);
    assert.deepEqual(Object.keys(done), [
      'event',
      'at',
      'server',
      'account',
      'organization',
      'label',
      'expires_at',
      'file',
    ]);
    const { body } = await culvert.account.call('GET', '/auth/sessions');
    const mine = (body['sessions'] as { user_agent: string }[]).filter(({ user_agent }) =>
      user_agent.startsWith('culvert on '),
    );
    assert.equal(mine.length, 1);
    assert.deepEqual(await keysOf(culvert), [done['label']]);
    const stored = readFileSync(person.file, 'utf8');
    for (const secret of Object.values(JSON.parse(stored).logins as Record<string, Record<string, string>>)) {
      assert.ok(!again.output.includes(secret['wire_bytes_b64'] ?? ''));
      assert.ok(!again.output.includes(secret['refresh_token'] ?? ''));
    }
  });

  test('another log-in leaves an agent that runs with the key before, and names that key', async (t) => {
    const { culvert, person, login, code, approve } = await loggingIn(await shared());
    await approve();
    assert.equal(await login.ended(), 0);
    const origin = await startOrigin(t, (_request, response) => response.end('still here'));
    const agent = person.culvert('http', String(origin.port), '--subdomain', 'mine');
    await agent.printed(/^http:\/\/mine\.localhost/m);

    const again = person.culvert('login');
    const next = await again.printed(/\/app\/cli\?device_code=(\S+)/);
    await culvert.account.call('POST', '/auth/cli/authorize', { device_code: next });
    assert.equal(await again.ended(), 0);
    const label = `cli-${checkPhrase(code)}`;
    assert.match(again.output, new RegExp(`key of your previous login, ${label}, is valid until .* \\(pid \\d+\\)`));
    assert.deepEqual(await keysOf(culvert), [label, `cli-${checkPhrase(next)}`].sort());
    assert.equal((await get('http://mine.localhost', culvert.ports.http)).body, 'still here');
  });

  test('logout with the server away forgets the key here, and says that it lives on there', async () => {
    const { culvert, person, login, approve } = await loggingIn(await shared());
    await approve();
    assert.equal(await login.ended(), 0);
    // The last one of those that share it.
    await culvert.killServer();
    const logout = person.culvert('logout');
    assert.equal(await logout.ended(), 1);
    assert.match(logout.output, /logged out on this machine only: .* accepts the key cli-.* until \d{4}-\d\d-\d\d/);
    assert.ok(!existsSync(person.file));
  });
});
