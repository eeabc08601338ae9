/** `culvert setup` on a machine that the test makes up: what it writes, what it leaves alone, and when it asks. */
import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { checkServerConfig } from '../../config/load.ts';
import type { System } from '../checks/system.ts';
import { tempHome } from '../fixtures/program.ts';
import { configText } from './config-text.ts';
import { differences, stateOf } from './config-file.ts';
import type { Host } from './host.ts';
import { ensureUnit, ensureUser, startService } from './service.ts';
import { setupOn } from './setup.ts';
import { ensureSockets } from './sockets.ts';
import { type Outcome, runSetup } from './testing.ts';
import { unitText } from './unit.ts';

const HERE = '8.8.4.4';

const well: System = {
  addresses: async (_name, family) => (family === 4 ? [HERE] : []),
  caa: async () => [],
  ownAddresses: () => [HERE],
  tryListen: async () => undefined,
  holderOf: () => undefined,
  tryConnect: async () => undefined,
  handshake: () => Promise.reject(new Error('no server')),
  visit: () => Promise.reject(new Error('no server')),
  remoteTime: async () => 0,
  now: () => 0,
  space: async () => ({ free: 1e11, total: 1e12 }),
  descriptorLimit: () => 1_024,
};

const host: Host = {
  isRoot: false,
  hasSystemd: false,
  program: '/usr/local/bin/culvert',
  run: () => Promise.reject(new Error('nothing may run')),
  serverUser: () => undefined,
};

const setup = (home: string, args: readonly string[], flags: object, system = well): Promise<Outcome> =>
  runSetup(setupOn(system, host), { home, args, flags });

const FILE = 'etc/culvert/culvert.toml';
const ARGS = { email: 'ann@example.com', root: 'image' };

function place(t: TestContext): { home: string; file: string } {
  const home = tempHome(t);
  return { home, file: join(home, 'image', FILE) };
}

test('setup --root: writes settings, data folder and unit below the folder, and starts nothing', async (t) => {
  const { home, file } = place(t);
  const { code, output } = await setup(home, ['example.com'], ARGS);
  assert.equal(code, 0, output);
  const { settings, warnings } = checkServerConfig(readFileSync(file, 'utf8'), file);
  assert.deepEqual(warnings, []);
  assert.equal(settings.edge.domain, 'example.com');
  assert.equal(new URL(settings.api.public_url).hostname, 'culvert.example.com');
  assert.deepEqual(
    [settings.accounts.signup, settings.accounts.owner, settings.billing.mode, settings.plans.default],
    ['closed', 'ann@example.com', 'none', 'enterprise'],
  );
  assert.deepEqual([settings.edge.tls.mode, settings.acme.email], ['acme', 'ann@example.com']);
  assert.deepEqual(
    [settings.edge.http_listen, settings.edge.https_listen],
    [
      { host: '::', port: 80 },
      { host: '::', port: 443 },
    ],
  );
  assert.equal(settings.data_dir, '/var/lib/culvert');
  assert.ok(statSync(join(home, 'image/var/lib/culvert')).isDirectory());
  assert.ok(existsSync(join(home, 'image/etc/systemd/system/culvert.service')));
  assert.deepEqual(readdirSync(join(home, 'image/etc/culvert')), ['culvert.toml']);
});

const UNITS = 'image/etc/systemd/system';

