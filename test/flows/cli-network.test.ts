/**
 * A private network from the command line, as a person makes it: the server, devices, configurations that WireGuard's own tools read, and an agent that
 * carries the datagrams. Servers and agents are processes of their own.
 */
import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { endOf, type Machine, machine } from '../harness/person.ts';
import { missing } from '../harness/tools.ts';

/** A socket of a loopback port, and what it got. */
class Peer {
  readonly socket: Socket;
  readonly heard: Array<{ text: string; port: number }> = [];
  readonly #watchers: Array<() => void> = [];
  #isOpen = true;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('message', (bytes, { port }) => {
      this.heard.push({ text: bytes.toString('latin1'), port });
      for (const wake of this.#watchers.splice(0)) wake();
    });
  }

  static async bind(t: TestContext): Promise<Peer> {
    const socket = createSocket('udp4');
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    const peer = new Peer(socket);
    t.after(() => peer.close());
    return peer;
  }

  get port(): number {
    return this.socket.address().port;
  }

  /** May be called twice. */
  close(): void {
    if (this.#isOpen) this.socket.close();
    this.#isOpen = false;
  }

  send(text: string, port: number): void {
    this.socket.send(Buffer.from(text, 'latin1'), port, '127.0.0.1');
  }

  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((resolve) => this.#watchers.push(resolve));
  }
}

interface Network {
  readonly name: string;
  readonly cidr: string;
  readonly public_endpoint: string | null;
  readonly reserved_udp_port: number | null;
  readonly server_public_key: string | null;
}

interface Device {
  readonly id: string;
  readonly name: string;
  readonly assigned_ip: string;
  readonly public_key: string;
  readonly expires_at: string | null;
}

/** A server whose private networks have one UDP port, which is free now. */
async function fixture(t: TestContext): Promise<Machine & { port: number }> {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  socket.close();
  return { ...(await machine(t, { edge: `udp_ports = "${port}-${port}"` })), port };
}

const valueOf = (config: string, key: string): string => new RegExp(`^${key} = (.*)$`, 'm').exec(config)?.[1] ?? '';

