/** The server behind `culvert admin`, and the error when there is none: while a server starts, drains, or was killed. */
import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, type TestContext, test } from 'node:test';
import { silentLog } from '../../base/log.ts';
import { start as spawnProgram } from '../../cli/fixtures/program.ts';
import { openOperator } from '../../server/admin.ts';
import { askSocket } from '../../server/admin-client.ts';
import { openAdminSocket } from '../../server/admin-socket.ts';
import { startServer } from '../../server/start.ts';
import { FakeNode, LOOSE, settingsFor } from '../core/testing/harness.ts';

let dataDir = '';
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'culvert-'));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

const start = (folder = dataDir, startNode = new FakeNode().start) =>
  startServer(settingsFor(folder, LOOSE), { version: '1.2.3', log: silentLog, startNode });
const open = (folder = dataDir) =>
  openOperator(settingsFor(folder), { version: '1', log: silentLog, command: 'culvert admin …' });

async function listUsers(folder = dataDir): Promise<unknown> {
  const operator = await open(folder);
  try {
    return await operator.call('GET', '/superadmin/users');
  } finally {
    operator.close();
  }
}

/** A foreign listener on a port that the server gave up; counts what it is asked. */
async function strangerOn(t: TestContext, port: number): Promise<{ readonly asked: number }> {
  const seen = { asked: 0 };
  const other = createServer((_request, response) => {
    seen.asked++;
    response.end('[]');
  });
  t.after(() => other.close());
  // The server may be about to give it up.
  const listen = (): unknown => other.listen(port, '127.0.0.1');
  other.on('error', () => setImmediate(listen));
  listen();
  await new Promise((resolve) => other.once('listening', resolve));
  return seen;
}

/** Handles of this process on the data folder itself. */
function openFolders(folder: string): number {
  return readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === folder;
    } catch {
      return false; // the handle that listed them is gone
    }
  }).length;
}

test('admin command: served while visitors drain, refused once the API stops, and never sent to a stranger on its port', async (t) => {
  const node = new FakeNode();
  const visitors = Promise.withResolvers<void>();
  const startNode: typeof node.start = async (slice, deps) => {
    const started = await node.start(slice, deps);
    return { ...started, node: { ...started.node, drain: () => visitors.promise } };
  };
  const server = await start(dataDir, startNode);
  t.after(() => server.close());
  const { port } = server.addresses.api;
  const slow = connect(port, '127.0.0.1');
  t.after(() => slow.destroy());
  slow.on('error', () => {}); // cut by the close when the test fails
  slow.write('POST /auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{');
  const drained = server.drain();
  assert.ok(Array.isArray(await listUsers()), 'agents that come back for held visitors still ask the API');
  visitors.resolve();
  const stranger = await strangerOn(t, port);
  await assert.rejects(listUsers(), { code: 'unavailable', message: /^the server on .* is stopping: try again/ });
  assert.equal(stranger.asked, 0);
  slow.end('}');
  await drained;
  assert.ok(!readdirSync(dataDir).includes('admin.sock'));
  assert.ok(Array.isArray(await listUsers()), 'without a server the command does it itself');
  assert.equal(stranger.asked, 0);
});

test('admin socket: after a kill no command asks the new owner of the port, also not beside another command', {
  timeout: 120_000,
}, async (t) => {
  writeFileSync(
    join(dataDir, 'server.toml'),
    '[api]\nlisten = "127.0.0.1:0"\n[edge]\nhttp_listen = "127.0.0.1:0"\ntcp_ports = ""\n[agents]\nlisten = "127.0.0.1:0"\n',
  );
  const folder = join(dataDir, 'data');
  const server = spawnProgram(t, ['serve'], { home: dataDir, env: { CULVERT_CONFIG: 'server.toml' } });
  await server.until(() => /admin@localhost\n\S+\n/.test(server.stdout));
  assert.ok(Array.isArray(await listUsers(folder)));
  const port = Number(/API +http:\/\/[^:]+:(\d+)/.exec(server.stdout)?.[1]);
  server.signal('SIGKILL');
  await server.exit;
  assert.ok(existsSync(join(folder, 'admin.sock')), 'it had no time to clean up');

  const stranger = await strangerOn(t, port);
  const first = await open(folder);
  await assert.rejects(listUsers(folder), /is in use: .*another culvert admin is running.*Try again/);
  first.close();
  assert.equal(stranger.asked, 0);

  const again = await start(folder);
  t.after(() => again.close());
  assert.ok(Array.isArray(await listUsers(folder)), 'a start takes the place of what the killed one left');
});

test('admin socket: a command gets "starting" until the server accepts commands', async (t) => {
  const socket = await openAdminSocket(dataDir);
  t.after(() => socket.close());
  const { status, text } = await askSocket(dataDir, { method: 'GET', path: '/superadmin/users', headers: {} });
  assert.equal(status, 503);
  const { error, message } = JSON.parse(text) as { error: string; message: string };
  assert.equal(error, 'unavailable');
  assert.equal(message, `the server on ${dataDir} is starting: try again in a moment`);
});

test('a command that is under way when a server drains gets its answer; one that comes then does not', async (t) => {
  const socket = await openAdminSocket(dataDir);
  t.after(() => socket.close());
  const arrived = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  socket.serve({
    fetch: async () => {
      arrived.resolve();
      await release.promise;
      return new Response('done');
    },
  });
  const ask = () => askSocket(dataDir, { method: 'GET', path: '/', headers: {} });
  const early = ask();
  await arrived.promise;
  let isDrained = false;
  const drained = socket.drain().then(() => {
    isDrained = true;
  });
  assert.match((await ask()).text, /is stopping/);
  assert.equal(isDrained, false);
  release.resolve();
  assert.deepEqual(await early, { status: 200, text: 'done' });
  await drained;
});

test('the socket is for the user of the folder alone, and goes with the server', async () => {
  const server = await start();
  const file = join(dataDir, 'admin.sock');
  const { mode } = statSync(file);
  assert.equal(mode & 0o777, 0o600);
  await server.close();
  assert.ok(!existsSync(file));
});

test('a data folder may have a path that is longer than an address of a socket', async () => {
  const folder = join(dataDir, 'long'.repeat(30), 'data');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (let round = 0; round < 2; round++) {
    const server = await start(folder);
    const handles = openFolders(folder);
    assert.ok(Array.isArray(await listUsers(folder)));
    assert.equal(openFolders(folder), handles, 'a command leaves no handle open');
    assert.ok(existsSync(join(folder, 'admin.sock')));
    await server.close();
    assert.ok(!existsSync(join(folder, 'admin.sock')));
    assert.equal(openFolders(folder), 0);
  }
});
