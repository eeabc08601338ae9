/** `culvert doctor` beside a real server, without one, and on an agent's machine. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { freePorts } from '../../../test/harness/config.ts';
import { findRunning } from '../../server/admin.ts';
import type { Check } from '../checks/check.ts';
import { run, start, tempHome } from '../fixtures/in-process.ts';

interface Place {
  readonly home: string;
  readonly file: string;
  readonly api: string;
}

/** Settings on free ports; the authority of certificates is a clock. */
async function place(t: TestContext, more = ''): Promise<Place> {
  const home = tempHome(t);
  const clock = createServer((_request, response) => response.end()).listen(0, '127.0.0.1');
  t.after(() => clock.close());
  await once(clock, 'listening');
  const address = clock.address();
  assert.ok(typeof address === 'object' && address !== null);
  const ports = await freePorts();
  const file = join(home, 'server.toml');
  writeFileSync(
    file,
    `data_dir = ${JSON.stringify(join(home, 'data'))}
[api]
listen = "127.0.0.1:${ports.api}"
[edge]
http_listen = "127.0.0.1:${ports.http}"
tcp_ports = ""
udp_ports = ""
[agents]
listen = "127.0.0.1:${ports.agents}"
[acme]
directory_url = "http://127.0.0.1:${address.port}/directory"
${more}`,
  );
  return { home, file, api: `http://127.0.0.1:${ports.api}` };
}

async function checksOf(args: readonly string[], home: string): Promise<{ code: number; checks: readonly Check[] }> {
  const { code, stdout, stderr } = await run(['doctor', '--json', ...args], { home });
  assert.equal(stderr, '');
  return { code, checks: (JSON.parse(stdout) as { checks: Check[] }).checks };
}

const statuses = (checks: readonly Check[]): Record<string, string> =>
  Object.fromEntries(checks.map(({ name, status }) => [name, status]));

test('doctor: a running server is checked from outside and inside, and says what it knows itself', async (t) => {
  const { home, file } = await place(t);
  const server = start(t, ['serve', '--config', file], { home });
  await server.until(() => /admin@localhost\n\S+\n/.test(server.stdout));
  const { code, checks } = await checksOf(['--config', file], home);
  const bad = checks.filter(({ status }) => status === 'fail');
  assert.deepEqual(bad, []);
  assert.equal(code, 0);
  const found = statuses(checks);
  for (const name of ['config', 'server', 'dns', 'outside_api', 'outside_edge', 'clock', 'database', 'agents'])
    assert.equal(found[name], 'ok', name);
  assert.equal(checks.filter(({ name }) => name.startsWith('inside_')).length, 3);
  assert.equal(found['mail_transport'], 'warn');
  assert.ok(
    checks.every(({ status, next }) => (status === 'ok') === (next === '')),
    'each fault says what to do',
  );
});

test('doctor: without a server it says so, checks that the ports are free, and ends with 1', async (t) => {
  const { home, file } = await place(t);
  const { code, checks } = await checksOf(['--config', file], home);
  assert.equal(code, 1);
  const server = checks.find(({ name }) => name === 'server');
  assert.match(`${server?.status} ${server?.next}`, /^fail Start it: systemctl start culvert$/);
  assert.equal(checks.filter(({ name, status }) => name.startsWith('port_') && status === 'ok').length, 3);
  const { stdout } = await run(['doctor', '--config', file], { home });
  assert.match(stdout, /^ok +config +\S+ is valid\.$/m);
  assert.match(stdout, /^fail +server .*\n +Start it: /m);
  assert.match(stdout, /\n\d+ ok, 1 to look at, 1 failed\n$/);
});

test('doctor: without a server it says how old the backups are', async (t) => {
  const { home, file } = await place(t, '[backup]\nfolder = "backups"\n');
  const backups = async () => (await checksOf(['--config', file], home)).checks.find(({ name }) => name === 'backups');
  assert.deepEqual(await backups(), {
    name: 'backups',
    status: 'warn',
    detail: 'There is no scheduled backup.',
    next: 'Start the server, which makes one. Until then: culvert backup FILE',
  });
  mkdirSync(join(home, 'data'));
  const state = { lastScheduled: { at: Date.now() - 7_200_000 }, lastFailure: null };
  writeFileSync(join(home, 'data', 'backups.json'), JSON.stringify(state));
  assert.match((await backups())?.detail ?? '', /^The newest scheduled backup is 2 h old\.$/);
});

