/** `culvert status --org` against a played server: what it prints and ends with. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { start } from '../fixtures/in-process.ts';
import { loggedInAt, playServer, refreshWith } from '../fixtures/played-server.ts';

const ITEM = {
  severity: 'critical',
  kind: 'tunnel_offline',
  title: 'Tunnel shop is offline',
  detail: 'The connection to its agent broke.\u001b[2J',
  since: '2026-11-21T02:27:00.000Z',
  object: { type: 'tunnel', id: 't1' },
  action: { label: 'Open tunnel', href: '/app/tunnels/t1' },
};
const INFO = { ...ITEM, severity: 'info', title: 'Domain a.test is not verified', since: null };

/** The command, answered with this list. */
async function ended(t: TestContext, list: unknown, flags: readonly string[] = [], status = 200) {
  const server = await playServer(t);
  const { home } = loggedInAt(t, server.url);
  const program = start(t, ['status', '--org', '--server', server.url, ...flags], { home });
  refreshWith(await server.next(), 'cookie-1');
  const asked = await server.next();
  assert.equal(asked.what, 'GET /attention');
  asked.answer(status, list);
  const code = await program.exit;
  return { code, stdout: program.stdout, stderr: program.stderr, url: server.url };
}

test('status --org: an empty list is said, and is a success', async (t) => {
  const { code, stdout } = await ended(t, []);
  assert.deepEqual([code, stdout.trim()], [0, 'All is well.']);
});

test('status --org: each problem has its severity, time, cause and page; a critical one is exit code 1', async (t) => {
  const { code, stdout, stderr, url } = await ended(t, [ITEM, INFO]);
  assert.equal(code, 1);
  assert.deepEqual(stdout.trimEnd().split('\n'), [
    'critical  Tunnel shop is offline, since 2026-11-21 02:27 UTC',
    '          The connection to its agent broke.?[2J',
    `          ${url}/app/tunnels/t1`,
    'info      Domain a.test is not verified',
    '          The connection to its agent broke.?[2J',
    `          ${url}/app/tunnels/t1`,
  ]);
  assert.match(stderr, /1 problem is critical/);
});

test('status --org: an offline tunnel has the command that brings it back, and names its key', async (t) => {
  const startCommand = {
    words: ['culvert', 'http', '3000', '--subdomain', 'shop', '--policy', 'my rules.json'],
    key: { name: 'ci', nonce: 'n', is_login: false, is_valid: false },
  };
  const login = { words: ['culvert', 'start', 'web'], key: { ...startCommand.key, is_login: true, is_valid: true } };
  const list = [startCommand, login, null].map((command) => ({ ...ITEM, severity: 'warning', startCommand: command }));
  const { stdout, url } = await ended(t, list);
  assert.deepEqual(
    stdout.split('\n').filter((line) => /culvert|valid/.test(line)),
    [
      '          Its key ci is no longer valid. Create another one: culvert tokens mint.',
      `          CULVERT_TOKEN='<key ci>' culvert http 3000 --subdomain shop --policy 'my rules.json' --server ${url}`,
      `          culvert start web --server ${url}`,
    ],
  );
});

test('status --org: without a critical problem the exit code is 0', async (t) => {
  assert.equal((await ended(t, [INFO])).code, 0);
});

test('status --org: --json prints the list as it came', async (t) => {
  const { code, stdout } = await ended(t, [ITEM], ['--json']);
  assert.equal(code, 1);
  assert.deepEqual(JSON.parse(stdout), [ITEM]);
});

test('status --org: a refusal of the server is an error', async (t) => {
  const { code, stdout, stderr } = await ended(t, { error: 'not_found', message: 'No such path.' }, [], 404);
  assert.deepEqual([code, stdout], [1, '']);
  assert.match(stderr, /No such path/);
});
