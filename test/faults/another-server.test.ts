/** Another server answers at an agent's address: an empty data folder after a volume was not mounted. The agent waits for its own. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { discover } from '../../src/agent/connect/discovery.ts';
import { silentLog } from '../../src/base/log.ts';
import { start as startProgram, tempHome } from '../../src/cli/fixtures/in-process.ts';
import { checkServerConfig } from '../../src/config/load.ts';
import { startInThisThread } from '../../src/server/data-node.ts';
import { type Server, startServer } from '../../src/server/start.ts';
import { Account, startOrigin } from '../harness.ts';
import { configText, freePorts } from '../harness/config.ts';
import { fillDataFolder } from '../harness/data-folder.ts';
import { makeQuickHasher } from '../harness/quick-hasher.ts';

type Ports = Awaited<ReturnType<typeof freePorts>>;

async function serverOn(t: TestContext, folder: string, ports: Ports): Promise<Server> {
  const { settings } = checkServerConfig(configText({ folder, ports }), 'test.toml');
  const server = await startServer(settings, {
    version: '0.0.0-test',
    log: silentLog,
    startNode: startInThisThread,
    makeHasher: makeQuickHasher,
  });
  t.after(() => server.close());
  return server;
}

/** Both servers have the same ports. */
function newFolder(t: TestContext, ports: Ports): string {
  const folder = mkdtempSync(join(tmpdir(), 'culvert-servers-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  fillDataFolder(checkServerConfig(configText({ folder, ports }), 'test.toml').settings.data_dir);
  return folder;
}

async function idOf(server: Server): Promise<string> {
  return (await discover(new URL(server.apiUrl))).server_id ?? '';
}

test('server_id: an agent outlives an empty server at its address, also across its own restart', async (t) => {
  const ports = await freePorts();
  const [ownFolder, otherFolder] = [newFolder(t, ports), newFolder(t, ports)];
  const own = await serverOn(t, ownFolder, ports);
  const owner = own.firstOwner;
  assert.ok(owner !== undefined);
  const account = await Account.logIn(own.apiUrl, owner.email, owner.password.reveal());
  const { body: token } = await account.call('POST', '/tokens', { name: 'ci' });
  const ownId = await idOf(own);
  const origin = await startOrigin(t, (_request, response) => response.end('here'));
  const home = tempHome(t);
  writeFileSync(join(home, 'key'), String(token['apiKey']), { mode: 0o600 });
  const words = ['http', String(origin.port), '--server', own.apiUrl, '--token-file', 'key', '--json', '--no-inspect'];
  const agent = startProgram(t, words, { home });
  await agent.until(() => agent.stdout.includes('"tunnel_online"'));
  await own.close();
  await agent.until(() => agent.stdout.includes('"server_lost"'));

  const other = await serverOn(t, otherFolder, ports);
  const otherId = await idOf(other);
  assert.notEqual(otherId, ownId);
  await agent.until(() => agent.stdout.includes('"server_changed"'));
  const line = agent.stdout.split('\n').find((text) => text.includes('"server_changed"')) ?? '';
  const changed = JSON.parse(line) as Record<string, unknown>;
  assert.deepEqual([changed['server_id'], changed['own_server_id']], [otherId, ownId]);
  assert.equal(typeof changed['retry_in_ms'], 'number');
  agent.signal('SIGTERM');
  await agent.exit;

  // A reboot of the agent's machine: what it knows is in its file.
  const again = startProgram(t, words, { home });
  await again.until(() => again.stdout.includes('"server_changed"'));
  await other.close();
  const back = await serverOn(t, ownFolder, ports);
  assert.equal(await idOf(back), ownId, 'a restart keeps the identity');
  again.signal('SIGHUP');
  await again.until(() => again.stdout.includes('"tunnel_online"'));

  const revoked = await account.call('DELETE', `/tokens/${String(token['nonce'])}`);
  assert.ok(revoked.status < 300, JSON.stringify(revoked));
  assert.equal(await again.exit, 3, 'what its own server states ends it');
});
