/**
 * A company's network: the only way out is a proxy (tinyproxy from Debian) that wants a password and connects to port 443 alone. Log-in, a tunnel and a
 * WireGuard network work through it, with a server that has this one port and a certificate of its own authority.
 */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { Processes } from '../../scripts/bench/processes.ts';
import { Program } from '../../scripts/quickstart/program.ts';
import { type ApiPlace, callInside, logInInside } from '../../scripts/wireguard/api.ts';
import { makeKeys, Peer, withPrivateKey } from '../../scripts/wireguard/peer.ts';
import { NAT_INSIDE, Places, SERVER_ADDRESS } from '../../scripts/wireguard/places.ts';
import { untilEchoes } from '../../scripts/wireguard/traffic.ts';
import { Ending } from '../harness/ends.ts';
import { culvertCommand } from '../harness/spawned.ts';
import { missing, noNamespaces } from '../harness/tools.ts';

const HOST = 'culvert.test';
const PROXY = `http://ann:pa55@${NAT_INSIDE}:8888`;
const LISTEN_PORT = 51_820;
const HOME = '10.44.0.1';
const BACK_MS = 60_000;
/** Where `ip netns exec` looks for files that stand for those of /etc. */
const ETC = '/etc/netns';

const without = noNamespaces() || missing('tinyproxy', 'wireguard-go', 'wg', 'wg-quick', 'nft', 'ping', 'curl');

