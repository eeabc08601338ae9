/** `culvert admin`, `backup` and `config check` as an operator's shell sees them. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { run, start, tempHome } from '../fixtures/in-process.ts';

/** Settings name folders by where the process is: here it is not at home. */
const settingsIn = (home: string): string => `data_dir = "${join(home, 'data')}"
[api]
listen = "127.0.0.1:0"
[edge]
http_listen = "127.0.0.1:0"
tcp_ports = ""
[agents]
listen = "127.0.0.1:0"
`;
const env = { CULVERT_CONFIG: 'server.toml' };

async function login(api: string, email: string, password: string): Promise<number> {
  const answer = await fetch(`${api}/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password }),
  });
  return answer.status;
}

test('an operator runs a server from the shell', { timeout: 120_000 }, async (t) => {
  const home = tempHome(t);
  writeFileSync(join(home, 'server.toml'), settingsIn(home));
  const options = { home, env };
  const admin = async (...words: string[]): Promise<string> => {
    const { code, stdout, stderr } = await run(['admin', ...words], options);
    assert.deepEqual([code, stderr], [0, ''], words.join(' '));
    return stdout;
  };
  const server = start(t, ['serve'], options);
  await server.until(() => /admin@localhost\n\S+\n/.test(server.stdout));
  const api = /API +(\S+)\n/.exec(server.stdout)?.[1] ?? '';

  const made = await admin('create-user', 'Ann@example.com', '--name', 'Ann Other');
  const [email, password = ''] = made.split('\n');
  assert.equal(email, 'Ann@example.com');
  assert.match(made, /^\S+\n\S{22}\n$/, 'the address, then the password alone');
  assert.equal(await login(api, 'ann@example.com', password), 200);

  const table = await admin('list-users');
  assert.equal(table, await admin('list'));
  assert.match(table, /^EMAIL +NAME +VERIFIED +MFA +SUPERADMIN +LOCKED +ORGANIZATIONS +SINCE\n/);
  assert.match(table, /^Ann@example\.com +Ann Other +yes +no +no +no +ann-other \(owner\) +\d{4}-\d\d-\d\d$/m);
  const rows = JSON.parse(await admin('list', '--json', '--query', 'ann')) as { email: string }[];
  assert.deepEqual(
    rows.map((row) => row.email),
    ['Ann@example.com'],
  );
  assert.match(await admin('metrics'), /^culvert_agent_sessions 0$/m);
  assert.equal(await admin('set-plan', 'ann-other', 'pro'), 'ann-other: approved, plan pro\n');
  assert.equal(await admin('suspend', 'ann-other'), 'ann-other: suspended, plan pro\n');
  assert.match(
    await admin('list-orgs', '--status', 'suspended'),
    /^SLUG +NAME .*\nann-other +Ann Other +pro +suspended/,
  );
  assert.equal(await admin('approve', 'ann-other'), 'ann-other: approved, plan pro\n');
  assert.equal(
    await admin('reset-mfa', 'ann@example.com'),
    'ann@example.com: two-factor authentication was not set up\n',
  );
  assert.equal(
    await admin('revoke-sessions', 'ann@example.com'),
    'ann@example.com: sessions ended: 1, keys revoked: 0\n',
  );
  assert.equal(
    await admin('lock-user', 'ann@example.com'),
    'ann@example.com: locked; sessions ended: 0, keys revoked: 0\n',
  );
  assert.equal(await admin('unlock-user', 'ann@example.com'), 'ann@example.com: unlocked\n');
  const [, fresh = ''] = (await admin('reset-password', 'ann@example.com')).split('\n');
  assert.equal(await login(api, 'ann@example.com', password), 401);
  assert.equal(await login(api, 'ann@example.com', fresh), 200);
  assert.match(
    await admin('password-link', 'ann@example.com'),
    /^http:\S+\/app\/reset\?token=\S{43}\nThe link works once, until \d{4}-\S+\.\n$/,
  );
  assert.match(await admin('rotate-keys'), /^access: new signing key .*\ncapability: new signing key .*\n$/);

  assert.match(
    await admin('edge'),
    /^since \d{4}-\S+: 0 connections, 0 open now \(0 http, 0 tcp\) from 0 addresses\nno connections were refused or closed\n$/,
  );
  const edgePort = Number(/visitors .* on \S+:(\d+)$/m.exec(server.stdout)?.[1]);
  await once(connect(edgePort, '127.0.0.1').end('GET / HTTP/9.9\r\n\r\n').resume(), 'close');
  // The visitor can see the end of its connection before the server does.
  let counts = await admin('edge');
  while (!counts.includes(' 0 open now')) counts = await admin('edge');
  assert.match(
    counts,
    /^since .*: 1 connections, 0 open.*\nWHAT +REASON +COUNT\ndropped +malformed +1\nanswered +bad_request +1\n$/,
  );
  assert.match(await admin('edge', '--json'), /"over_total": ?0/);
  const none = await run(['admin', 'certificates'], options);
  assert.match(none.stdout, /^NAME +STATE +UNTIL +NEXT +FAILURES +LAST ERROR\n$/);
  assert.match(none.stderr, /^ACME is off on this server\. Set edge\.tls\.mode = "acme"/);

  const refusals: ReadonlyArray<readonly [string[], number, RegExp]> = [
    [['create-user', 'ann@example.com'], 1, /ann@example\.com already has an account/],
    [['set-plan', 'ann-other', 'gold'], 2, /plan/],
    [['suspend', 'nothing'], 1, /No organization has the name or id nothing\./],
    [['reset-password', 'missing@example.com'], 1, /No account has the email or id missing@example\.com\./],
    [['certificates', 'renew', 'shop.example.com'], 1, /Set edge\.tls\.mode = "acme" first/],
    [['certificates', 'renew'], 2, /renew: needs a name/],
    [['certificates', 'rename'], 2, /there is no command "admin certificates rename"/],
    [['rotate-keys', 'gold'], 2, /unknown purpose "gold"\. Use access or capability/],
    [['reset-mfa', '..'], 2, /"\.\." is not an account's email address or ID/],
    [['approve', '.'], 2, /"\." is not an organization's slug or ID/],
    [['suspend', ''], 2, /"" is not an organization's slug or ID/],
    [['list-users', '--config', 'absent.toml'], 2, /absent\.toml: cannot be read/],
  ];
  await Promise.all(
    refusals.map(async ([words, code, message]) => {
      const refused = await run(['admin', ...words], options);
      assert.deepEqual([refused.code, refused.stdout], [code, ''], words.join(' '));
      assert.match(refused.stderr, message);
    }),
  );

  const lowerPriority = t.mock.fn();
  const kept = await run(['backup', 'copy.db'], { ...options, lowerPriority });
  assert.deepEqual([kept.code, kept.stderr, lowerPriority.mock.callCount()], [0, '', 1]);
  assert.match(kept.stdout, /^copy\.db: \d+ bytes, checked\n.*seal\.key.*\n {2}\S+\/server\.toml {3}the settings/s);
  assert.equal(statSync(join(home, 'copy.db')).mode & 0o777, 0o600);
  const again = await run(['backup', 'copy.db'], options);
  assert.deepEqual([again.code, again.stdout], [1, '']);
  assert.match(again.stderr, /copy\.db already exists/);
});

test('a folder without a database is said to be one, and stays as it is', async (t) => {
  const home = tempHome(t);
  writeFileSync(join(home, 'server.toml'), settingsIn(home));
  for (const words of [
    ['admin', 'create-user', 'ann@example.com'],
    ['backup', 'copy.db'],
  ]) {
    const { code, stdout, stderr } = await run(words, { home, env });
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /^culvert: the data folder .*data can't be used: it does not exist\. .*--config/);
  }
  assert.ok(!existsSync(join(home, 'data')) && !existsSync(join(home, 'copy.db')));
});

test('config check takes its file as an argument, by --config or from the environment', async (t) => {
  const home = tempHome(t);
  writeFileSync(join(home, 'good.toml'), settingsIn(home));
  writeFileSync(join(home, 'bad.toml'), '[edge]\ndomian = "example.com"\n');
  for (const [words, variables, code, says] of [
    [['good.toml'], {}, 0, 'good.toml: ok\n'],
    [['--config', 'good.toml'], {}, 0, 'good.toml: ok\n'],
    [[], { CULVERT_CONFIG: 'good.toml' }, 0, 'good.toml: ok\n'],
    [['good.toml'], { CULVERT_CONFIG: 'bad.toml' }, 0, 'good.toml: ok\n'],
    [[], {}, 0, 'defaults: ok\n'],
    [[], { CULVERT_CONFIG: 'bad.toml' }, 2, ''],
    [['--config', 'bad.toml'], {}, 2, ''],
    [['good.toml', '--config', 'bad.toml'], {}, 2, ''],
  ] as const) {
    const checked = await run(['config', 'check', ...words], { home, env: variables });
    assert.deepEqual([checked.code, checked.stdout], [code, says], `${words.join(' ')}: ${checked.stderr}`);
  }
});
