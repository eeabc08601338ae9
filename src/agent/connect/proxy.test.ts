/** An agent behind a proxy: discovery, the session inside of the tunnel, and a proxy that allows port 443 alone. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { createServer as createTls } from 'node:tls';
import { silentLog } from '../../base/log.ts';
import { Outbound } from '../../base/net/outbound/outbound.ts';
import { proxyRules } from '../../base/net/outbound/proxy-rules.ts';
import { playHttpProxy, playSocksProxy, type PlayedOptions } from '../../base/net/outbound/testing.ts';
import { testCertificate } from '../../data/fixtures/certificate.ts';
import { startAgent } from '../agent.ts';
import type { AgentEvent } from '../events.ts';
import { FakeServer } from '../fixtures/fake-server.ts';
import { parseTarget } from '../local/target.ts';
import { lostBy } from '../lost.ts';
import { makeConnector } from './connect.ts';
import { ALPN } from '../../wire/messages.ts';
import { dialServer } from './dial.ts';
import { discover } from './discovery.ts';
import { UnreachableError } from './reachability.ts';

/** A name that no DNS knows: who asks for it here has not gone through the proxy. */
const NAME = 'culvert.test';

interface Fixture {
  readonly server: FakeServer;
  readonly url: URL;
  /** Port of its agent listener. */
  readonly port: number;
}

async function serverOf(t: TestContext): Promise<Fixture> {
  const server = await FakeServer.start();
  t.after(() => server.close());
  const { agent_address: address } = server.discovery() as { agent_address: string };
  return { server, url: new URL(`http://${NAME}:${server.url.port}`), port: Number(address.split(':')[1]) };
}

/** What discovery says. */
function announce({ server }: Fixture, ...addresses: string[]): void {
  const document = { ...server.discovery(), agent_address: addresses[0], agent_addresses: addresses };
  server.discovery = () => document;
}

function agentAt(t: TestContext, { url }: Fixture, proxy: string, extraCa?: string): Promise<AgentEvent> {
  const outbound = new Outbound({ rules: proxyRules({ ALL_PROXY: proxy }), extraCa });
  const connector = makeConnector({ server: url, log: silentLog, outbound });
  const { promise, resolve } = Promise.withResolvers<AgentEvent>();
  const agent = startAgent({
    server: url.href,
    tunnels: [{ name: 'web', ...parseTarget('3000', 'http') }],
    identity: { version: '1', os: 'test', hostname: 'test' },
    token: () => Promise.resolve('mtk_test'),
    open: connector.open,
    log: silentLog,
    onEvent: (event) => (event.kind === 'tunnel_online' || event.kind === 'retrying') && resolve(event),
    random: () => 0,
  });
  t.after(async () => {
    agent.destroy();
    await agent.done;
    connector.close();
  });
  return promise;
}

for (const [kind, play] of [
  ['http', playHttpProxy],
  ['socks5h', playSocksProxy],
] as const) {
  test(`agent: discovery and the session go through a proxy (${kind}) with a login`, async (t) => {
    const fixture = await serverOf(t);
    announce(fixture, `0.0.0.0:${fixture.port}`);
    const proxy = await play(t, { login: 'ann:secret' });
    const online = agentAt(t, fixture, `${kind}://ann:secret@127.0.0.1:${proxy.port}`);
    await (await fixture.server.peer()).serve();
    assert.equal((await online).kind, 'tunnel_online');
    assert.deepEqual(proxy.asked, [`${NAME}:${fixture.url.port}`, `${NAME}:${fixture.port}`]);
  });

  test(`agent: a proxy (${kind}) that allows port 443 alone is enough`, async (t) => {
    const fixture = await serverOf(t);
    announce(fixture, `${NAME}:7443`, `${NAME}:443`);
    const options: PlayedOptions = { ports: [443, Number(fixture.url.port)], sends: { 443: fixture.port } };
    const proxy = await play(t, options);
    const online = agentAt(t, fixture, `${kind}://127.0.0.1:${proxy.port}`);
    await (await fixture.server.peer()).serve();
    assert.equal((await online).kind, 'tunnel_online');
    assert.deepEqual(proxy.asked.slice(1), [`${NAME}:7443`, `${NAME}:443`]);
  });
}

