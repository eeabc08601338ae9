/** `culvert serve`: what it prints once, how it stops, and why it does not start. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { silentLog } from '../../base/log.ts';
import { checkServerConfig } from '../../config/load.ts';
import { startServer } from '../../server/start.ts';
import { FakeNode } from '../../control/core/testing/harness.ts';
import { run, start, tempHome } from '../fixtures/in-process.ts';
import { run as runProcess, start as startProcess } from '../fixtures/program.ts';

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

test('the first start prints the owner and, on the next line, the password; later starts do not', async (t) => {
  const home = tempHome(t);
  writeFileSync(join(home, 'server.toml'), settingsIn(home));
  const env = { CULVERT_CONFIG: 'server.toml' };
  const first = startProcess(t, ['serve'], { home, env });
  await first.until(() => /admin@localhost\n.+\n/.test(first.stdout));
  const [, api = '', password = ''] = /API +(\S+)\n.*admin@localhost\n(\S{16,})\n$/s.exec(first.stdout) ?? [];
  const login = await fetch(`${api}/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'admin@localhost', password }),
  });
  assert.equal(login.status, 200);

  // The same folder is taken, whatever its ports are.
  const second = await runProcess(['serve'], { home, env });
  assert.equal(second.code, 1);
  assert.match(second.stderr, /culvert: the server could not start: /);

  first.signal('SIGHUP');
  await first.until(() => first.stderr.includes('SIGHUP: reloading the certificate files'));
  assert.equal((await fetch(`${api}/health`)).status, 200);
  first.signal('SIGTERM');
  assert.equal(await first.exit, 0);
  for (const line of first.stderr.trimEnd().split('\n')) assert.equal(typeof JSON.parse(line), 'object', line);
  assert.ok(!first.stderr.includes(password), 'the password is in no log line');

  const later = startProcess(t, ['serve', '--config', 'server.toml'], { home });
  await later.until(() => later.stdout.includes('data'));
  later.signal('SIGINT');
  assert.equal(await later.exit, 130);
  assert.ok(!later.stdout.includes('admin@localhost'));
});

test('the first start keeps the password out of an access log on standard output', async (t) => {
  const home = tempHome(t);
  writeFileSync(join(home, 'server.toml'), `${settingsIn(home)}[log.access]\npath = "-"\n`);
  const server = startProcess(t, ['serve', '--config', 'server.toml'], { home });
  await server.until(() => /admin@localhost\n\S{16,}\n/.test(server.stderr));
  server.signal('SIGTERM');
  assert.equal(await server.exit, 0);
  assert.equal(server.stdout, '');
});

test('after a first start that was killed before it showed the password, serve says how to set another', async (t) => {
  const home = tempHome(t);
  writeFileSync(join(home, 'server.toml'), settingsIn(home));
  const { settings } = checkServerConfig(settingsIn(home), 'server.toml');
  const killed = await startServer(settings, { version: '1', log: silentLog, startNode: new FakeNode().start });
  await killed.close();
  const env = { CULVERT_CONFIG: 'server.toml' };
  const server = start(t, ['serve'], { home, env });
  await server.until(() => server.stdout.includes('reset-password'));
  assert.match(server.stdout, /\n  culvert admin reset-password admin@localhost --config server\.toml\n/);
  const reset = await run(['admin', 'reset-password', 'admin@localhost'], { home, env });
  assert.equal(reset.code, 0, reset.stderr);
  server.signal('SIGTERM');
  assert.equal(await server.exit, 0);
  const later = start(t, ['serve'], { home, env });
  await later.until(() => /data +\S+\n/.test(later.stdout));
  later.signal('SIGTERM');
  assert.equal(await later.exit, 0);
  assert.ok(!later.stdout.includes('admin@localhost'));
});

test('a mistake in the settings stops the start with file, line and key, and exit code 2', async (t) => {
  const home = tempHome(t);
  writeFileSync(join(home, 'server.toml'), '[edge]\nhttp_listen = 8080\n');
  const { code, stdout, stderr } = await run(['serve', '--config', 'server.toml'], { home });
  assert.equal(code, 2);
  assert.equal(stdout, '');
  assert.match(stderr, /^culvert: server\.toml:2: edge\.http_listen: must be a string/);
  assert.equal(stderr.trimEnd().split('\n').length, 1);
});

test('admin create-user prints an address and a password that log in', async (t) => {
  const home = tempHome(t);
  writeFileSync(join(home, 'server.toml'), settingsIn(home));
  const env = { CULVERT_CONFIG: 'server.toml' };
  const server = start(t, ['serve'], { home, env });
  await server.until(() => /API +\S+\n/.test(server.stdout));
  const made = await run(['admin', 'create-user', 'ann@example.com'], { home, env });
  assert.equal(made.code, 0, made.stderr);
  const [email, password] = made.stdout.trimEnd().split('\n');
  assert.equal(email, 'ann@example.com');
  const [, api] = /API +(\S+)\n/.exec(server.stdout) ?? [];
  const login = await fetch(`${api}/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password }),
  });
  assert.equal(login.status, 200);
  const again = await run(['admin', 'create-user', 'ann@example.com'], { home, env });
  assert.equal(again.code, 1);
  assert.equal(again.stdout, '');
});

test('what the operator should change is said at the start, whatever is left out of the log', async (t) => {
  const home = tempHome(t);
  writeFileSync(join(home, 'server.toml'), `${settingsIn(home)}[log]\nlevel = "error"\n`);
  const server = start(t, ['serve', '--config', 'server.toml'], { home });
  await server.until(() => /API +\S+\n/.test(server.stdout));
  assert.match(
    server.stderr,
    /mail\.transport: codes and links go to the log, and log\.level = \\"error\\" leaves them out/,
  );
  server.signal('SIGTERM');
  assert.equal(await server.exit, 0);
});
