/** One port: visitors, API, dashboard and agents on the https listener of the edge, with self-signed certificates. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { type IncomingMessage, request as requestPlain } from 'node:http';
import { request } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, test, type TestContext } from 'node:test';
import { connect, type ConnectionOptions, setDefaultCACertificates, type TLSSocket } from 'node:tls';
import { startAgent } from '../../src/agent/agent.ts';
import { makeConnector } from '../../src/agent/connect/connect.ts';
import { parseTarget } from '../../src/agent/local/target.ts';
import { dialServer } from '../../src/agent/connect/dial.ts';
import { silentLog } from '../../src/base/log.ts';
import { checkServerConfig } from '../../src/config/load.ts';
import { loadCertificates } from '../../src/server/certificates/certificates.ts';
import { startInThisThread } from '../../src/server/data-node.ts';
import { type Server, startServer } from '../../src/server/start.ts';
import { discovery } from '../../src/wire/discovery.ts';
import { publisher, startOrigin } from '../harness.ts';
import { Account } from '../harness/account.ts';
import { freePorts, type Ports } from '../harness/config.ts';
import { fillDataFolder } from '../harness/data-folder.ts';
import { inReverse } from '../harness/ends.ts';
import { makeQuickHasher } from '../harness/quick-hasher.ts';
import { get } from '../harness/visitor.ts';

const WITHIN = { timeout: 120_000 };
const DOMAIN = 'example.test';
let shared = '';

/** The servers of this file share their certificates: OpenSSL trusts one of the same subject. */
before(async () => {
  shared = mkdtempSync(join(tmpdir(), 'culvert-one-port-'));
  const none = { cert_file: null, key_file: null };
  const edge = { domain: DOMAIN, https_listen: {}, tls: { mode: 'self_signed', ...none } };
  const { edge: made } = await loadCertificates({ data_dir: shared, edge, agents: none }, Date.now());
  setDefaultCACertificates(made === null ? [] : [made.cert]);
});
after(() => rmSync(shared, { recursive: true, force: true }));

interface OnePort {
  readonly server: Server;
  readonly ports: Ports;
  /** `https://localhost:PORT`, which leads to the edge. */
  readonly url: string;
  readonly account: Account;
  readonly token: string;
}