suite('behind a proxy that allows port 443 alone', { skip: without, timeout: 240_000 }, () => {
  const ending = new Ending();
  const folder = mkdtempSync(join(tmpdir(), 'culvert-proxy-'));
  const processes = new Processes();
  let places: Places;
  let api: ApiPlace;
  let server: Program;

  before(async () => {
    ending.after(() => rmSync(folder, { recursive: true, force: true }));
    ending.after(() => processes.close());
    places = await Places.make(processes, 1);
    await places.homeBehindNat();
    await places.ip(places.home, 'route', 'del', 'default');
    nameServer(places.hub);
    nameServer(places.nat);
    startProxy();
    server = culvert(places.hub, ['serve', '--config', serverSettings()]);
    const password = await server.printed(/^admin@localhost\n(\S+)$/m);
    await server.printed(/^culvert \S+ is running$/m);
    api = await logInInside(processes, { netns: places.hub, url: 'http://127.0.0.1:9090' }, password);
  });
  after(() => ending.run());

  /** There alone the name leads to the server. */
  const nameServer = (netns: string, ...before: string[]): void => {
    mkdirSync(join(ETC, netns), { recursive: true });
    ending.after(() => rmSync(join(ETC, netns), { recursive: true, force: true }));
    writeFileSync(
      join(ETC, netns, 'hosts'),
      ['127.0.0.1 localhost', ...[...before, SERVER_ADDRESS].map((address) => `${address} ${HOST}`), ''].join('\n'),
    );
  };

  const startProxy = (): void => {
    const file = join(folder, 'tinyproxy.conf');
    const text = `Port 8888\nListen ${NAT_INSIDE}\nTimeout 600\nMaxClients 50\nConnectPort 443\nBasicAuth ann pa55\n`;
    writeFileSync(file, text);
    processes.start('proxy', ['tinyproxy', '-d', '-c', file], { netns: places.nat });
  };

  const serverSettings = (): string => {
    const file = join(folder, 'server.toml');
    const text = `data_dir = "${folder}/data"
[api]
listen = "127.0.0.1:9090"
public_url = "https://${HOST}"
[edge]
domain = "tunnels.test"
http_listen = ""
https_listen = "${SERVER_ADDRESS}:443"
udp_host = "${SERVER_ADDRESS}"
tcp_public_host = "${SERVER_ADDRESS}"
[edge.tls]
mode = "self_signed"
[agents]
listen = ""
`;
    writeFileSync(file, text);
    return file;
  };

  const culvert = (netns: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Program => {
    const home = join(folder, netns);
    mkdirSync(home, { recursive: true, mode: 0o700 });
    const program = new Program({
      command: culvertCommand(netns),
      args,
      cwd: home,
      env: {
        PATH: process.env['PATH'],
        HOME: home,
        XDG_RUNTIME_DIR: home,
        CULVERT_DIST: process.env['CULVERT_DIST'],
        ...env,
      },
    });
    ending.after(async () => {
      program.kill();
      await program.ended();
    });
    return program;
  };

  const authority = (): string => join(folder, 'data/certificates/edge.crt');

  /** A command of the user behind the proxy. */
  const atHome = (...args: string[]): Program =>
    culvert(places.home, [...args, '--ca-file', authority()], { HTTPS_PROXY: PROXY });

  test('there is no other way to the server', async () => {
    const direct = ['curl', '-sk', '-m', '3', `https://${SERVER_ADDRESS}/health`];
    assert.notEqual((await processes.run(direct, { netns: places.home })).code, 0);
    const other = ['curl', '-sk', '-m', '3', '--proxytunnel', '-x', PROXY, `http://${HOST}:9090/health`];
    assert.notEqual((await processes.run(other, { netns: places.home })).code, 0);
  });

  test('a user logs in, and doctor names the proxy', async () => {
    const login = atHome('login', `https://${HOST}`);
    const code = await login.printed(/\/app\/cli\?device_code=(\S+)/);
    await callInside(processes, api, ['POST', '/auth/cli/authorize', { device_code: code }]);
    assert.equal(await login.ended(), 0);
    assert.match(login.output, /culvert http 3000 --ca-file \S+edge\.crt/);
    const doctor = atHome('doctor');
    await doctor.printed(/reached through the proxy 192\.168\.77\.1:8888 \(HTTPS_PROXY\)/);
    await doctor.printed(/culvert\.test:443 accepts agents/);
    await doctor.ended();
    assert.doesNotMatch(doctor.output, /pa55/);
  });

  test('a visitor reaches the service behind the agent', async () => {
    const service = "require('http').createServer((q, s) => s.end('from behind the proxy')).listen(3000, '127.0.0.1')";
    processes.start('service', [process.execPath, '-e', service], { netns: places.home });
    const agent = atHome('http', '3000', '--subdomain', 'shop');
    await agent.printed(/^https:\/\/shop\.tunnels\.test/m);
    const at = ['--resolve', `shop.tunnels.test:443:${SERVER_ADDRESS}`];
    const visit = [
      'curl',
      '-sk',
      '-m',
      '10',
      '--retry',
      '5',
      '--retry-all-errors',
      ...at,
      'https://shop.tunnels.test/',
    ];
    assert.equal((await processes.run(visit, { netns: places.hub })).stdout, 'from behind the proxy');
  });

  test('a name with an IPv6 address that does not answer is reached by IPv4', async () => {
    const dead = '2001:db8:97::1';
    const netns = places.client(1);
    await places.ip(netns, 'addr', 'add', '2001:db8:97::2/64', 'dev', 'out', 'nodad');
    // A neighbour that is known and not there: packets to it vanish.
    await places.ip(netns, 'neigh', 'add', dead, 'lladdr', '02:00:00:00:00:01', 'dev', 'out');
    nameServer(netns, dead);
    const status = culvert(netns, ['status', '--server', `https://${HOST}`, '--ca-file', authority()]);
    await status.printed(/online, version/);
    assert.equal(await status.ended(), 0);
  });

  test('WireGuard goes by the session', async () => {
    const homeKeys = await makeKeys(processes);
    const clientKeys = await makeKeys(processes);
    const call = (method: string, path: string, body?: object): Promise<Record<string, unknown>> =>
      callInside(processes, api, body === undefined ? [method, path] : [method, path, body]);
    const { id } = await call('POST', '/private-networks', { name: 'office', cidr: '10.44.0.0/24' });
    const at = `/private-networks/${String(id)}`;
    await call('PUT', `${at}/server`, { server_public_key: homeKeys.publicKey, server_listen_port: LISTEN_PORT });
    const { device } = await call('POST', `${at}/devices`, { name: 'anna', public_key: clientKeys.publicKey });
    const home = await Peer.start(processes, places.home);
    const client = await Peer.start(processes, places.client(1));
    const serverConfig = String((await call('GET', `${at}/server-config`))['config']);
    const config = String((await call('GET', `${at}/devices/${(device as { id: string }).id}/config`))['config']);
    await home.configure(withPrivateKey(serverConfig, homeKeys.privateKey));
    await client.configure(withPrivateKey(config, clientKeys.privateKey));
    const agent = atHome('udp', String(LISTEN_PORT), '--network', 'office', '--json');
    await agent.printed(/"event":"relay_online"/);
    await untilEchoes(processes, { from: places.client(1), to: HOME }, BACK_MS);
    await agent.printed(/"event":"relay_path".*"path":"stream"/);
  });
});
