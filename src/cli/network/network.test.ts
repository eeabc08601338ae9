/** `culvert network`: what it asks of the server, what it prints, and where private keys go. */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { Secret } from '../../base/secret.ts';
import { loggedInAt, type PlayedRequest, playServer, refreshWith } from '../fixtures/played-server.ts';
import { run } from '../fixtures/in-process.ts';
import { type Io, processIo } from '../terminal/io.ts';
import { networkEnroll } from './devices.ts';
import { publicKeyOf } from './wireguard-keys.ts';

const KEY = 'dwdtCnMYpX08FsFyUbJmRd9MLw+HrJkqsXf7pR25LCo=';
const OTHER_PUBLIC = '3p7bfXt9wbTTW2HC7OQ1NzeHj4PIW4Z02vx+FG+IK08=';
const ID = '019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a20';
const PHONE = '019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a21';
const BASE = `/private-networks/${ID}`;

const NETWORK = {
  id: ID,
  name: 'home',
  cidr: '10.80.0.0/24',
  server_public_key: OTHER_PUBLIC,
  public_endpoint: 'tunnel.example.test:30000',
  server_listen_port: 51820,
  reserved_udp_port: 30000,
  dns: [],
  extra_allowed_ips: [],
};
const BARE = {
  ...NETWORK,
  server_public_key: null,
  public_endpoint: null,
  server_listen_port: null,
  reserved_udp_port: null,
};
const DEVICE = {
  id: PHONE,
  name: 'phone',
  assigned_ip: '10.80.0.2',
  public_key: OTHER_PUBLIC,
  expires_at: '2099-01-01T00:00:00.000Z',
  expired: false,
  last_handshake_at: '2026-11-22T12:00:00.000Z',
  last_seen_at: null,
  bytes_in: 1_234_567,
  bytes_out: 999,
  endpoint: '203.0.113.7:51820',
  extra_allowed_ips: [],
};
const CONFIG =
  '# culvert udp 51820 --network home\n[Interface]\nPrivateKey = REPLACE_WITH_PRIVATE_KEY\nAddress = 10.80.0.2/32\n';

interface Result {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** `GET /private-networks`, in the order in which they came. */
  readonly asked: readonly string[];
  readonly bodies: ReadonlyMap<string, unknown>;
}

interface Fixture {
  readonly home: string;
  /** What was asked since the last `run`. */
  asked(): readonly string[];
  run(words: readonly string[], env?: NodeJS.ProcessEnv): Promise<Result>;
}

type Answers = Readonly<Record<string, unknown>>;

/** A server that gives these answers, and 404 to everything else. */
async function fixture(t: TestContext, answers: Answers): Promise<Fixture> {
  const server = await playServer(t);
  const { home } = loggedInAt(t, server.url);
  let asked: string[] = [];
  let bodies = new Map<string, unknown>();
  let cookies = 0;
  const play = (request: PlayedRequest): void => {
    if (request.what === 'POST /auth/refresh') return refreshWith(request, `cookie-${++cookies}`);
    asked.push(request.what);
    bodies.set(request.what, request.body);
    const answer = answers[request.what];
    if (answer === undefined) request.answer(404, { message: `No ${request.what}.` });
    else request.answer(200, answer);
  };
  const listen = async (): Promise<void> => {
    for (;;) play(await server.next());
  };
  void listen();
  return {
    home,
    asked: () => asked,
    run: async (words, env = {}) => {
      asked = [];
      bodies = new Map();
      const ended = await run(['network', ...words], { home, env });
      return { ...ended, asked, bodies };
    },
  };
}

const LIST = { 'GET /private-networks': [NETWORK] };
const DEVICES = { ...LIST, [`GET ${BASE}/devices`]: [DEVICE] };