test('socket units: setup writes one for each listener, with its address, and says which are idle', async (t) => {
  const { home } = place(t);
  const { output } = await setup(home, ['example.com'], ARGS);
  assert.match(output, /^sockets +culvert\.socket, culvert-https\.socket, culvert-api\.socket: written$/m);
  const streams = (unit: string): string[] =>
    [...readFileSync(join(home, UNITS, unit), 'utf8').matchAll(/^ListenStream=(.*)$/gm)].map(
      ([, stream = '']) => stream,
    );
  assert.deepEqual(
    [streams('culvert.socket'), streams('culvert-https.socket'), streams('culvert-api.socket')],
    [['80'], ['443'], ['127.0.0.1:9090']],
  );
  const service = readFileSync(join(home, UNITS, 'culvert.service.d/culvert-setup.conf'), 'utf8');
  assert.match(service, /^\[Service\]\nSockets=culvert\.socket culvert-https\.socket culvert-api\.socket$/m);
  assert.ok(!existsSync(join(home, UNITS, 'culvert-agents.socket')), 'agents come to the port of visitors');

  const agents = join(home, 'image/usr/lib/systemd/system/culvert-agents.socket');
  mkdirSync(dirname(agents), { recursive: true });
  const packaged = readFileSync(new URL('../../../scripts/culvert-agents.socket', import.meta.url), 'utf8');
  writeFileSync(agents, packaged);
  const { settings } = checkServerConfig(readFileSync(join(home, 'image', FILE), 'utf8'), FILE);
  assert.deepEqual(ensureSockets(join(home, 'image'), settings).idle, ['culvert-agents.socket']);
  const own = { ...settings, agents: { ...settings.agents, listen: { host: '::', port: 7443 } } };
  assert.equal(ensureSockets(join(home, 'image'), own).done, 'written');
  assert.equal(readFileSync(agents, 'utf8'), packaged);
  assert.deepEqual(streams('culvert-agents.socket.d/culvert-setup.conf'), ['', '7443']);
  assert.equal(ensureSockets(join(home, 'image'), own).done, 'unchanged');
});

test('socket units: the same as those of the packages', (t) => {
  const { settings } = checkServerConfig(
    '[edge]\nhttps_listen = "127.0.0.1:8443"\n[edge.tls]\nmode = "self_signed"\n',
    'c.toml',
  );
  const root = tempHome(t);
  for (const unit of ensureSockets(root, settings).held) {
    const lines = (text: string): string[] =>
      text.split('\n').filter((line) => /^\w+=/.test(line) && !line.startsWith('Description='));
    const packaged = new URL(`../../../scripts/${unit}`, import.meta.url);
    const written = readFileSync(join(root, 'etc/systemd/system', unit), 'utf8');
    assert.deepEqual(lines(written), lines(readFileSync(packaged, 'utf8')));
  }
});

test('setup again: says "unchanged" and writes nothing', async (t) => {
  const { home, file } = place(t);
  await setup(home, ['example.com'], ARGS);
  const before = statSync(file);
  const { code, output } = await setup(home, ['example.com'], ARGS);
  assert.equal(code, 0);
  assert.match(output, /^settings +\S+: unchanged$/m);
  assert.match(output, /^unit +culvert\.service: unchanged$/m);
  assert.deepEqual([statSync(file).mtimeMs, statSync(file).ino], [before.mtimeMs, before.ino]);
});

test('setup: a file that it wrote itself is kept when the arguments of a second run differ', async (t) => {
  const { home, file } = place(t);
  await setup(home, ['example.com'], ARGS);
  const first = readFileSync(file, 'utf8');
  const refused = await setup(home, ['example.com'], { root: 'image' });
  assert.equal(refused.code, 2);
  assert.match(refused.output, /- email = "ann@example\.com"/);
  assert.match(refused.output, /There is no terminal for a confirmation\. Use --yes/);
  for (const domain of ['example.com', 'example.org']) {
    const kept = await setup(home, [domain], { root: 'image', yes: true });
    assert.equal(kept.code, 0);
    assert.match(kept.output, /- owner = "ann@example\.com"[^\n]*\n +\+ owner = "admin@localhost"/);
    assert.match(kept.output, /yours is kept/);
  }
  assert.equal(readFileSync(file, 'utf8'), first);
});

test('setup: the sample of the installer is replaced', async (t) => {
  const { home, file } = place(t);
  await setup(home, ['example.com'], ARGS);
  const sample =
    '# Sample\ndata_dir = "/var/lib/culvert"\n[edge]\n#http2 = true\n[accounts]\nsignup = "closed"   # or open\n[billing]\nmode = "none"\n';
  writeFileSync(file, sample);
  assert.match((await setup(home, ['example.com'], ARGS)).output, /^settings +\S+: written$/m);
});