test('doctor: a mistake in the settings is the result, with file and line', async (t) => {
  const { home, file } = await place(t, '[edge.tls]\nmode = "nonsense"\n');
  const { code, checks } = await checksOf(['--config', file], home);
  assert.equal(code, 1);
  assert.deepEqual(
    checks.map(({ name }) => name),
    ['config'],
  );
  assert.match(checks[0]?.detail ?? '', /server\.toml:\d+: edge\.tls\.mode/);
});

test('doctor: an agent without a key and with a server that is away says both', async (t) => {
  const home = tempHome(t);
  const { agents: closed } = await freePorts();
  const { code, checks } = await checksOf(['--server', `http://127.0.0.1:${closed}`], home);
  assert.equal(code, 1);
  const found = statuses(checks);
  assert.deepEqual([found['config'], found['access_key'], found['server']], ['ok', 'fail', 'fail']);
  assert.match(checks.find(({ name }) => name === 'access_key')?.next ?? '', /^Log in: culvert login --server/);
});

test('doctor: an agent that finds its server dials the agent port and compares versions', async (t) => {
  const { home, file, api } = await place(t);
  const server = start(t, ['serve', '--config', file], { home });
  await server.until(() => /admin@localhost\n\S+\n/.test(server.stdout));
  const settings = join(home, 'agent.toml');
  writeFileSync(settings, `server = "${api}"\ntoken_file = "absent"\n`);
  const { code, checks } = await checksOf(['--config', settings], home);
  assert.equal(code, 1);
  const found = statuses(checks);
  assert.deepEqual([found['server'], found['version'], found['agent_port']], ['ok', 'ok', 'ok']);
  assert.match(checks.find(({ name }) => name === 'access_key')?.detail ?? '', /absent/);
});

test('doctor: an agent whose server accepts it on a later address alone is warned', async (t) => {
  const { home, file, api } = await place(t);
  const server = start(t, ['serve', '--config', file], { home });
  await server.until(() => /admin@localhost\n\S+\n/.test(server.stdout));
  const found = (await (await fetch(`${api}/.well-known/culvert`)).json()) as { agent_address: string };
  const { api: closed } = await freePorts();
  const portOf = async (...addresses: string[]): Promise<Check | undefined> => {
    const answer = JSON.stringify({ ...found, agent_address: addresses[0], agent_addresses: addresses });
    const announcing = createServer((_request, response) => response.end(answer)).listen(0, '127.0.0.1');
    t.after(() => announcing.close());
    await once(announcing, 'listening');
    const { port } = announcing.address() as AddressInfo;
    const { checks } = await checksOf(['--server', `http://127.0.0.1:${port}`], home);
    return checks.find(({ name }) => name === 'agent_port');
  };
  const away = `127.0.0.1:${closed}`;
  assert.equal((await portOf(found.agent_address, away))?.status, 'ok');
  const later = await portOf(away, found.agent_address);
  assert.equal(later?.status, 'warn');
  assert.match(later?.detail ?? '', new RegExp(`^${found.agent_address} accepts agents, but .*${away}: `));
  assert.equal((await portOf(away))?.status, 'fail');
});

test("doctor: a key in a table of a server's file makes it no agent's file", async (t) => {
  const { home, file } = await place(t, '[backup.more]\ntoken_file = "x"\nserver = "y"\n');
  const { checks } = await checksOf(['--config', file], home);
  assert.equal(checks.length, 1);
  assert.match(checks[0]?.detail ?? '', /server\.toml:\d+: backup\.more/);
  writeFileSync(file, '[tunnels.web]\ntarget = 3000\n');
  assert.ok((await checksOf(['--config', file], home)).checks.some(({ name }) => name === 'access_key'));
});

test('doctor: a data folder that this user may not look into is no folder without a server', async (t) => {
  const { home, file } = await place(t);
  symlinkSync('data', join(home, 'data'));
  const { checks } = await checksOf(['--config', file], home);
  const server = checks.find(({ name }) => name === 'server');
  assert.equal(`${server?.status} ${server?.next}`, 'fail Run this as root, or as the user of the server.');
  assert.match(server?.detail ?? '', /can't be queried: ELOOP/);
});

test("running server: another user's data folder refuses the question", {
  skip: process.getuid?.() !== 0,
}, async (t) => {
  const data = join(tempHome(t), 'data');
  mkdirSync(data, { mode: 0o700 });
  assert.equal(await findRunning(data), undefined);
  writeFileSync(join(data, 'seal.key'), '');
  process.seteuid?.(65_534);
  const asked = findRunning(data);
  process.seteuid?.(0);
  await assert.rejects(asked, { code: 'EACCES' });
});