test('a network is made with a free /24 when none is named', async (t) => {
  const taken = Array.from({ length: 256 }, (_, i) => ({ ...NETWORK, cidr: `10.${i}.0.0/16` }));
  const { run } = await fixture(t, {
    'GET /private-networks': taken.slice(0, 255),
    'POST /private-networks': BARE,
  });
  const made = await run(['create', 'home']);
  assert.equal(made.code, 0);
  assert.match(made.stdout, /^home: created with the address range 10\.80\.0\.0\/24\n$/);
  assert.match(
    made.stderr,
    /^Next, .* its server:\n  culvert network set-server home --generate --output home\.conf\n$/,
  );
  const body = made.bodies.get('POST /private-networks') as { cidr: string };
  assert.match(body.cidr, /^10\.255\.\d+\.0\/24$/);
  assert.deepEqual(body, { name: 'home', cidr: body.cidr });
  const named = await run(['create', 'home', '--cidr', '10.80.0.0/24', '--json']);
  assert.deepEqual(JSON.parse(named.stdout), BARE);
  assert.equal(named.stderr, '');
  assert.deepEqual(named.asked, ['POST /private-networks'], 'nothing is looked up for addresses that are named');
});

test('the private key of a server goes into its file and nowhere else', async (t) => {
  const registered = { ...NETWORK, server_public_key: publicKeyOf(new Secret(KEY)) };
  const { run, home } = await fixture(t, {
    'GET /private-networks': [BARE],
    [`PUT ${BASE}/server`]: registered,
    [`GET ${BASE}/server-config`]: { config: CONFIG },
  });
  writeFileSync(join(home, 'key'), `${KEY}\n`, { mode: 0o600 });
  const set = await run(['set-server', 'home', '--key-file', 'key', '--output', 'home.conf', '--port', '51821']);
  assert.equal(set.code, 0, set.stderr);
  assert.deepEqual(set.bodies.get(`PUT ${BASE}/server`), {
    server_public_key: registered.server_public_key,
    server_listen_port: 51821,
  });
  const file = join(home, 'home.conf');
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal(readFileSync(file, 'utf8'), CONFIG.replace('REPLACE_WITH_PRIVATE_KEY', KEY));
  assert.equal(set.stdout, '');
  assert.match(set.stderr, /^home: devices connect to its server at tunnel\.example\.test:30000\.\n/);
  assert.match(
    set.stderr,
    /\nNext, on that machine:\n  sudo wg-quick up \.\/home\.conf\n  culvert udp 51820 --network home\n$/,
  );
  assert.ok(!(set.stderr + JSON.stringify([...set.bodies])).includes(KEY));

  const again = await run(['set-server', 'home', '--key-file', 'key', '--output', 'home.conf']);
  assert.deepEqual([again.code, again.asked], [2, ['GET /private-networks']], 'a file that is there is not replaced');
  assert.match(again.stderr, /home\.conf: already exists\. Use --force/);

  const plain = await run(['set-server', 'home', '--key-file', 'key']);
  assert.equal(plain.stdout, 'home: devices connect to its server at tunnel.example.test:30000\n');
  assert.match(plain.stderr, /\n  culvert network config home --key-file key --output home\.conf\n  culvert udp 51820/);
  assert.ok(!plain.stderr.includes(KEY));
});

test('a server key that is made is one of its own each time, and comes out once', async (t) => {
  const { run } = await fixture(t, {
    'GET /private-networks': [BARE],
    [`PUT ${BASE}/server`]: NETWORK,
    [`GET ${BASE}/server-config`]: { config: CONFIG },
  });
  const keys = new Set<string>();
  for (const words of [['--generate'], ['--generate', '--json']]) {
    const made = await run(['set-server', 'home', ...words]);
    assert.equal(made.code, 0, made.stderr);
    const json = words.length === 1 ? undefined : (JSON.parse(made.stdout) as { config: string; name: string });
    const config = json?.config ?? made.stdout;
    const [, key = ''] = /^PrivateKey = (\S+)$/m.exec(config) ?? [];
    const body = made.bodies.get(`PUT ${BASE}/server`) as { server_public_key: string; server_listen_port: number };
    assert.equal(publicKeyOf(new Secret(key)), body.server_public_key);
    assert.equal(body.server_listen_port, 51820);
    assert.ok(!JSON.stringify([...made.bodies]).includes(key));
    keys.add(key);
  }
  assert.equal(keys.size, 2);
});