test('setup: an edited file is shown beside its own and kept; without a terminal it refuses to ask', async (t) => {
  const { home, file } = place(t);
  await setup(home, ['example.com'], ARGS);
  const edited = readFileSync(file, 'utf8').replace('signup = "closed"', 'signup = "open"');
  writeFileSync(file, edited);
  const refused = await setup(home, ['example.com'], ARGS);
  assert.equal(refused.code, 2);
  assert.match(refused.output, /There is no terminal for a confirmation\. Use --yes/);
  const kept = await setup(home, ['example.com'], { ...ARGS, yes: true });
  assert.equal(kept.code, 0);
  assert.match(kept.output, /- signup = "open"[^\n]*\n +\+ signup = "closed"/);
  assert.match(kept.output, /yours is kept/);
  assert.equal(readFileSync(file, 'utf8'), edited);
});

test('setup: a failed check stops it without a word; --yes goes on, writes, and ends with 1', async (t) => {
  const { home, file } = place(t);
  const broken: System = {
    ...well,
    tryListen: async ({ port }) => (port === 443 ? 'EADDRINUSE' : undefined),
    holderOf: () => 'nginx, pid 812',
  };
  const refused = await setup(home, ['example.com'], ARGS, broken);
  assert.equal(refused.code, 2);
  assert.match(
    refused.output,
    /^fail +port_443 +Port 443 is in use \(nginx, pid 812\)\.\n +Stop that program, or set edge\.https_listen/m,
  );
  assert.ok(!existsSync(file));
  const dry = await setup(home, ['example.com'], { ...ARGS, dryRun: true }, broken);
  assert.equal(dry.code, 1);
  assert.match(dry.output, /would write[\s\S]*domain = "example\.com"[\s\S]*No changes were made\./);
  assert.ok(!existsSync(file));
  const forced = await setup(home, ['example.com'], { ...ARGS, yes: true }, broken);
  assert.equal(forced.code, 1);
  assert.ok(existsSync(file));
});

test('setup: arguments that make no sense say what to write', async (t) => {
  const { home } = place(t);
  const say = async (args: string[], flags: object) => {
    const { code, output } = await setup(home, args, flags);
    assert.equal(code, 2, output);
    return output;
  };
  assert.match(await say([], {}), /needs your domain: culvert setup example\.com --email/);
  assert.match(await say(['https://example.com'], {}), /is not a domain/);
  assert.match(await say(['example.com'], { email: 'ann' }), /--email: "ann" is not an email address/);
  assert.match(await say(['example.com'], { dnsHook: 'absent' }), /--dns-hook: there is no file/);
  assert.match(await say(['example.com'], {}), /run it as root \(sudo culvert setup …\), or look with --dry-run/);
});

