/** Commands behind a proxy and with a private authority: flags, settings and environment. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { WebSocket, WebSocketServer } from 'ws';
import { Outbound } from '../../base/net/outbound/outbound.ts';
import { proxyRules } from '../../base/net/outbound/proxy-rules.ts';
import { playHttpProxy, playSocksProxy } from '../../base/net/outbound/testing.ts';
import { testCertificate } from '../../data/fixtures/certificate.ts';
import { run, tempHome } from '../fixtures/in-process.ts';
import { loggedInAt, playServer, refreshWith } from '../fixtures/played-server.ts';

/** A name that no DNS knows: who finds it has gone through the proxy. */
const NAME = 'culvert.test';

async function tlsServer(t: TestContext): Promise<{ url: string; cert: string }> {
  const certificate = await testCertificate([NAME]);
  const document = { version: '9.9', agent_address: `${NAME}:1`, edge_domain: 'test' };
  const server = createServer(certificate, (_request, response) => response.end(JSON.stringify(document)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `https://${NAME}:${(server.address() as AddressInfo).port}`, cert: certificate.cert };
}

test('API calls: go through the proxy of the environment, and its password is printed nowhere', async (t) => {
  const server = await playServer(t);
  const { port } = new URL(server.url);
  const proxy = await playSocksProxy(t, { login: 'ann:s3cret' });
  const { home } = loggedInAt(t, `http://${NAME}:${port}`);
  const env = { all_proxy: `socks5h://ann:s3cret@127.0.0.1:${proxy.port}` };
  const listed = run(['tokens', '--server', `http://${NAME}:${port}`, '--json'], { home, env });
  refreshWith(await server.next(), 'cookie-1');
  (await server.next()).answer(200, []);
  const { code, stdout, stderr } = await listed;
  assert.equal(code, 0, stderr);
  assert.deepEqual(JSON.parse(stdout), []);
  assert.deepEqual(new Set(proxy.asked), new Set([`${NAME}:${port}`]));

  const wrong = { all_proxy: `socks5h://ann:s3cret-2@127.0.0.1:${proxy.port}` };
  const refused = await run(['tokens', '--server', `http://${NAME}:${port}`], { home, env: wrong });
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /proxy 127\.0\.0\.1:\d+ \(all_proxy\): rejects the user or the password in all_proxy/);
  assert.doesNotMatch(refused.stderr + refused.stdout, /s3cret/);
});

test('status and doctor: --proxy and --ca-file lead to a server with a private authority', async (t) => {
  const { url, cert } = await tlsServer(t);
  const home = tempHome(t);
  writeFileSync(join(home, 'ca.pem'), cert);
  const proxy = await playHttpProxy(t);
  const flags = ['--server', url, '--proxy', `127.0.0.1:${proxy.port}`];
  const known = await run(['status', ...flags, '--ca-file', 'ca.pem'], { home });
  assert.equal(known.code, 0, known.stdout + known.stderr);
  assert.match(known.stdout, /online, version 9\.9/);
  const unknown = await run(['status', ...flags], { home });
  assert.equal(unknown.code, 1);
  assert.match(unknown.stdout, /self-signed certificate/);
  const checked = await run(['doctor', ...flags, '--ca-file', 'ca.pem'], { home });
  assert.match(checked.stdout, /is a Culvert server\. It is reached through the proxy 127\.0\.0\.1:\d+ \(--proxy\)\./);
});

test('live feed: a WebSocket goes through the proxy, and trusts the private authority', async (t) => {
  const certificate = await testCertificate([NAME]);
  const server = createServer(certificate).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const sockets = new WebSocketServer({ server }).on('connection', (socket) => socket.send('hello'));
  t.after(() => {
    for (const socket of sockets.clients) socket.terminate();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const proxy = await playHttpProxy(t);
  const rules = proxyRules({ HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` });
  const trusting = new Outbound({ rules, extraCa: certificate.cert });
  const socket = new WebSocket(`wss://${NAME}:${port}/`, { agent: trusting.newAgent('https:') });
  const [message] = (await once(socket, 'message')) as [Buffer];
  assert.equal(message.toString(), 'hello');
  socket.terminate();
  assert.deepEqual(proxy.asked, [`${NAME}:${port}`]);
  const other = new WebSocket(`wss://${NAME}:${port}/`, { agent: new Outbound({ rules }).newAgent('https:') });
  const [error] = (await once(other, 'error')) as [Error];
  assert.match(error.message, /self-signed certificate/);
});

test('settings: proxy and ca_file of agent.toml count, and the flag or an empty text wins', async (t) => {
  const { url, cert } = await tlsServer(t);
  const home = tempHome(t);
  const folder = join(home, '.config/culvert');
  const proxy = await playHttpProxy(t, { login: 'ann:s3cret' });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'ca.pem'), cert);
  const file = `server = "${url}"\nca_file = "ca.pem"\nproxy = "http://ann:s3cret@127.0.0.1:${proxy.port}"\n`;
  writeFileSync(join(folder, 'agent.toml'), file);
  const env = { HTTPS_PROXY: 'http://127.0.0.1:1' };
  assert.match((await run(['status'], { home, env })).stdout, /online, version 9\.9/);
  const without = await run(['status', '--proxy', ''], { home, env });
  assert.match(without.stdout, /ENOTFOUND|EAI_AGAIN/, 'the name is looked up here');
});

test('settings: what names no proxy or no certificate is a mistake, with its place', async (t) => {
  const home = tempHome(t);
  writeFileSync(join(home, 'empty.pem'), 'nothing');
  for (const [args, env, message] of [
    [['--proxy', 'ftp://x'], {}, /^culvert: --proxy: is not a proxy: use http:/],
    [['--proxy', 'http://ann:s3cret@proxy'], {}, /--proxy: a password on the command line is rejected: .*HTTPS_PROXY/],
    [['--ca-file', 'none.pem'], {}, /--ca-file: none\.pem: there is no such file/],
    [['--ca-file', 'empty.pem'], {}, /--ca-file: empty\.pem: has no certificate in PEM form/],
    [[], { HTTPS_PROXY: 'ftp://ann:s3cret@x' }, /HTTPS_PROXY: is not a proxy/],
  ] as const) {
    const { code, stderr } = await run(['status', ...args], { home, env });
    assert.equal(code, 2, stderr);
    assert.match(stderr, message);
    assert.doesNotMatch(stderr, /s3cret/);
  }
  writeFileSync(join(home, 'culvert.toml'), '\nproxy = "http://proxy"\n');
  const project = await run(['status'], { home });
  assert.match(project.stderr, /culvert\.toml:2: proxy: is not taken from a project file\. Use --proxy, /);
  assert.equal(project.code, 2);
});