test('another key, port or address for a server: what was said before stays unless it is said anew', async (t) => {
  const self = { ...NETWORK, public_endpoint: 'vpn.example.test:51820', reserved_udp_port: null };
  const { run } = await fixture(t, {
    'GET /private-networks': [NETWORK, { ...self, id: PHONE, name: 'self' }],
    [`PUT ${BASE}/server`]: NETWORK,
    [`PUT /private-networks/${PHONE}/server`]: self,
  });
  const bodyOf = async (words: readonly string[]): Promise<unknown> => {
    const { code, bodies, stderr } = await run(['set-server', ...words]);
    assert.equal(code, 0, stderr);
    return [...bodies.values()].at(-1);
  };
  const key = { server_public_key: OTHER_PUBLIC };
  assert.deepEqual(await bodyOf(['home', '--port', '1']), { ...key, server_listen_port: 1 });
  const vpn = { public_endpoint: 'vpn.example.test:51820' };
  assert.deepEqual(await bodyOf(['self', '--port', '1']), { ...key, server_listen_port: 1, ...vpn });
  assert.deepEqual(await bodyOf(['self', '--relay']), { ...key, server_listen_port: 51820 });
  const endpoint = 'vpn.example.test:51820';
  assert.deepEqual(await bodyOf(['home', '--endpoint', endpoint]), { ...key, server_listen_port: 51820, ...vpn });

  const moved = await run(['set-server', 'home', '--port', '1']);
  assert.match(moved.stderr, /\n  culvert network config home --key-file home\.conf --output home\.conf --force\n/);
  const other = publicKeyOf(new Secret(KEY));
  const beyond = await run(['set-server', 'home', '--public-key', other, '--port', '65536']);
  assert.deepEqual([beyond.code, beyond.asked], [2, []]);
  assert.match(beyond.stderr, /--port: 65536 is not a port/);
  const asked = await run(['set-server', 'home', '--public-key', other]);
  assert.equal(asked.code, 2);
  assert.match(asked.stderr, /Replace the key of the server of home\? Its devices then need new .* Use --yes/);
  assert.deepEqual(await bodyOf(['home', '--public-key', other, '--yes']), {
    server_public_key: other,
    server_listen_port: 51820,
  });
});

test('a device gets a key of its own, its configuration once, and a file for its owner alone', async (t) => {
  const { run, home } = await fixture(t, {
    ...LIST,
    [`GET ${BASE}/devices`]: [],
    [`POST ${BASE}/devices`]: { device: DEVICE, network_cidr: NETWORK.cidr },
    [`GET ${BASE}/devices/${PHONE}/config`]: { config: CONFIG },
  });
  const from = Date.now();
  const shown = await run(['enroll', 'home', 'phone', '--expires', '30d', '--extra-allowed-ips', '192.168.7.0/24']);
  assert.equal(shown.code, 0, shown.stderr);
  const [, key = ''] = /^PrivateKey = (\S+)$/m.exec(shown.stdout) ?? [];
  const body = shown.bodies.get(`POST ${BASE}/devices`) as { expires_at: string; public_key: string };
  assert.equal(body.public_key, publicKeyOf(new Secret(key)));
  const days = (Date.parse(body.expires_at) - from) / 86_400_000;
  assert.ok(days >= 30 && days < 30.01, body.expires_at);
  assert.deepEqual(
    { ...body, expires_at: '', public_key: '' },
    { name: 'phone', public_key: '', expires_at: '', extra_allowed_ips: ['192.168.7.0/24'] },
  );
  assert.equal(shown.stdout, CONFIG.replace('REPLACE_WITH_PRIVATE_KEY', key));
  assert.match(
    shown.stderr,
    /^phone: enrolled, 10\.80\.0\.2, until 2099-01-01 00:00 UTC\.\nNext, .*:\n  culvert network config home .* --force\n  wg-quick strip \.\/home\.conf \| sudo wg syncconf/,
  );

  const kept = await run(['enroll', 'home', 'phone', '--output', 'phone.conf', '--json']);
  const { file, config, device } = JSON.parse(kept.stdout) as Record<string, unknown>;
  assert.deepEqual([file, config, device], ['phone.conf', undefined, DEVICE]);
  const text = readFileSync(join(home, 'phone.conf'), 'utf8');
  assert.equal(statSync(join(home, 'phone.conf')).mode & 0o777, 0o600);
  const [, inFile = ''] = /^PrivateKey = (\S+)$/m.exec(text) ?? [];
  assert.notEqual(inFile, key);
  assert.ok(!(kept.stdout + kept.stderr).includes(inFile));

  const known = await run(['enroll', 'home', 'phone', '--public-key', OTHER_PUBLIC]);
  assert.equal(known.stdout, CONFIG, 'the server has no key to put there, and neither has this machine');
});

