// built file: a service manager starts this file
/** A server that restarts behind sockets that another process holds, as systemd does: no visitor notices. Server and agent are processes of their own. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { steadyVisitors } from '../../scripts/bench/steady-visitors.ts';
import { startOrigin } from '../harness/origin.ts';
import { spawnCulvert } from '../harness/spawned.ts';

/** No verdict by the clock: visitors wait for as long as a busy machine takes. */
const PATIENT = { edge: 'hold_seconds = 60\n', toml: '[server]\ndrain_seconds = 60\n' };

/** That an agent serves the tunnel is stored some moments later, and the API says it before. */
function isStored(folder: string): boolean {
  const sqlite = new Database(join(folder, 'data/culvert.db'), { readonly: true, timeout: 5_000 });
  try {
    return sqlite.prepare(`SELECT 1 FROM tunnels WHERE status = 'active'`).get() !== undefined;
  } finally {
    sqlite.close();
  }
}

test('restart: no request fails while a server stops and the next one starts behind held sockets', {
  timeout: 240_000,
}, async (t) => {
  const origin = await startOrigin(t, (_request, response) => response.end('hello'));
  const culvert = await spawnCulvert(t, { held: true, ...PATIENT });
  const agent = culvert.agent(['http', String(origin.port), '--subdomain', 'shop']);
  await agent.printed(/^(http:\S+)$/m);
  let isDone = false;
  const visitors = steadyVisitors(
    { port: culvert.ports.http, host: 'shop.localhost', perSecond: 100, atOnce: 20 },
    (asked) => isDone && asked >= 200,
  );
  for (let i = 0; i < 2; i++) {
    assert.equal(await culvert.stopServer(), 0);
    await culvert.startServer();
  }
  isDone = true;
  const { asked, failed } = await visitors;
  assert.deepEqual(failed, {}, `of ${asked} requests`);
});

test('restart: no request fails when a server is killed behind held sockets', { timeout: 240_000 }, async (t) => {
  const origin = await startOrigin(t, (_request, response) => response.end('hello'));
  const culvert = await spawnCulvert(t, { held: true, ...PATIENT });
  const agent = culvert.agent(['http', String(origin.port), '--subdomain', 'shop']);
  await agent.printed(/^(http:\S+)$/m);
  while (!isStored(culvert.folder)) await pause(50);
  await culvert.killServer();
  // Nothing is under way: what is asked now waits in the socket, and then for the agent.
  const visitors = steadyVisitors(
    { port: culvert.ports.http, host: 'shop.localhost', perSecond: 50, atOnce: 50 },
    (asked) => asked >= 50,
  );
  await culvert.startServer();
  const { asked, failed } = await visitors;
  assert.deepEqual(failed, {}, `of ${asked} requests`);
});