suite('private networks from the command line', { timeout: 240_000 }, () => {
  test('network: from the first command to a revoked device', { skip: missing('wg', 'wg-quick') }, async (t) => {
    const { culvert, home, env, ok, run, port } = await fixture(t);
    const read = (name: string): string => readFileSync(join(home, name), 'utf8');
    const wg = async (words: readonly string[], input = ''): Promise<string> => {
      writeFileSync(join(home, 'input'), input, { mode: 0o600 });
      const { code, stdout, stderr } = await endOf('sh', ['-c', `${words.join(' ')} < input`], { cwd: home, env });
      assert.equal(code, 0, stderr);
      return stdout.trim();
    };
    assert.match((await run(['network'])).stderr, /There are no private networks/);
    assert.match(await ok('network', 'create', 'home'), /^home: created with the address range 10\.\d+\.\d+\.0\/24\n$/);
    assert.equal((await run(['network', 'create', 'home'])).code, 4);
    const early = await run(['network', 'enroll', 'home', 'phone']);
    assert.match(early.stderr, /home has no server yet/);
    assert.match(await ok('network', 'show', 'home'), /^server +not set/m);

    await ok('network', 'set-server', 'home', '--generate', '--output', 'home.conf');
    assert.equal(statSync(join(home, 'home.conf')).mode & 0o777, 0o600);
    const key = valueOf(read('home.conf'), 'PrivateKey');
    const [network] = JSON.parse(await ok('network', 'list', '--json')) as Network[];
    assert.ok(network !== undefined);
    assert.equal(network.server_public_key, await wg(['wg', 'pubkey'], key));
    assert.deepEqual([network.reserved_udp_port, network.public_endpoint], [port, `localhost:${port}`]);

    // One key made by the command, one of `wg genkey`, one whose private half is elsewhere.
    await ok('network', 'enroll', 'home', 'phone', '--output', 'phone.conf', '--expires', '30d');
    writeFileSync(join(home, 'laptop.key'), await wg(['wg', 'genkey']), { mode: 0o600 });
    const laptop = await ok('network', 'enroll', 'home', 'laptop', '--key-file', 'laptop.key');
    assert.equal(valueOf(laptop, 'PrivateKey'), read('laptop.key').trim());
    const elsewhere = await wg(['wg', 'pubkey'], await wg(['wg', 'genkey']));
    const router = await ok('network', 'enroll', 'home', 'router', '--public-key', elsewhere);
    assert.equal(valueOf(router, 'PrivateKey'), 'REPLACE_WITH_PRIVATE_KEY');
    const devices = JSON.parse(await ok('network', 'devices', 'home', '--json')) as Device[];
    const host = (last: number): string => network.cidr.replace(/0\/24$/, String(last));
    assert.deepEqual(
      devices.map(({ name, assigned_ip: ip }) => [name, ip.replace('/32', '')]),
      [
        ['phone', host(2)],
        ['laptop', host(3)],
        ['router', host(4)],
      ],
    );
    const [phone] = devices;
    assert.equal(phone?.public_key, await wg(['wg', 'pubkey'], valueOf(read('phone.conf'), 'PrivateKey')));
    assert.ok(Date.parse(phone.expires_at ?? '') > Date.now() + 29 * 86_400_000);

    await ok('network', 'config', 'home', '--key-file', 'home.conf', '--output', 'home.conf', '--force');
    assert.equal(valueOf(read('home.conf'), 'PrivateKey'), key);
    for (const { public_key: publicKey } of devices) assert.ok(read('home.conf').includes(`PublicKey = ${publicKey}`));
    for (const file of ['home.conf', 'phone.conf']) {
      assert.match(await wg(['wg-quick', 'strip', `./${file}`]), /^\[Interface\]\n/m, file);
    }
    const again = await ok('network', 'config', 'home', 'phone', '--key-file', 'phone.conf');
    assert.equal(again, read('phone.conf'));

    assert.equal(await ok('network', 'revoke', 'home', 'laptop', '--yes'), 'laptop: revoked\n');
    const tablet = await ok('network', 'enroll', 'home', 'tablet');
    assert.equal(valueOf(tablet, 'Address'), `${host(3)}/32`, 'the address is free again');
    await ok('network', 'edit', 'home', '--dns', '9.9.9.9', '--extra-allowed-ips', '192.168.7.0/24');
    const edited = await ok('network', 'config', 'home', 'phone');
    assert.equal(valueOf(edited, 'DNS'), '9.9.9.9');
    assert.equal(valueOf(edited, 'AllowedIPs'), `${network.cidr}, 192.168.7.0/24`);
    await ok('network', 'edit', 'home', 'phone', '--expires', 'never', '--name', "Ann's phone");
    assert.match(await ok('network', 'devices', 'home'), /^Ann's phone .* never /m);

    await ok('network', 'set-server', 'home', '--endpoint', 'vpn.example.test:51820');
    assert.equal(valueOf(await ok('network', 'config', 'home', 'router'), 'Endpoint'), 'vpn.example.test:51820');
    await ok('network', 'set-server', 'home', '--port', '51821');
    assert.match(await ok('network', 'show', 'home'), /^endpoint +vpn\.example\.test:51820, without the relay$/m);
    await ok('network', 'set-server', 'home', '--relay');
    assert.match(await ok('network', 'show', 'home'), new RegExp(`^endpoint +localhost:${port}$`, 'm'));
    assert.match(await ok('network', 'show', 'home'), /^relay +no agent serves it: culvert udp 51821 --network home/m);
    assert.equal(await ok('network', 'delete', 'home', '--yes'), 'home: deleted\n');
    for (const secret of [key, valueOf(read('phone.conf'), 'PrivateKey'), valueOf(tablet, 'PrivateKey')]) {
      assert.ok(!culvert.server.output.includes(secret));
    }
  });

  test('an agent carries datagrams: from the command, and from its settings file', async (t) => {
    const { culvert, home, env, ok, run, port } = await fixture(t);
    await ok('network', 'create', 'home', '--cidr', '10.80.0.0/24');
    await ok('network', 'set-server', 'home', '--generate');
    const service = await Peer.bind(t);
    const client = await Peer.bind(t);
    const words = ['udp', String(service.port), '--network', 'home'];
    const agent = culvert.agent([...words, '--url-file', join(home, 'place')], { env: { ...env, CULVERT_TOKEN: '' } });
    await agent.printed(new RegExp(`^localhost:${port}$`, 'm'));

    const exchange = async (text: string): Promise<void> => {
      client.send(text, port);
      await service.until(() => service.heard.some((one) => one.text === text));
      const { port: flow = 0 } = service.heard.find((one) => one.text === text) ?? {};
      assert.notEqual(flow, client.port);
      service.send(`${text.slice(0, -1)}!`, flow);
      await client.until(() => client.heard.some((one) => one.text === `${text.slice(0, -1)}!`));
    };
    await exchange('by the command');
    await agent.printed(/datagrams use UDP/);
    const status = await ok('status');
    assert.match(status, new RegExp(`localhost:${port}  localhost:${service.port}  network home  over UDP$`, 'm'));
    assert.equal(readFileSync(join(home, 'place'), 'utf8'), `localhost:${port}\n`);
    assert.match(await ok('network', 'show', 'home'), /^relay +over UDP since .* UTC, 1 client, /m);

    // A newer agent takes it over, with the settings file, and over the TLS session alone.
    const file = `[tunnels.vpn]\nprotocol = "udp"\nnetwork = "home"\ntarget = ${service.port}\nudp = false\n`;
    writeFileSync(join(home, 'agent.toml'), file);
    const config = ['start', '--config', join(home, 'agent.toml'), '--json'];
    const second = culvert.agent(config, { env: { ...env, CULVERT_TOKEN: '' } });
    await second.printed(/^\{"event":"relay_online".*"endpoint":"localhost:/m);
    assert.equal(await agent.ended(), 4);
    await exchange('by the file');
    await second.printed(/^\{"event":"relay_path".*"path":"stream"/m);
    assert.match(await ok('network', 'show', 'home'), /^relay +over the TLS session since/m);
    assert.match(await ok('status'), /  network home  over the TLS session: UDP to the server is turned off$/m);
    service.close();
    // localhost has two addresses, and both must have refused one.
    const sending = setInterval(() => client.send('to no device', port), 50);
    await second.printed(/nothing listens on UDP/).finally(() => clearInterval(sending));
    // `status` reads a file that the agent writes after its line.
    while (!/^ +nothing listens on UDP localhost:/m.test(await ok('status'))) await setTimeout(50);

    assert.equal((await run(['network', 'delete', 'home', '--yes'])).code, 0);
    assert.equal(await second.ended(), 4);
    assert.ok(second.output.includes('relay_refused'));
  });

  test('what an agent can not carry it says, with the exit code of that', async (t) => {
    const { culvert, home, env, ok, run } = await fixture(t);
    await ok('network', 'create', 'bare', '--cidr', '10.80.0.0/24');
    const nowhere = await run(['udp', '51820', '--network', 'nowhere']);
    assert.equal(nowhere.code, 4);
    assert.match(nowhere.stderr, /nowhere/);
    for (const [words, message] of [
      [['udp', '51820'], /--network: needs the name of a private network/],
      [['udp', '51820', '--network', ''], /--network: needs the name of a private network/],
      [['udp', 'http://localhost:1', '--network', 'bare'], /is a URL\. Use the port of WireGuard/],
      [['udp', 'x', '--network', 'bare'], /"x" is not a port\. Use that of WireGuard/],
    ] as const) {
      const { code, stderr } = await run(words);
      assert.equal(code, 2);
      assert.match(stderr, message);
    }
    for (const [lines, message] of [
      ['protocol = "udp"\ntarget = 1', /agent\.toml:2: .*protocol: a udp tunnel needs network =/],
      ['protocol = "udp"\nnetwork = "bare"\ntarget = 1\nsubdomain = "a"', /subdomain: does not apply to udp tunnels/],
      [
        'protocol = "udp"\nnetwork = "bare"\ntarget = 1\nverify_tls = true',
        /verify_tls: does not apply to udp tunnels/,
      ],
      ['network = "bare"\ntarget = 1', /network: is for protocol = "udp" only/],
      ['target = 1\nudp = false', /udp: is for protocol = "udp" only/],
    ] as const) {
      writeFileSync(join(home, 'agent.toml'), `[tunnels.vpn]\n${lines}\n`);
      const { code, stderr } = await run(['start', '--config', 'agent.toml']);
      assert.equal(code, 2, stderr);
      assert.match(stderr, message);
    }
    // Without a server there is nothing to carry yet: it waits for one.
    const agent = culvert.agent(['udp', '51820', '--network', 'bare', '--json'], {
      env: { ...env, CULVERT_TOKEN: '' },
    });
    await agent.printed(/"relay_refused".*"network_not_ready".*"final":false/);
  });
});