test('agent: a proxy that speaks TLS carries the session inside of its own', async (t) => {
  const fixture = await serverOf(t);
  announce(fixture, `0.0.0.0:${fixture.port}`);
  const certificate = await testCertificate(['127.0.0.1']);
  const proxy = await playHttpProxy(t, { certificate });
  const online = agentAt(t, fixture, `https://127.0.0.1:${proxy.port}`, certificate.cert);
  const peer = await fixture.server.peer();
  await peer.serve();
  assert.equal((await online).kind, 'tunnel_online');
  const other = await agentAt(t, fixture, `https://127.0.0.1:${proxy.port}`);
  assert.ok(other.kind === 'retrying');
  assert.match(other.cause, /^proxy 127\.0\.0\.1:\d+ \(ALL_PROXY\): can't be reached: self-signed certificate/);
});

test('agent: a proxy that refuses is named with its setting, and one that is away counts as unreachable', async (t) => {
  const fixture = await serverOf(t);
  const proxy = await playHttpProxy(t, { login: 'ann:secret' });
  const event = await agentAt(t, fixture, `http://ann:wrong@127.0.0.1:${proxy.port}`);
  assert.ok(event.kind === 'retrying');
  assert.match(event.cause, /^proxy 127\.0\.0\.1:\d+ \(ALL_PROXY\): rejects the user or the password/);
  assert.doesNotMatch(event.cause, /wrong/);
  proxy.close();
  const outbound = new Outbound({ rules: proxyRules({ ALL_PROXY: `http://127.0.0.1:${proxy.port}` }) });
  await assert.rejects(discover(fixture.url, undefined, outbound), (error) => {
    assert.ok(error instanceof UnreachableError);
    assert.equal(lostBy(error).code, 'unreachable');
    return /ECONNREFUSED/.test(error.message);
  });
});

test('discovery: a page of another host in place of the document is a captive portal', async (t) => {
  const portal = createServer((request, response) => {
    if (request.url === '/login') response.setHeader('content-type', 'text/html').end('<!doctype html><p>Welcome');
    else
      response.writeHead(302, { location: `http://localhost:${(portal.address() as AddressInfo).port}/login` }).end();
  }).listen(0, '127.0.0.1');
  await once(portal, 'listening');
  t.after(() => {
    portal.closeAllConnections();
    portal.close();
  });
  const { port } = portal.address() as AddressInfo;
  await assert.rejects(discover(new URL(`http://127.0.0.1:${port}`)), (error) => {
    assert.ok(error instanceof Error);
    assert.equal(
      error.message,
      `this network requires a login (captive portal at localhost:${port}). Open a browser, log in to the network, and wait`,
    );
    assert.equal(lostBy(error).code, 'captive_portal');
    return true;
  });
});

test('agent: behind a proxy, a server with an address is verified by that address, not by the name of the proxy', async (t) => {
  const address = '203.0.113.9';
  const certificates = await Promise.all([testCertificate([address]), testCertificate(['localhost', '127.0.0.1'])]);
  const dial = async (certificate: { cert: string; key: string }): Promise<void> => {
    const server = createTls({ ...certificate, ALPNProtocols: [ALPN], minVersion: 'TLSv1.3' });
    server.on('tlsClientError', () => undefined);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => server.close());
    const { port } = server.address() as AddressInfo;
    for (const [kind, play] of [
      ['http', playHttpProxy],
      ['socks5h', playSocksProxy],
    ] as const) {
      const proxy = await play(t);
      const rules = proxyRules({ ALL_PROXY: `${kind}://localhost:${proxy.port}` });
      const outbound = new Outbound({ rules, extraCa: certificates.map(({ cert }) => cert).join('\n') });
      const socket = await dialServer({ host: address, port, fingerprint: undefined }, undefined, outbound);
      socket.destroy();
    }
  };
  const [own, proxys] = certificates;
  await dial(own);
  await assert.rejects(dial(proxys), /altname|does not match|another name|certificate/i);
});
