import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { silentLog } from '../../src/base/log.ts';
import { checkServerConfig } from '../../src/config/load.ts';
import { openOperator } from '../../src/server/admin.ts';
import { startServer } from '../../src/server/start.ts';
import { FakeNode, LOOSE, settingsFor } from '../../src/control/core/testing/harness.ts';

let dataDir = '';
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'culvert-'));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

const start = (settings = settingsFor(dataDir, LOOSE)) =>
  startServer(settings, { version: '1.2.3', log: silentLog, startNode: new FakeNode().start });

async function login(apiUrl: string, email: string, password: string): Promise<string> {
  const answer = await fetch(`${apiUrl}/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password }),
  });
  assert.equal(answer.status, 200);
  return ((await answer.json()) as { access_token: string }).access_token;
}

const get = async (apiUrl: string, path: string, as: string) =>
  (await fetch(apiUrl + path, { headers: { authorization: `Bearer ${as}` } })).json();

test('the first start makes an owner, the second keeps everything and makes none', async () => {
  const first = await start();
  const owner = first.firstOwner;
  assert.ok(owner !== undefined);
  assert.equal(owner.email, 'admin@localhost');
  const as = await login(first.apiUrl, owner.email, owner.password.reveal());
  await fetch(`${first.apiUrl}/tunnels`, {
    method: 'POST',
    headers: { authorization: `Bearer ${as}`, 'content-type': 'application/json' },
    body: '{"localPort":1,"subdomain":"kept"}',
  });
  await first.close();
  await first.close();
  const second = await start();
  assert.equal(second.firstOwner, undefined);
  const again = await login(second.apiUrl, owner.email, owner.password.reveal());
  const [tunnel] = (await get(second.apiUrl, '/tunnels', again)) as { subdomain: string }[];
  assert.equal(tunnel?.subdomain, 'kept');
  await second.close();
});

test('first owner: a start that ended before the password was shown is known to the next, until there is another or a login', async () => {
  const first = await start();
  const owner = first.firstOwner;
  assert.ok(owner !== undefined);
  assert.equal(first.unseenOwner, undefined, 'it is about to be shown');
  await first.close();
  const second = await start();
  assert.equal(second.unseenOwner, 'admin@localhost');
  await login(second.apiUrl, owner.email, owner.password.reveal());
  await second.close();
  const third = await start();
  assert.equal(third.unseenOwner, undefined);
  await third.close();
});

test('first owner: once the password was shown no later start speaks of it', async () => {
  const first = await start();
  first.ownerShown();
  await first.close();
  const second = await start();
  assert.equal(second.unseenOwner, undefined);
  await second.close();
});

test('first owner: a named owner is the only account, and waits for a password until a link has set it', async () => {
  const settings = settingsFor(dataDir, `${LOOSE}\n[accounts]\nowner = "Ann@example.com"`);
  const first = await start(settings);
  assert.equal(first.firstOwner?.email, 'Ann@example.com');
  await first.close();
  const second = await start(settings);
  assert.equal(second.unseenOwner, 'Ann@example.com');
  const operator = await openOperator(settings, { version: '1', log: silentLog, command: 'culvert admin' });
  const [user, ...others] = (await operator.call('GET', '/superadmin/users')) as Record<string, unknown>[];
  assert.deepEqual([user?.['is_superadmin'], user?.['password_pending'], others], [true, true, []]);
  const link = (await operator.call('POST', '/superadmin/users/ann@example.com/password-link')) as { url: string };
  assert.ok(link.url.startsWith(`${second.apiUrl}/app/reset?token=`), link.url);
  const token = new URL(link.url).searchParams.get('token');
  const reset = await fetch(`${second.apiUrl}/auth/reset`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token, new_password: 'seven green bottles sit' }),
  });
  assert.equal(reset.status, 200);
  await login(second.apiUrl, 'ann@example.com', 'seven green bottles sit');
  await second.close();
  const third = await start(settings);
  assert.equal(third.unseenOwner, undefined);
  await third.close();
});

test('two servers do not share a folder', async () => {
  const server = await start();
  await assert.rejects(start(), /in use by another culvert serve/);
  await server.close();
});

test('a start that fails half way closes what it opened', async () => {
  const squatter = createServer().listen(0, '127.0.0.1');
  await once(squatter, 'listening');
  const { port } = squatter.address() as AddressInfo;
  const text = `data_dir = "${dataDir}"\n[api]\nlisten = "127.0.0.1:${port}"\n[edge]\nhttp_listen = ""\n[agents]\nlisten = "127.0.0.1:0"`;
  const { settings } = checkServerConfig(text, 'test.toml');
  let closed = 0;
  const node = new FakeNode();
  const startNode: typeof node.start = async (slice, deps) => {
    const made = await node.start(slice, deps);
    const close = async (): Promise<void> => {
      closed++;
      await made.node.close();
    };
    return { ...made, node: { ...made.node, close } };
  };
  await assert.rejects(startServer(settings, { version: '1', log: silentLog, startNode }), { code: 'EADDRINUSE' });
  assert.equal(closed, 1);
  await assert.rejects(
    startServer(settings, { version: '1', log: silentLog, startNode: () => Promise.reject(new Error('no port')) }),
    /no port/,
  );
  squatter.close();
  const server = await start();
  assert.ok(server.firstOwner !== undefined, 'no user has seen a password yet');
  await server.close();
});

test('a drain answers what is in flight, then frees the folder', async () => {
  const server = await start();
  assert.equal((await fetch(`${server.apiUrl}/health`)).status, 200);
  await server.drain();
  await assert.rejects(fetch(`${server.apiUrl}/health`));
  await (await start()).close();
});

test('with the real data node, discovery and URLs name the real ports', async () => {
  const server = await startServer(settingsFor(dataDir, LOOSE), { version: '1.2.3', log: silentLog });
  try {
    const found = (await (await fetch(`${server.apiUrl}/.well-known/culvert`)).json()) as { agent_address: string };
    assert.equal(found.agent_address, `127.0.0.1:${server.addresses.agents.port}`);
    const owner = server.firstOwner;
    assert.ok(owner !== undefined);
    const as = await login(server.apiUrl, owner.email, owner.password.reveal());
    const made = await fetch(`${server.apiUrl}/tunnels`, {
      method: 'POST',
      headers: { authorization: `Bearer ${as}`, 'content-type': 'application/json' },
      body: '{"localPort":1,"subdomain":"real"}',
    });
    assert.equal(
      ((await made.json()) as { publicUrl: string }).publicUrl,
      `http://real.localhost:${server.addresses.http?.port}`,
    );
  } finally {
    await server.close();
  }
});
