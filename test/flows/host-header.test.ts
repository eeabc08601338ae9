/**
 * A service that knows its own name alone, as Vite's development server does, behind the built command: refused, advised, and served with the flag
 * that was advised. Also a socket with a base path, and the keys of a settings file.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { suite, type TestContext, test } from 'node:test';
import { type SpawnedCulvert, spawnCulvert } from '../harness/spawned.ts';

const WITHIN = { timeout: 120_000 };

/** Answers with what it was asked, to requests for `localhost` alone. */
async function startService(t: TestContext, place: number | string = 0): Promise<Server> {
  const server = createServer((request: IncomingMessage, response) => {
    const { host = '', 'x-forwarded-host': forwarded = '' } = request.headers;
    if (!/^localhost(:\d+)?$/.test(host)) {
      response.writeHead(403, { 'content-type': 'text/plain' });
      return response.end(`Blocked request. This host ("${host}") is not allowed.`);
    }
    response.setHeader('location', `http://${host}/base/next`);
    return response.end(`${request.url} ${host} ${String(forwarded)}`);
  });
  if (typeof place === 'number') server.listen(place, '127.0.0.1');
  else server.listen(place);
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return server;
}

async function visit(
  culvert: SpawnedCulvert,
  url: string,
  path: string,
): Promise<{ status: number; location: string; body: string }> {
  const { host } = new URL(url);
  const request = get({ host: '127.0.0.1', port: culvert.ports.http, path, headers: { host } });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const { statusCode: status = 0, headers } = response;
  return { status, location: headers.location ?? '', body: await text(response) };
}

const publicUrl = /"event":"tunnel_online".*?"url":"([^"]+)"/;

suite('host header', WITHIN, () => {
  test('a service that refuses the public name is advised about once, and served with --host-header rewrite', async (t) => {
    const culvert = await spawnCulvert(t);
    const { port } = (await startService(t)).address() as AddressInfo;
    const plain = culvert.agent(['http', String(port), '--json']);
    const url = await plain.printed(publicUrl);
    assert.equal((await visit(culvert, url, '/')).status, 403);
    const advice = await plain.printed(/("event":"tunnel_advice".*)/);
    assert.match(
      advice,
      /"code":"host_header","message":"your service refuses the public host name: try --host-header rewrite"/,
    );
    const tunnelId = await plain.printed(/"tunnel_id":"([^"]+)"/);
    const shown = async () => (await culvert.account.call('GET', `/tunnels/${tunnelId}`)).body['advice'];
    while ((await shown()) !== 'host_header') await pause(50);
    await plain.stop();
    while ((await shown()) !== null) await pause(50);

    const rewritten = culvert.agent(['http', String(port), '--json', '--host-header', 'rewrite']);
    const second = await rewritten.printed(publicUrl);
    const { host, origin } = new URL(second);
    assert.deepEqual(await visit(culvert, second, '/a?b=1'), {
      status: 200,
      location: `${origin}/base/next`,
      body: `/a?b=1 localhost:${port} ${host}`,
    });
  });

  test('a socket with a base path, and host_header of a settings file', async (t) => {
    const culvert = await spawnCulvert(t);
    const path = join(culvert.folder, 'app.sock');
    await startService(t, path);
    const file = join(culvert.folder, 'agent.toml');
    writeFileSync(file, `[tunnels.app]\ntarget = "unix:${path}:/base"\nhost_header = "rewrite"\n`);
    const url = await culvert.agent(['start', '--json', '--config', file]).printed(publicUrl);
    const { host, origin } = new URL(url);
    assert.deepEqual(await visit(culvert, url, '/a?b=1'), {
      status: 200,
      location: `${origin}/next`,
      body: `/base/a?b=1 localhost ${host}`,
    });
    assert.equal((await visit(culvert, url, '/%2e%2e%2fsecret')).status, 400);
  });
});
