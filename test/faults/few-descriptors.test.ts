// built file: it unpacks its addons, which takes descriptors
/** A server with too few file descriptors: it says what to raise, counts it, and goes on. */
import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { Program } from '../../scripts/quickstart/program.ts';
import { Account } from '../harness/account.ts';
import { configText, freePorts, type Ports } from '../harness/config.ts';
import { newDataFolder } from '../harness/data-folder.ts';
import { culvertCommand } from '../harness/spawned.ts';

/** A server that is started by a shell with this limit (`ulimit` and its arguments). */
async function serveWith(t: TestContext, ulimit: string): Promise<{ server: Program; ports: Ports; account: Account }> {
  const folder = newDataFolder();
  const ports = await freePorts();
  writeFileSync(join(folder, 'server.toml'), configText({ folder, ports, toml: '', edge: '', address: '127.0.0.1' }));
  const server = new Program({
    command: ['/bin/sh', '-c', `${ulimit}; exec "$0" "$@"`, ...culvertCommand()],
    args: ['serve', '--config', 'server.toml'],
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: folder },
  });
  t.after(async () => {
    server.kill();
    await server.ended();
    rmSync(folder, { recursive: true });
  });
  const password = await server.printed(/^admin@localhost\n(\S+)$/m);
  const account = await Account.logIn(`http://127.0.0.1:${ports.api}`, 'admin@localhost', password);
  return { server, ports, account };
}

const statusOf = (port: number): Promise<number | string> =>
  new Promise((resolve) => {
    const asked = get({ host: '127.0.0.1', port, headers: { host: 'nowhere.localhost' }, agent: false }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
    });
    asked.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'failed'));
  });

test('descriptors: at the limit the server logs what to raise, counts it, and serves again once some are free', {
  timeout: 120_000,
}, async (t) => {
  const { server, ports, account } = await serveWith(t, 'ulimit -n 160');
  await server.printed(/the limit of open files and sockets is low\. Raise LimitNOFILE/);
  const sockets: Socket[] = [];
  t.after(() => {
    for (const socket of sockets) socket.destroy();
  });
  const fill = (count: number): void => {
    for (let i = 0; i < count; i++)
      sockets.push(
        connect(ports.http, '127.0.0.1')
          .on('error', () => undefined)
          .resume(),
      );
  };
  fill(200);
  // A file that the server has open for a moment leaves its place free afterwards, when the connections beyond the limit are gone.
  const refill = setInterval(() => fill(10), 200);
  t.after(() => clearInterval(refill));
  await server.printed(/no file descriptors are free: .*LimitNOFILE.*ulimit -n/);
  clearInterval(refill);
  for (const socket of sockets) socket.destroy();
  await server.printed(/file descriptors are free again/);
  while ((await statusOf(ports.http)) !== 404) await pause(50);
  const headers = { authorization: `Bearer ${account.bearer}`, connection: 'close' };
  const text = await (await fetch(`${account.apiUrl}/superadmin/metrics`, { headers })).text();
  assert.match(text, /^culvert_process_max_fds 160$/m);
  assert.match(text, /^culvert_process_fd_shortage_seconds_total [1-9]\d*$/m);
});

test('descriptors: the soft limit is raised to the hard one at the start', async (t) => {
  const { server } = await serveWith(t, 'ulimit -Sn 256; ulimit -Hn 5000');
  const [, soft, hard] =
    /^Max open files +(\d+) +(\d+)/m.exec(readFileSync(`/proc/${server.pid}/limits`, 'utf8')) ?? [];
  assert.deepEqual([soft, hard], ['5000', '5000']);
});