test('a device that has expired is not enrolled again as it is', async (t) => {
  const { run } = await fixture(t, {
    ...LIST,
    [`GET ${BASE}/devices`]: [{ ...DEVICE, expired: true }],
    [`PATCH ${BASE}/devices/${PHONE}`]: DEVICE,
  });
  const expired = await run(['enroll', 'home', 'phone', '--public-key', OTHER_PUBLIC]);
  assert.equal(expired.code, 4);
  assert.match(
    expired.stderr,
    /"phone" \(expired\)\. To change it: culvert network edit home 10\.80\.0\.2, with .*--expires/,
  );
  const again = await run(['edit', 'home', 'phone', '--expires', '30d']);
  assert.match(again.stderr, /\n  culvert network config home .* --force\n  wg-quick strip .* syncconf home /);
});

test('a key that is enrolled already gets its configuration again', async (t) => {
  const { run } = await fixture(t, {
    ...DEVICES,
    [`POST ${BASE}/devices`]: { device: DEVICE, network_cidr: NETWORK.cidr },
    [`GET ${BASE}/devices/${PHONE}/config`]: { config: CONFIG },
  });
  const known = await run(['enroll', 'home', 'phone', '--public-key', OTHER_PUBLIC]);
  assert.deepEqual([known.code, known.stdout], [0, CONFIG]);
  assert.match(known.stderr, /^phone: enrolled already, 10\.80\.0\.2, until 2099/);
});

test('nothing is enrolled when the options, the network or the name do not fit', async (t) => {
  const { run, home } = await fixture(t, {
    'GET /private-networks': [NETWORK, { ...BARE, id: PHONE, name: 'bare' }],
    [`GET ${BASE}/devices`]: [DEVICE],
    [`GET /private-networks/${PHONE}/devices`]: [],
  });
  writeFileSync(join(home, 'key'), KEY);
  chmodSync(join(home, 'key'), 0o600);
  const cases: ReadonlyArray<readonly [string[], number, RegExp]> = [
    [['home', 'phone', '--qr'], 2, /--qr: standard output is not a terminal, and the code contains the private key/],
    [['home', 'phone', '--qr', '--json'], 2, /choose one/],
    [['home', 'phone', '--qr', '--public-key', OTHER_PUBLIC], 2, /--qr: needs the private key/],
    [['home', 'phone', '--key-file', 'key', '--public-key', OTHER_PUBLIC], 2, /choose one/],
    [['home', 'phone', '--key-file', KEY], 2, /needs a file/],
    [['home', 'phone', '--public-key', 'abc'], 2, /is not a WireGuard public key/],
    [['home', 'phone', '--expires', 'soon'], 2, /--expires: "soon" is not a time\. Use .* 12h, 30d or never/],
    [['home', 'phone', '--expires', '49'], 2, /--expires: "49" is not a time/],
    [['home', 'phone', '--expires', '2020-01-01'], 2, /--expires: that time is in the past/],
    [['home', 'phone', '--output', 'absent/phone.conf'], 2, /its folder does not exist/],
    [['away', 'phone'], 1, /there is no network "away"/],
    [['home', 'phone'], 4, /already has a device "phone".*culvert network revoke home 10\.80\.0\.2/],
    [['home', 'other', '--public-key', OTHER_PUBLIC], 4, /already has this key as "phone".* edit home 10\.80\.0\.2/],
    [['home', 'phone', '--public-key', OTHER_PUBLIC, '--expires', '30d'], 4, /already has this key as "phone"/],
    [['bare', 'phone'], 4, /bare has no server yet.*culvert network set-server bare --generate/],
  ];
  for (const [words, code, message] of cases) {
    const refused = await run(['enroll', ...words]);
    assert.equal(refused.code, code, `${words.join(' ')}: ${refused.stderr}`);
    assert.match(refused.stderr, message);
    assert.ok(!refused.stderr.includes(KEY) && refused.stdout === '');
    assert.ok(!refused.asked.some((what) => what.startsWith('POST')), words.join(' '));
  }
  assert.ok(!existsSync(join(home, 'phone.conf')));
});