/** A server whose API is at `localhost` on the edge; tunnels are below `example.test`. `agents`: keys for [agents]. */
async function start(context: TestContext, agents: (ports: Ports) => string = () => 'listen = ""'): Promise<OnePort> {
  const t = inReverse(context);
  const folder = mkdtempSync(join(tmpdir(), 'culvert-one-port-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const ports = await freePorts();
  const url = `https://localhost:${ports.https}`;
  const toml = `data_dir = "${folder}"
[api]
listen = "127.0.0.1:${ports.api}"
public_url = "${url}"
[edge]
domain = "${DOMAIN}"
http_listen = "127.0.0.1:${ports.http}"
https_listen = "127.0.0.1:${ports.https}"
[edge.tls]
mode = "self_signed"
[agents]
${agents(ports)}`;
  const { settings } = checkServerConfig(toml, 'one-port.toml');
  fillDataFolder(folder);
  cpSync(join(shared, 'certificates'), join(folder, 'certificates'), { recursive: true });
  const server = await startServer(settings, {
    version: '0.0.0-test',
    log: silentLog,
    startNode: startInThisThread,
    makeHasher: makeQuickHasher,
  });
  t.after(() => server.close());
  const owner = server.firstOwner;
  if (owner === undefined) throw new Error('a new data folder has an owner already');
  const account = await Account.logIn(url, owner.email, owner.password.reveal());
  return { server, ports, url, account, token: await account.mint() };
}

interface Ask {
  readonly path: string;
  readonly host?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Address of this machine that it comes from. */
  readonly from?: string;
  /** In place of the host. */
  readonly serverName?: string;
}

/** One request over TLS on a connection of its own. */
async function ask({ ports }: OnePort, { path, host = 'localhost', method = 'GET', from, ...rest }: Ask) {
  const outgoing = request({
    ...{ host: '127.0.0.1', port: ports.https, path, method, agent: false },
    servername: rest.serverName ?? host,
    headers: { host: `${host}:${ports.https}`, ...rest.headers },
    ...(from === undefined ? {} : { localAddress: from }),
  });
  outgoing.end(rest.body);
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  return { status: Number(response.statusCode), headers: response.headers, body: await text(response) };
}

test('one port: the API host is the API and the dashboard, and the bare domain leads there', WITHIN, async (t) => {
  const culvert = await start(t);
  assert.equal((await ask(culvert, { path: '/health' })).status, 200);
  assert.match(String((await ask(culvert, { path: '/app/' })).headers['content-type']), /^text\/html/);
  assert.match((await ask(culvert, { path: '/download/' })).body, /<h1>Install Culvert /);
  const bare = { host: 'example.test' };
  const found = await ask(culvert, { path: '/.well-known/culvert', ...bare });
  const { agent_address, agent_addresses, api_url } = discovery.parse(JSON.parse(found.body));
  const at = `localhost:${culvert.ports.https}`;
  assert.deepEqual([agent_address, agent_addresses, api_url], [at, [at], culvert.url]);
  const led = await ask(culvert, { path: '/app/login?x=1', ...bare });
  assert.deepEqual([led.status, led.headers.location], [302, `${culvert.url}/app/login?x=1`]);
  assert.equal((await ask(culvert, { path: '/tunnels', method: 'POST', ...bare })).status, 404);
});

test(
  'one port: plain http for the API host is redirected, a connection of another name is sent back',
  WITHIN,
  async (t) => {
    const culvert = await start(t);
    const plain = requestPlain({
      host: '127.0.0.1',
      port: culvert.ports.http,
      path: '/app/?a',
      headers: { host: 'localhost' },
    });
    plain.end();
    const [response] = (await once(plain, 'response')) as [IncomingMessage];
    response.resume();
    assert.deepEqual([response.statusCode, response.headers.location], [308, `${culvert.url}/app/?a`]);
    const misled = await ask(culvert, { path: '/health', serverName: 'shop.example.test' });
    assert.equal(misled.status, 421);
  },
);

test('one port: an agent comes by ALPN, and visitors reach its tunnel by the same port', WITHIN, async (t) => {
  const culvert = await start(t);
  const origin = await startOrigin(t, (_request, response) => response.end('hello'));
  const { url } = await publisher(t, new URL(culvert.url), culvert.token)('http', origin.port, { subdomain: 'shop' });
  assert.equal(url, `https://shop.example.test:${culvert.ports.https}`);
  assert.equal((await get(url, culvert.ports.https)).body, 'hello');
  const [connection] = (await culvert.account.call('GET', '/connections')).body as unknown as Array<{
    remoteIp: string;
  }>;
  assert.match(JSON.stringify(connection), /127\.0\.0\.1/);
});

test('one port: limits of the API see the address of the client, whatever it says', WITHIN, async (t) => {
  const culvert = await start(t);
  const attempt = async (from: string, said: string): Promise<number> => {
    const body = JSON.stringify({ email: 'nobody@example.test', password: 'wrong-password' });
    const headers = { 'content-type': 'application/json', 'x-forwarded-for': said, 'x-real-ip': said };
    return (await ask(culvert, { path: '/auth/login', method: 'POST', headers, body, from })).status;
  };
  const statuses: number[] = [];
  for (let i = 0; i < 6; i++) statuses.push(await attempt('127.0.0.2', `192.0.2.${i}`));
  assert.deepEqual(statuses, [401, 401, 401, 401, 401, 429]);
  assert.equal(await attempt('127.0.0.3', '127.0.0.2'), 401);
});

test('one port: the live feed of the inspector passes as a WebSocket', WITHIN, async (t) => {
  const culvert = await start(t);
  const socket = new WebSocket(`${culvert.url.replace('https', 'wss')}/inspector/ws`, [
    'culvert.inspector',
    `bearer.${culvert.account.bearer}`,
  ]);
  await once(socket, 'open');
  assert.equal(socket.protocol, 'culvert.inspector');
  const closed = once(socket, 'close');
  void culvert.server.close();
  await closed;
});

test(
  'one port: HTTP/2 is for tunnels, the API host speaks HTTP/1.1, also to a client that resumes',
  WITHIN,
  async (t) => {
    const culvert = await start(t);
    const open = async (servername: string, more: ConnectionOptions = {}): Promise<TLSSocket> => {
      const at = { host: '127.0.0.1', port: culvert.ports.https, servername, ALPNProtocols: ['h2', 'http/1.1'] };
      const socket = connect({ ...at, ...more });
      await once(socket, 'secureConnect');
      t.after(() => socket.destroy());
      return socket;
    };
    assert.equal((await open('shop.example.test')).alpnProtocol, 'h2');
    assert.equal((await open('localhost')).alpnProtocol, 'http/1.1');
    const old = { maxVersion: 'TLSv1.2' } as const;
    const first = await open('localhost', old);
    // Without a name it would be taken for a visitor's connection: OpenSSL drops the name of a session that is resumed.
    const session = first.getSession();
    first.destroy();
    const again = await open('localhost', session === undefined ? old : { ...old, session });
    again.write('GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    assert.match(await text(again), /^HTTP\/1\.1 200 /);
  },
);

test('one port: the announced fingerprint fits the key of both listeners', WITHIN, async (t) => {
  const culvert = await start(t, (ports) => `listen = "127.0.0.1:${ports.agents}"`);
  const found = discovery.parse(JSON.parse((await ask(culvert, { path: '/.well-known/culvert' })).body));
  assert.deepEqual(found.agent_addresses, [`127.0.0.1:${culvert.ports.agents}`, `localhost:${culvert.ports.https}`]);
  for (const address of found.agent_addresses ?? []) {
    const [host = '', port] = address.split(':');
    const socket = await dialServer({ host, port: Number(port), fingerprint: found.agent_fingerprint ?? undefined });
    socket.destroy();
  }
});

test('one port: an agent whose port is blocked comes by 443, and tries that first the next time', WITHIN, async (t) => {
  const blocked = createServer();
  let dialed = 0;
  blocked.on('connection', () => dialed++);
  blocked.listen(0, '127.0.0.1');
  await once(blocked, 'listening');
  const { port } = blocked.address() as AddressInfo;
  t.after(() => blocked.close());
  const culvert = await start(
    t,
    (ports) => `listen = "127.0.0.1:${ports.agents}"\npublic_address = "127.0.0.1:${port}"`,
  );
  let kept: string | undefined;
  const ways = { read: () => kept, keep: (address: string) => (kept = address) };
  const run = async (): Promise<void> => {
    const connector = makeConnector({ server: new URL(culvert.url), log: silentLog, ways });
    const online = Promise.withResolvers<void>();
    const agent = startAgent({
      server: culvert.url,
      tunnels: [{ ...parseTarget('1', 'http'), name: 'test', subdomain: 'shop' }],
      identity: { version: '0.0.0-test', os: 'test', hostname: 'harness' },
      token: async () => culvert.token,
      open: connector.open,
      log: silentLog,
      onEvent: (event) => event.kind === 'tunnel_online' && online.resolve(),
    });
    await online.promise;
    agent.destroy();
    await agent.done;
    connector.close();
  };
  await run();
  assert.deepEqual([dialed, kept], [1, `localhost:${culvert.ports.https}`]);
  await run();
  assert.equal(dialed, 1);
});
