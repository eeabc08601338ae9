/** scripts/install.sh and the units, as an operator meets them; installed below a temporary folder, so no root and no systemd is needed. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { shareEntries } from '../scripts/release/share/share.ts';
import { checkServerConfig } from '../src/config/load.ts';
import { takeHeldSockets } from '../src/server/held-sockets.ts';
import { missing } from './harness/tools.ts';

const root = join(import.meta.dirname, '..');
const SOCKETS = ['culvert-agents.socket', 'culvert-api.socket', 'culvert-https.socket', 'culvert.socket'];
const folder = mkdtempSync(join(tmpdir(), 'culvert-install-'));
const tree = join(folder, 'tree');
const dest = join(folder, 'dest');
const installed = (path: string): string => join(dest, path);
const mode = (path: string): string => (statSync(installed(path)).mode & 0o777).toString(8);

before(() => {
  for (const file of ['install.sh', 'culvert.service', 'culvert-agent@.service', ...SOCKETS]) {
    cpSync(join(root, 'scripts', file), join(tree, 'scripts', file));
  }
  cpSync(join(root, 'config.example.toml'), join(tree, 'config.example.toml'));
  mkdirSync(join(tree, 'dist'));
  writeFileSync(join(tree, 'dist/culvert'), '#!/bin/sh\necho first\n', { mode: 0o755 });
  for (const { name, content } of shareEntries({ version: '1.0.0', epoch: 0, system: 'other', isPacked: false })) {
    mkdirSync(join(tree, 'dist/share', dirname(name)), { recursive: true });
    writeFileSync(join(tree, 'dist/share', name), content);
  }
});

after(() => rmSync(folder, { recursive: true }));

function install(...args: string[]) {
  const { status, stdout, stderr } = spawnSync('sh', [join(tree, 'scripts/install.sh'), ...args], {
    env: { PATH: process.env['PATH'], DESTDIR: dest },
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

test('a dry run says every step and takes none', () => {
  const { status, stdout } = install('--dry-run');
  assert.equal(status, 0);
  assert.match(stdout, /install -m 755 .*culvert/);
  assert.match(stdout, /write .*culvert\.toml/);
  assert.match(stdout, /\nNo changes were made\.\n$/);
  assert.doesNotMatch(stdout, /Installed/);
  assert.ok(!existsSync(dest));
});

test('an install puts program, settings, data folder and units in place and says what comes next', () => {
  const { status, stdout, stderr } = install();
  assert.equal(status, 0, stderr);
  assert.match(stdout, /Installed: first\. .*\n {2}culvert setup example\.com --email/);
  assert.match(stdout, /config check.*\n.*systemctl enable --now culvert/);
  assert.deepEqual(
    ['usr/local/bin/culvert', 'etc/culvert/culvert.toml', 'etc/culvert/agents', 'var/lib/culvert'].map(mode),
    ['755', '640', '750', '700'],
  );
  assert.deepEqual(readdirSync(installed('etc/systemd/system')).sort(), [
    ...['culvert-agent@.service', ...SOCKETS.slice(0, 3), 'culvert.service', 'culvert.socket'],
  ]);
});

const SHARED = [
  'bash-completion/completions/culvert',
  'fish/vendor_completions.d/culvert.fish',
  'man/man1/culvert.1',
  'zsh/site-functions/_culvert',
].map((name) => `usr/local/share/${name}`);

test('an install puts completion and man page where shells and man look', () => {
  for (const path of SHARED) assert.equal(mode(path), '644', path);
});

const SAFE = { signup: 'closed', mode: 'none', plan: 'enterprise' } as const;

test('installed settings: closed sign-up, nothing sold, no plan limits, data in /var/lib/culvert, no warning', () => {
  const { settings, warnings } = checkServerConfig(
    readFileSync(installed('etc/culvert/culvert.toml'), 'utf8'),
    'c.toml',
  );
  assert.deepEqual(warnings, []);
  const defaults = checkServerConfig('', 'none').settings;
  assert.deepEqual(settings, {
    ...defaults,
    written: new Set(['data_dir', 'accounts.signup', 'billing.mode', 'plans.default']),
    data_dir: '/var/lib/culvert',
    accounts: { ...defaults.accounts, signup: SAFE.signup },
    billing: { ...defaults.billing, mode: SAFE.mode },
    plans: { default: SAFE.plan },
  });
});

test('every key of the installed settings can be turned on by removing its "#"', () => {
  const text = readFileSync(installed('etc/culvert/culvert.toml'), 'utf8').replace(/^#(?=[a-z0-9_]+ = )/gm, '');
  const example = readFileSync(join(root, 'config.example.toml'), 'utf8');
  const expected = example
    .replace('"./data"', '"/var/lib/culvert"')
    .replace('signup = "open"', `signup = "${SAFE.signup}"`)
    .replace('mode = "mock"', `mode = "${SAFE.mode}"`)
    .replace('default = "free"', `default = "${SAFE.plan}"`);
  assert.equal(text, expected);
  assert.match(readFileSync(installed('etc/culvert/culvert.toml'), 'utf8'), /^#http2 = /m, 'keys with digits too');
});

test('a second install replaces the program and keeps the settings', () => {
  writeFileSync(installed('etc/culvert/culvert.toml'), 'data_dir = "/srv/culvert"\n');
  writeFileSync(join(tree, 'dist/culvert'), '#!/bin/sh\necho second\n', { mode: 0o755 });
  const { status, stderr } = install();
  assert.equal(status, 0, stderr);
  assert.match(readFileSync(installed('usr/local/bin/culvert'), 'utf8'), /second/);
  assert.equal(readFileSync(installed('etc/culvert/culvert.toml'), 'utf8'), 'data_dir = "/srv/culvert"\n');
  assert.ok(!readdirSync(installed('usr/local/bin')).some((name) => name.endsWith('.new')));
});

test('an uninstall removes program and units, keeps settings and data, and may be repeated', () => {
  for (let round = 0; round < 2; round++) assert.equal(install('--uninstall').status, 0);
  for (const path of SHARED) assert.ok(!existsSync(installed(path)), path);
  assert.deepEqual(readdirSync(installed('usr/local/bin')), []);
  assert.deepEqual(readdirSync(installed('etc/systemd/system')), []);
  assert.deepEqual(readdirSync(installed('etc/systemd/system')), []);
  assert.ok(existsSync(installed('etc/culvert/culvert.toml')) && existsSync(installed('var/lib/culvert')));
});

test('install: a program that does not start is not installed, and its error is printed', () => {
  writeFileSync(join(tree, 'dist/culvert'), '#!/bin/sh\necho libatomic.so.1: not found >&2\nexit 127\n', {
    mode: 0o755,
  });
  const { status, stdout, stderr } = install();
  assert.equal(status, 1);
  assert.equal(stdout, '');
  assert.match(stderr, /does not start on this machine: libatomic\.so\.1: not found/);
  assert.deepEqual(readdirSync(installed('usr/local/bin')), []);
});

test('what is wrong is said: an unknown word, a missing build', () => {
  assert.equal(install('--remove').status, 2);
  rmSync(join(tree, 'dist/culvert'));
  const { status, stderr } = install();
  assert.equal(status, 1);
  assert.match(stderr, /npm ci && npm run build/);
});

test('the script is clean for shellcheck', { skip: missing('shellcheck') }, () => {
  const { status, stdout } = spawnSync('shellcheck', [join(root, 'scripts/install.sh')], { encoding: 'utf8' });
  assert.equal(status, 0, stdout);
});

test('systemd takes the units and finds little exposed', { skip: missing('systemd-analyze') }, () => {
  for (const [source, name] of [
    ['culvert.service', 'culvert.service'],
    ['culvert-agent@.service', 'culvert-agent@web.service'],
  ] as const) {
    const unit = join(folder, name);
    // The program is not installed on the machine of the test; all else is taken as it is.
    const text = readFileSync(join(root, 'scripts', source), 'utf8').replaceAll(
      '/usr/local/bin/culvert ',
      '/bin/true ',
    );
    writeFileSync(unit, text);
    const verify = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' });
    assert.equal(verify.status, 0, verify.stderr);
    assert.equal(verify.stderr, '');
    const security = spawnSync('systemd-analyze', ['security', '--offline=true', '--threshold=20', unit], {
      encoding: 'utf8',
    });
    assert.equal(security.status, 0, security.stdout);
  }
});

test('socket units: systemd takes them with the service, and each has a name that the server knows', {
  skip: missing('systemd-analyze'),
}, () => {
  const place = mkdtempSync(join(folder, 'sockets-'));
  const service = readFileSync(join(root, 'scripts/culvert.service'), 'utf8');
  writeFileSync(join(place, 'culvert.service'), service.replaceAll('/usr/local/bin/culvert ', '/bin/true '));
  const units = SOCKETS.map((name) => join(place, name));
  for (const name of SOCKETS) cpSync(join(root, 'scripts', name), join(place, name));
  const verify = spawnSync('systemd-analyze', ['verify', join(place, 'culvert.service'), ...units], {
    encoding: 'utf8',
    env: { ...process.env, SYSTEMD_UNIT_PATH: `${place}:` },
  });
  assert.equal(verify.status, 0, verify.stderr);
  assert.equal(verify.stderr, '');
  const names = units.map((unit) => /^FileDescriptorName=(.*)$/m.exec(readFileSync(unit, 'utf8'))?.[1] ?? '');
  const env = { LISTEN_FDS: String(names.length), LISTEN_PID: '7', LISTEN_FDNAMES: names.join(':') };
  assert.deepEqual(takeHeldSockets(env, 7), { agents: 3, api: 4, https: 5, http: 6 });
});