test('no device is enrolled for a QR code that the terminal has no room for', async (t) => {
  const { home, asked } = await fixture(t, {
    ...LIST,
    [`GET ${BASE}/devices`]: [],
    [`POST ${BASE}/devices`]: { device: DEVICE, network_cidr: NETWORK.cidr },
    [`GET ${BASE}/devices/${PHONE}/config`]: { config: CONFIG },
  });
  const on = (rows: number): Io => ({
    ...processIo(),
    stdout: Object.assign(new PassThrough(), { isTTY: true, columns: 100, rows }),
    stderr: new PassThrough(),
    cwd: home,
    env: { HOME: home, LANG: 'C.UTF-8' },
  });
  const words = { args: ['home', 'phone'], flags: { qr: true } };
  await assert.rejects(networkEnroll(on(20), words), /the code needs \d+ columns and \d+ lines, .* has 100 and 20/);
  assert.deepEqual(asked(), ['GET /private-networks', `GET ${BASE}/devices`]);
  assert.equal(await networkEnroll(on(50), words), 0);
  assert.equal(asked().at(-1), `GET ${BASE}/devices/${PHONE}/config`);
});

test('a key that was lost on its way says how to get another one', async (t) => {
  const { run } = await fixture(t, {
    ...LIST,
    [`GET ${BASE}/devices`]: [],
    [`POST ${BASE}/devices`]: { device: DEVICE, network_cidr: NETWORK.cidr },
  });
  const { code, stderr } = await run(['enroll', 'home', 'phone']);
  assert.equal(code, 1);
  assert.match(
    stderr,
    /No GET .*config\. The key is lost\. Revoke the device and enroll it again: culvert network revoke home 10\.80\.0\.2/,
  );
});

test('a configuration is printed again with the key of this machine, and with no other', async (t) => {
  const device = { ...DEVICE, public_key: publicKeyOf(new Secret(KEY)) };
  const { run, home } = await fixture(t, {
    ...LIST,
    [`GET ${BASE}/devices`]: [device],
    [`GET ${BASE}/devices/${PHONE}/config`]: { config: CONFIG },
    [`GET ${BASE}/server-config`]: { config: CONFIG },
  });
  writeFileSync(join(home, 'old.conf'), `[Interface]\nPrivateKey = ${KEY}\n`, { mode: 0o600 });
  const again = await run(['config', 'home', '10.80.0.2', '--key-file', 'old.conf']);
  assert.equal(again.stdout, CONFIG.replace('REPLACE_WITH_PRIVATE_KEY', KEY));
  assert.equal((await run(['config', 'home'])).stdout, CONFIG);
  const json = await run(['config', 'home', 'phone', '--json']);
  assert.deepEqual(JSON.parse(json.stdout), { config: CONFIG.trimEnd() });
  const wrong = await run(['config', 'home', '--key-file', 'old.conf']);
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /old\.conf: is not the key of the server of home, whose public key is 3p7b/);
  const qr = await run(['config', 'home', 'phone', '--qr', '--force', '--key-file', 'old.conf']);
  assert.match(qr.stdout, /[▀▄█]{3}/);
});