test('setup: a user who may not look into the data folder is sent to root', {
  skip: process.getuid?.() !== 0,
}, async (t) => {
  const { home } = place(t);
  mkdirSync(join(home, 'data'), { mode: 0o700 });
  process.seteuid?.(65_534);
  const asked = setup(home, ['example.com'], { config: 'server.toml', dryRun: true });
  const { code, output } = await asked.finally(() => process.seteuid?.(0));
  assert.equal(code, 2, output);
  assert.match(output, /data can't be read by this user: run the command as root/);
});

test('setup: what a restore left to root is given to the user of the server', {
  skip: process.getuid?.() !== 0,
}, async (t) => {
  const { home, file } = place(t);
  const data = join(home, 'image/var/lib/culvert');
  await setup(home, ['example.com'], ARGS);
  mkdirSync(join(data, 'certificates'));
  writeFileSync(join(data, 'certificates/agents.key'), '', { mode: 0o600 });
  symlinkSync(file, join(data, 'link'));
  chmodSync(file, 0o600);
  chmodSync(dirname(file), 0o700);
  const as = (uid: number): Host => ({ ...host, isRoot: true, serverUser: () => ({ uid, gid: uid }) });
  const again = (): Promise<Outcome> =>
    runSetup(setupOn(well, as(54_321)), { home, args: ['example.com'], flags: ARGS });
  const { code, output } = await again();
  assert.equal(code, 0, output);
  assert.match(output, /^data +\S+: given to the user culvert$/m);
  assert.match(output, /^settings +\S+: the user culvert may read it now$/m);
  for (const name of ['.', 'certificates', 'certificates/agents.key', 'link'])
    assert.deepEqual([lstatSync(join(data, name)).uid, lstatSync(join(data, name)).gid], [54_321, 54_321], name);
  const rights = (path: string): unknown[] => [statSync(path).uid, statSync(path).gid, statSync(path).mode & 0o777];
  assert.deepEqual(
    [rights(file), rights(dirname(file))],
    [
      [0, 54_321, 0o640],
      [0, 54_321, 0o750],
    ],
  );
  assert.doesNotMatch((await again()).output, /given to|may read/);
});

const WISHES = { domain: 'example.com', email: null, dataDir: '/d', behindProxy: false, dnsHook: null, ipv6: true };
const ACME = { acmeDirectory: null, acmeCaFile: null };

test('setup: behind a proxy the server has no TLS of its own, and agents have their port', () => {
  const text = configText({ ...WISHES, ...ACME, behindProxy: true });
  const { settings, warnings } = checkServerConfig(text, 'c.toml');
  assert.deepEqual(
    warnings.filter((line) => !/http_listen|tcp_host|udp_host/.test(line)),
    [],
  );
  assert.equal(settings.edge.https_listen, null);
  assert.equal(settings.edge.public_url, 'https://{subdomain}.example.com');
  assert.equal(settings.agents.public_address, 'culvert.example.com:7443');
  assert.equal(settings.accounts.owner, 'admin@localhost');
});

test('setup: a DNS hook asks for one wildcard certificate', () => {
  const text = configText({ ...WISHES, ...ACME, dnsHook: '/bin/true' });
  const { settings } = checkServerConfig(text, 'c.toml');
  assert.deepEqual([settings.acme.challenge, settings.acme.dns_hook], ['dns-01', '/bin/true']);
});

test('settings file: comments alone make no difference, and lines that differ are shown by side', () => {
  const text = configText({ ...WISHES, ...ACME });
  assert.equal(stateOf(undefined, text), 'missing');
  assert.equal(stateOf(`# mine\n${text}`, text), 'same');
  assert.equal(stateOf(text.replace('example.com', 'example.org'), text), 'edited');
  assert.deepEqual(differences('a = 1\nb = 2\n', 'a = 1\n# note\nb = 3\nc = 4\n'), ['- b = 2', '+ b = 3', '+ c = 4']);
});

test('unit: the same as the one of the install script', () => {
  const unit = new URL('../../../scripts/culvert.service', import.meta.url);
  const body = (text: string): string => text.slice(text.indexOf('\n'));
  assert.equal(body(unitText('/usr/local/bin/culvert')), body(readFileSync(unit, 'utf8')));
});

test('unit: paths are written as systemd reads them', () => {
  const start = (program: string): string => /^ExecStart=(.*) serve /m.exec(unitText(program))?.[1] ?? '';
  assert.equal(start('/opt/culvert-1.0/culvert'), '/opt/culvert-1.0/culvert');
  assert.equal(start('/opt/50%/culvert'), '/opt/50%%/culvert');
  assert.equal(start('/opt/my "own" $1/cul\\vert'), String.raw`"/opt/my \"own\" $1/cul\\vert"`);
});

test('unit: one of its own follows the program and keeps other lines; one of the install script is left alone', (t) => {
  const root = tempHome(t);
  const file = join(root, 'etc/systemd/system/culvert.service');
  const of = (program: string): Host => ({ ...host, program });
  assert.equal(ensureUnit(of('/opt/a/culvert'), root), 'written');
  writeFileSync(file, `${readFileSync(file, 'utf8')}# mine\n`);
  assert.equal(ensureUnit(of('/opt/a/culvert'), root), 'unchanged');
  assert.equal(ensureUnit(of('/opt/b$&/culvert'), root), 'written');
  assert.equal(readFileSync(file, 'utf8'), `${unitText('/opt/b$&/culvert')}# mine\n`);
  const script = readFileSync(new URL('../../../scripts/culvert.service', import.meta.url), 'utf8');
  writeFileSync(file, script);
  assert.equal(ensureUnit(of('/opt/a/culvert'), root), 'unchanged');
  assert.equal(readFileSync(file, 'utf8'), script);
});

test('setup: a program or file that the unit hides is refused before anything is written', async (t) => {
  const { home, file } = place(t);
  const refusal = async (program: string, flags: object): Promise<string> => {
    const body = setupOn(well, { ...host, program });
    const { code, output } = await runSetup(body, { home, args: ['example.com'], flags: { ...ARGS, ...flags } });
    assert.equal(code, 2, output);
    assert.ok(!existsSync(join(home, 'image/etc')));
    return output;
  };
  for (const folder of ['/root', '/home/ann', '/tmp/x', '/var/tmp', '/run/user/0'])
    assert.match(
      await refusal(`${folder}/culvert`, {}),
      new RegExp(`sudo install -m 755 ${folder}/culvert /usr/local/bin/culvert\\. `),
    );
  assert.match(await refusal("/root/ann's/culvert", {}), /install -m 755 '\/root\/ann'\\''s\/culvert' \/usr/);
  for (const [flag, name, target] of [
    ['dnsHook', '--dns-hook', '755 /root/hook /usr/local/bin/hook'],
    ['acmeCaFile', '--acme-ca-file', '644 /root/hook /etc/ssl/certs/hook'],
  ] as const) {
    mkdirSync(join(home, 'image/root'), { recursive: true });
    writeFileSync(join(home, 'image/root/hook'), '');
    const output = await refusal('/usr/bin/culvert', { [flag]: '/root/hook' });
    assert.ok(output.includes(`sudo install -m ${target}. Then set ${name} ${target.split(' ')[2]}`), output);
  }
  const unit = join(home, 'image/usr/lib/systemd/system/culvert.service');
  mkdirSync(dirname(unit), { recursive: true });
  writeFileSync(unit, unitText('/usr/bin/culvert').replace(/^.*/, '# Of a package'));
  const body = setupOn(well, { ...host, program: '/root/culvert' });
  assert.equal((await runSetup(body, { home, args: ['example.com'], flags: ARGS })).code, 0);
  assert.ok(existsSync(file));
});

test('service: a running server on unchanged settings is left alone, a changed one restarts, a fault names the log', async () => {
  const ran: string[] = [];
  const played = (code = 0): Host => ({
    ...host,
    run: async (command, args) => {
      ran.push([command, ...args].join(' '));
      return { code, output: 'Job failed' };
    },
  });
  const sockets = { held: ['culvert.socket', 'culvert-api.socket'], idle: ['culvert-agents.socket'] };
  const from = (isRunning: boolean, hasChanged = true) => ({ isRunning, hasChanged, sockets });
  assert.equal(await startService(played(), from(true, false)), 'unchanged');
  assert.deepEqual(ran.splice(0), []);
  assert.equal(await startService(played(), from(true)), 'restarted');
  assert.deepEqual(
    ran.splice(0).map((line) => line.replace(/^systemctl /, '')),
    [
      'daemon-reload',
      'disable --now culvert-agents.socket',
      'enable culvert.socket culvert-api.socket culvert',
      'stop culvert.socket culvert-api.socket culvert',
      'start culvert.socket culvert-api.socket',
      'start culvert',
    ],
  );
  assert.equal(await startService(played(), from(false)), 'started');
  await assert.rejects(startService(played(1), from(false)), /journalctl -u culvert/);
  ran.length = 0;
  assert.equal(await ensureUser(played(), '/var/lib/culvert'), 'created');
  assert.match(ran[0] ?? '', /^useradd --system .* culvert$/);
  await assert.rejects(ensureUser(played(1), '/d'), /can't be created: Job failed\. Create it yourself/);
});
