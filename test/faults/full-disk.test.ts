/** A disk that fills: recordings give way, changes go on, and a server starts on a disk without room. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { freePorts } from '../harness/config.ts';
import { inReverse } from '../harness/ends.ts';
import { SpawnedCulvert } from '../harness/spawned.ts';
import { fillDisk, noSmallDisks, smallDisk } from './small-disk.ts';

const SKIP = { skip: noSmallDisks(), timeout: 120_000 };
const BODY = Buffer.alloc(60_000, 'b');

async function onSmallDisk(context: TestContext, megabytes: number): Promise<SpawnedCulvert> {
  const t = inReverse(context);
  const folder = smallDisk(t, megabytes);
  const culvert = new SpawnedCulvert(t, folder, await freePorts(), {});
  await culvert.prepare();
  return culvert;
}

/** A tunnel `shop` to a service that answers with a large body. */
async function serveShop(t: TestContext, culvert: SpawnedCulvert): Promise<void> {
  const origin = createServer((incoming, response) => void incoming.resume().on('end', () => response.end(BODY)));
  origin.listen(0, '127.0.0.1');
  await once(origin, 'listening');
  t.after(() => {
    origin.close();
    origin.closeAllConnections();
  });
  const agent = culvert.agent(['http', String((origin.address() as AddressInfo).port), '--subdomain', 'shop']);
  await agent.printed(/https?:\/\/shop\.localhost/);
}

async function visit(culvert: SpawnedCulvert): Promise<number> {
  const ask = request({
    host: '127.0.0.1',
    port: culvert.ports.http,
    method: 'POST',
    headers: { host: 'shop.localhost' },
    agent: false,
  });
  ask.end(BODY);
  const [response] = (await once(ask, 'response')) as [IncomingMessage];
  response.resume();
  await once(response, 'end');
  return response.statusCode ?? 0;
}

async function waitFor(condition: () => boolean): Promise<void> {
  while (!condition()) await pause(50);
}

test('recordings: changes are stored when recorded bodies have filled the disk', SKIP, async (t) => {
  const culvert = await onSmallDisk(t, 16);
  await serveShop(t, culvert);
  const statuses: number[] = [];
  for (let round = 0; round < 60; round++) {
    assert.deepEqual(await Promise.all([1, 2, 3].map(() => visit(culvert))), [200, 200, 200]);
    const answer = await culvert.account.call('POST', '/projects', { name: `p${round}`, slug: `p${round}` });
    statuses.push(answer.status);
  }
  t.diagnostic(`${statuses.filter((status) => status === 503).length} of ${statuses.length} changes were refused`);
  assert.deepEqual(
    statuses.filter((status) => status !== 201),
    [],
  );
  for (let start = 0; start < 2; start++) {
    await culvert.killServer();
    await culvert.startServer();
  }
});

for (const how of ['stopped', 'killed'] as const) {
  test(`start: a server that was ${how} starts and serves visitors when its disk is full`, SKIP, async (t) => {
    const culvert = await onSmallDisk(t, 16);
    await serveShop(t, culvert);
    await waitFor(() => existsSync(join(culvert.folder, 'data', 'disk-reserve')));
    if (how === 'killed') await culvert.killServer();
    else await culvert.server.stop();
    const filling = fillDisk(join(culvert.folder, 'data'));
    for (let start = 0; start < 2; start++) {
      await culvert.startServer();
      // The first start frees the reserve. With what its log of changes held besides, the second one may find the disk nearly full.
      await culvert.server.printed(
        start === 0 ? /the disk of data_dir is full/ : /the disk of data_dir is (nearly )?full/,
      );
      while ((await visit(culvert)) !== 200) await pause(100);
      await culvert.killServer();
    }
    rmSync(filling);
    await culvert.startServer();
    const account = await culvert.logIn();
    assert.equal((await account.call('POST', '/projects', { name: 'after', slug: 'after' })).status, 201);
  });
}

test('start: recorded requests are deleted when nothing else makes room', SKIP, async (t) => {
  const culvert = await onSmallDisk(t, 16);
  await serveShop(t, culvert);
  for (let round = 0; round < 20; round++) await visit(culvert);
  await culvert.server.stop();
  rmSync(join(culvert.folder, 'data', 'disk-reserve'), { force: true });
  fillDisk(join(culvert.folder, 'data'));
  await culvert.startServer();
  await culvert.server.printed(/all recorded requests were deleted/);
  while ((await visit(culvert)) !== 200) await pause(100);
});

test('health: a locked database makes /ready 503 and /health degraded, and visitors are served', SKIP, async (t) => {
  const culvert = await onSmallDisk(t, 16);
  await serveShop(t, culvert);
  const other = new Database(join(culvert.folder, 'data', 'culvert.db'));
  t.after(() => other.close());
  other.exec('BEGIN IMMEDIATE');
  const status = async (path: string): Promise<number> => (await fetch(culvert.apiUrl + path)).status;
  while ((await status('/ready')) !== 503) await pause(100);
  const health = await fetch(`${culvert.apiUrl}/health`);
  assert.deepEqual([health.status, ((await health.json()) as { status: string }).status], [200, 'degraded']);
  assert.equal(await visit(culvert), 200);
  other.exec('ROLLBACK');
  while ((await status('/ready')) !== 200) await pause(100);
});