test('devices are a table, and what they are called is harmless', async (t) => {
  const evil = { ...DEVICE, id: ID, name: 'tv\u001b]0;x\u0007', assigned_ip: '10.80.0.3/32', expired: true };
  const { run } = await fixture(t, { ...LIST, [`GET ${BASE}/devices`]: [DEVICE, evil] });
  const { stdout } = await run(['devices', 'home']);
  const [heading = '', first = '', second = ''] = stdout.split('\n');
  assert.match(heading, /^NAME +ADDRESS +LAST HANDSHAKE \(UTC\) +LAST SEEN \(UTC\) +FROM +IN +OUT +UNTIL/);
  assert.match(first, /^phone +10\.80\.0\.2 +2026-11-22 12:00 +- +203\.0\.113\.7:51820 +1\.2 MB +999 B +2099-01-01/);
  assert.match(second, /^tv\?\]0;x\? +10\.80\.0\.3 .* expired /);
  assert.deepEqual(JSON.parse((await run(['devices', 'home', '--json'])).stdout), [DEVICE, evil]);
});

test('revoking and deleting ask first, and mean one', async (t) => {
  const twin = { ...DEVICE, id: ID, assigned_ip: '10.80.0.3' };
  const { run } = await fixture(t, {
    ...LIST,
    [`GET ${BASE}/devices`]: [DEVICE, twin],
    [`DELETE ${BASE}/devices/${ID}`]: { success: true },
    [`DELETE ${BASE}`]: { success: true },
  });
  const vague = await run(['revoke', 'home', 'phone', '--yes']);
  assert.deepEqual([vague.code, vague.asked.length], [2, 2]);
  assert.match(vague.stderr, /2 devices of home have the name "phone"\. Use an address: 10\.80\.0\.2, 10\.80\.0\.3/);
  const unasked = await run(['revoke', 'home', '10.80.0.3']);
  assert.equal(unasked.code, 2);
  assert.match(unasked.stderr, /Revoke phone \(10\.80\.0\.3\) from home\? It is blocked immediately.*Use --yes/);
  const revoked = await run(['revoke', 'home', '10.80.0.3', '--yes']);
  assert.deepEqual([revoked.code, revoked.stdout], [0, 'phone: revoked\n']);
  assert.equal(revoked.asked.at(-1), `DELETE ${BASE}/devices/${ID}`);
  assert.match(
    (await run(['delete', 'home'])).stderr,
    /Delete the network home \(10\.80\.0\.0\/24\) and its devices \(2\)\?/,
  );
  assert.deepEqual((await run(['delete', ID, '--yes'])).asked.at(-1), `DELETE ${BASE}`);
});

test('a network and a device are changed by one command, each by its own options', async (t) => {
  const { run } = await fixture(t, {
    ...DEVICES,
    [`PATCH ${BASE}`]: NETWORK,
    [`PATCH ${BASE}/devices/${PHONE}`]: { ...DEVICE, expires_at: null, extra_allowed_ips: ['10.9.0.0/16'] },
  });
  const changed = await run(['edit', 'home', '--name', 'cottage', '--dns', 'none']);
  assert.deepEqual(changed.bodies.get(`PATCH ${BASE}`), { name: 'cottage', dns: [] });
  assert.match(changed.stderr, /\n  culvert network config home DEVICE --key-file FILE\n$/);
  const device = await run(['edit', 'home', 'phone', '--expires', 'never', '--extra-allowed-ips', '10.9.0.0/16']);
  const body = device.bodies.get(`PATCH ${BASE}/devices/${PHONE}`);
  assert.deepEqual(body, { extra_allowed_ips: ['10.9.0.0/16'], expires_at: null });
  assert.equal(device.stdout, 'phone: changed, 10.9.0.0/16 behind it\n');
  assert.match(
    device.stderr,
    /config home --key-file home\.conf .*\n  sudo sh -c 'wg-quick down \.\/home\.conf; wg-quick up/,
  );
  for (const [words, message] of [
    [['home'], /nothing to change\. Use --name, --extra-allowed-ips, --dns/],
    [['home', '--expires', '1d'], /--expires: belongs to a device/],
    [['home', 'phone', '--dns', '1.1.1.1'], /--dns: belongs to a network/],
  ] as const) {
    const { code, stderr } = await run(['edit', ...words]);
    assert.equal(code, 2);
    assert.match(stderr, message);
  }
});

