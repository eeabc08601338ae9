/** A log that can't be written ends neither server nor agent: its disk is full, or its reader has left. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { culvertCommand, type SpawnedCulvert, spawnCulvert } from '../harness/spawned.ts';

const WITHIN = { timeout: 120_000 };

/** A `culvert` whose standard error is on a full disk, or a pipe without a reader. */
async function deaf(t: TestContext, how: 'full' | 'left', args: readonly string[], culvert: SpawnedCulvert, env = {}) {
  const full = how === 'full' ? openSync('/dev/full', 'w') : undefined;
  const [file = '', ...first] = culvertCommand();
  const child = spawn(file, [...first, ...args], {
    cwd: culvert.folder,
    env: { PATH: process.env['PATH'], HOME: culvert.folder, XDG_RUNTIME_DIR: culvert.folder, ...env },
    stdio: ['ignore', 'pipe', full ?? 'pipe'],
  });
  if (full !== undefined) closeSync(full);
  child.stderr?.destroy();
  child.stdout?.resume();
  const over = once(child, 'close');
  t.after(async () => {
    child.kill('SIGKILL');
    await over;
  });
  return child;
}

/** 0: no response. */
async function statusOf(port: number, host: string): Promise<number> {
  return new Promise((resolve) => {
    get({ host: '127.0.0.1', port, headers: { host }, agent: false }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    }).on('error', () => resolve(0));
  });
}

async function ended(child: ChildProcess): Promise<unknown> {
  const over = once(child, 'close');
  child.kill('SIGTERM');
  const [code] = await over;
  return code;
}

for (const how of ['full', 'left'] as const) {
  test(
    `server and agent go on when their log is ${how === 'full' ? 'on a full disk' : 'read by no process'}`,
    WITHIN,
    async (t) => {
      const culvert = await spawnCulvert(t);
      const origin = createServer((_request, response) => response.end('ok')).listen(0, '127.0.0.1');
      await once(origin, 'listening');
      t.after(() => void origin.close());
      await culvert.killServer();
      const server = await deaf(t, how, ['serve', '--config', join(culvert.folder, 'server.toml')], culvert);
      const words = ['http', String((origin.address() as AddressInfo).port), '--server', culvert.apiUrl];
      const env = { CULVERT_TOKEN: culvert.token };
      const agent = await deaf(t, how, [...words, '--subdomain', 'shop'], culvert, env);
      const isServed = async (name: string): Promise<void> => {
        while ((await statusOf(culvert.ports.http, `${name}.localhost`)) !== 200) {
          assert.deepEqual([server.exitCode, agent.exitCode], [null, null], 'they run');
          await pause(100);
        }
      };
      await isServed('shop');
      // Lines of the server's log for each that comes and leaves, of the agent's for a service that can't be reached.
      const second = await deaf(t, how, [...words, '--subdomain', 'other'], culvert, env);
      await isServed('other');
      assert.equal(await ended(second), 0);
      origin.close();
      origin.closeAllConnections();
      await once(origin, 'close');
      assert.equal(await statusOf(culvert.ports.http, 'shop.localhost'), 502);
      assert.deepEqual([server.exitCode, agent.exitCode], [null, null], 'they run');
      assert.equal(await ended(agent), 0);
      assert.equal(await ended(server), 0);
    },
  );
}

for (const how of ['full', 'left'] as const) {
  test(
    `agent: tunnels go on when \`--json\` and \`--url-file\` can't be written (${how === 'full' ? 'full disk' : 'closed pipe'})`,
    WITHIN,
    async (t) => {
      const culvert = await spawnCulvert(t);
      const origin = createServer((_request, response) => response.end('ok')).listen(0, '127.0.0.1');
      await once(origin, 'listening');
      t.after(() => {
        origin.close();
        origin.closeAllConnections();
      });
      const full = how === 'full' ? openSync('/dev/full', 'w') : undefined;
      const [file = '', ...first] = culvertCommand();
      const words = ['http', String((origin.address() as AddressInfo).port), '--server', culvert.apiUrl];
      const files = ['--json', '--url-file', '/nowhere/urls'];
      const agent = spawn(file, [...first, ...words, '--subdomain', 'shop', ...files], {
        cwd: culvert.folder,
        env: { PATH: process.env['PATH'], HOME: culvert.folder, CULVERT_TOKEN: culvert.token },
        stdio: ['ignore', full ?? 'pipe', 'pipe'],
      });
      if (full !== undefined) closeSync(full);
      agent.stdout?.destroy();
      agent.stderr?.resume();
      const over = once(agent, 'close');
      t.after(async () => {
        agent.kill('SIGKILL');
        await over;
      });
      // Each visit is an event that can't be written.
      for (let served = 0; served < 5; ) {
        assert.equal(agent.exitCode, null, 'it runs');
        if ((await statusOf(culvert.ports.http, 'shop.localhost')) === 200) served++;
        else await pause(100);
      }
      agent.kill('SIGTERM');
      assert.equal((await over)[0], 0);
    },
  );
}