test('network show: relay names its path, or the command to run without an agent', async (t) => {
  const relay = {
    online: true,
    path: 'stream',
    path_since: '2026-11-22T12:00:00.000Z',
    flows: 1,
    bytes_in: 0,
    bytes_out: 5,
  };
  const show = async (answer: object, network: object = NETWORK, more: object[] = []): Promise<string> => {
    const { run } = await fixture(t, {
      'GET /private-networks': [network],
      [`GET ${BASE}/devices`]: [DEVICE, { ...DEVICE, id: ID, expired: true }, ...more],
      [`GET ${BASE}/relay`]: answer,
    });
    const { stdout, stderr } = await run(['show', 'home']);
    assert.equal(stderr, '');
    return stdout;
  };
  const text = await show(relay);
  assert.match(text, /^server +10\.80\.0\.1, WireGuard on port 51820, public key 3p7b/m);
  assert.match(
    text,
    /^relay +over the TLS session since 2026-11-22 12:00 UTC, 1 client, 0 B in, 5 B out\. `culvert status` on .* shows why UDP fails/m,
  );
  assert.match(text, /^devices +2, 1 expired$/m);
  const dropped = { no_agent: 2, unproven: 0, flows: 7 };
  assert.match(await show({ ...relay, dropped }), /^dropped +flows 7, no_agent 2$/m);
  assert.ok(!text.includes('no handshake yet'));
  const stranger = { ...DEVICE, id: ID, name: 'pad', last_handshake_at: null };
  assert.match(
    await show(relay, NETWORK, [stranger]),
    /^no handshake +pad have no handshake yet\. .*: culvert network config home .* syncconf home /m,
  );
  assert.match(await show({ ...relay, path: 'udp' }), /^relay +over UDP since/m);
  assert.match(await show({ online: false }), /^relay +no agent serves it: culvert udp 51820 --network home; 0 B in/m);
  const bare = await show({ online: false }, BARE);
  assert.match(bare, /^server +not set: culvert network set-server home --generate --output home\.conf$/m);
  assert.match(bare, /^relay +-$/m);
});

test('an id names its network, also where an older one is called so', async (t) => {
  const older = { ...NETWORK, id: '019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a19', name: ID };
  const { run } = await fixture(t, {
    'GET /private-networks': [older, NETWORK],
    [`GET ${BASE}/devices`]: [],
    [`DELETE ${BASE}`]: { success: true },
  });
  const deleted = await run(['delete', ID, '--yes']);
  assert.deepEqual([deleted.code, deleted.asked.at(-1)], [0, `DELETE ${BASE}`]);
});

test('a network whose port was taken away gets another one, and its devices are said to need configurations', async (t) => {
  const { run } = await fixture(t, {
    'GET /private-networks': [{ ...NETWORK, public_endpoint: null, reserved_udp_port: 29_999 }],
    [`PUT ${BASE}/server`]: NETWORK,
  });
  const { code, stderr, bodies } = await run(['set-server', 'home']);
  assert.equal(code, 0, stderr);
  assert.deepEqual(bodies.get(`PUT ${BASE}/server`), { server_public_key: OTHER_PUBLIC, server_listen_port: 51820 });
  assert.match(stderr, /The address for devices has changed\. They need new configurations\.\n$/);
});
