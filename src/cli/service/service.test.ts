/** `culvert service` on machines that the test makes up: what is written, what is run, and what stays. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { missing } from '../../../test/harness/tools.ts';
import { tempHome } from '../fixtures/program.ts';
import { type Outcome, runSetup } from '../setup/testing.ts';
import { launchd } from './launchd.ts';
import { installOn, statusOn, uninstallOn } from './service.ts';
import type { ServiceHost } from './service-host.ts';
import { systemd } from './systemd.ts';
import { taskScheduler } from './task-scheduler.ts';

/** Looks like a key, and is found wherever it is written. */
const KEY = 'mtk_not_a_real_key_0123456789';

interface Machine {
  readonly home: string;
  readonly host: ServiceHost;
  /** Command lines, in order. */
  readonly ran: string[];
  running: boolean;
  call(what: 'install' | 'status' | 'uninstall', flags?: object): Promise<Outcome>;
}

function machine(t: TestContext, wishes: Partial<ServiceHost> = {}): Machine {
  const home = tempHome(t);
  const ran: string[] = [];
  const host: ServiceHost = {
    platform: 'linux',
    isRoot: false,
    user: 'ann',
    uid: 1000,
    home,
    hasSystemd: true,
    program: ['/opt/cul vert/culvert'],
    root: join(home, 'root'),
    run: async (command, args) => {
      const line = [command, ...args].join(' ');
      ran.push(line);
      if (/ (?:restart|bootstrap) /.test(line)) made.running = true;
      if (/ (?:disable|bootout) /.test(line)) made.running = false;
      if (/ (?:is-active|print) /.test(line)) {
        return made.running ? { code: 0, output: '\tstate = running' } : { code: 3, output: 'inactive' };
      }
      return { code: 0, output: '' };
    },
    ...wishes,
  };
  const bodies = { install: installOn, status: statusOn, uninstall: uninstallOn };
  const made: Machine = {
    ...{ home, host, ran, running: false },
    call: (what, flags = {}) =>
      runSetup(
        bodies[what](() => host),
        { home, args: [], flags },
      ),
  };
  return made;
}

function withSettings({ home }: Machine, more = ''): string {
  const file = join(home, 'web.toml');
  writeFileSync(join(home, 'web.key'), `${KEY}\n`, { mode: 0o600 });
  const text = `server = "https://culvert.example.com"\ntoken_file = "web.key"\n${more}\n[tunnels.shop]\ntarget = 3000\n`;
  writeFileSync(file, text);
  return file;
}

test('service install: writes a unit of the user, starts it, and says what it did', async (t) => {
  const made = machine(t);
  const config = withSettings(made);
  const { code, output } = await made.call('install', { config });
  assert.equal(code, 0, output);
  const unit = join(made.home, '.config/systemd/user/culvert-agent.service');
  const text = readFileSync(unit, 'utf8');
  assert.match(text, new RegExp(`^ExecStart="/opt/cul vert/culvert" start --config ${config}$`, 'm'));
  assert.doesNotMatch(text, new RegExp(KEY));
  assert.deepEqual(made.ran, [
    'systemctl --user is-active culvert-agent.service',
    'systemctl --user daemon-reload',
    'systemctl --user enable culvert-agent.service',
    'systemctl --user restart culvert-agent.service',
  ]);
  assert.match(output, /^settings {2}\S+web\.toml: 1 tunnel at https:\/\/culvert\.example\.com$/m);
  assert.match(output, /^service {3}\S+culvert-agent\.service: written \(systemd user unit\)$/m);
  assert.match(output, /^agent {5}culvert-agent: started, as ann$/m);
  assert.match(output, /^log {7}journalctl --user -u culvert-agent\.service$/m);
  assert.match(output, /loginctl enable-linger ann/);
});

test('service install again: changes nothing while it runs, and takes up a changed definition', async (t) => {
  const made = machine(t);
  const config = withSettings(made);
  await made.call('install', { config });
  const unit = join(made.home, '.config/systemd/user/culvert-agent.service');
  const before = statSync(unit).mtimeMs;
  made.ran.length = 0;
  const again = await made.call('install', { config });
  assert.match(again.output, /unchanged[^]*running already/);
  assert.deepEqual(made.ran, ['systemctl --user is-active culvert-agent.service']);
  assert.equal(statSync(unit).mtimeMs, before);
  writeFileSync(unit, readFileSync(unit, 'utf8').replace('RestartSec=5', 'RestartSec=9'));
  const mended = await made.call('install', { config });
  assert.match(mended.output, /written[^]*restarted/);
});

test('service status and uninstall: report, and remove exactly what install wrote', async (t) => {
  const made = machine(t);
  const config = withSettings(made);
  const none = await made.call('status');
  assert.equal(none.code, 1);
  assert.match(none.output, /^culvert-agent is not installed \(systemd user unit\)\. Install it: /);
  assert.match((await made.call('uninstall')).output, /Nothing was removed/);
  await made.call('install', { config, name: 'web' });
  const there = await made.call('status', { name: 'web' });
  assert.equal(there.code, 0);
  assert.match(there.output, /culvert-agent-web: running/);
  const json = JSON.parse((await made.call('status', { name: 'web', json: true })).output) as object;
  const file = join(made.home, '.config/systemd/user/culvert-agent-web.service');
  const log = 'journalctl --user -u culvert-agent-web.service';
  assert.deepEqual(json, { name: 'culvert-agent-web', scope: 'user', installed: true, running: true, file, log });
  made.running = false;
  assert.equal((await made.call('status', { name: 'web' })).code, 1);
  assert.equal((await made.call('uninstall', { name: 'web' })).code, 0);
  assert.equal(existsSync(file), false);
  assert.ok(existsSync(config));
  assert.deepEqual(made.ran.slice(-2), [
    'systemctl --user disable --now culvert-agent-web.service',
    'systemctl --user daemon-reload',
  ]);
});

test('service: a unit of another origin is neither replaced nor removed', async (t) => {
  const made = machine(t);
  const config = withSettings(made);
  const unit = join(made.home, '.config/systemd/user/culvert-agent.service');
  mkdirSync(dirname(unit), { recursive: true });
  writeFileSync(unit, '[Service]\nExecStart=/bin/true\n');
  const { code, output } = await made.call('install', { config });
  assert.equal(code, 1);
  assert.match(output, /is not of culvert service install\. Choose another --name/);
  assert.match((await made.call('uninstall')).output, /Nothing was removed/);
  assert.equal(readFileSync(unit, 'utf8'), '[Service]\nExecStart=/bin/true\n');
});

test('service install: settings or a key that the service would not have are refused before anything is written', async (t) => {
  const made = machine(t);
  const config = withSettings(made);
  const broken = join(made.home, 'broken.toml');
  writeFileSync(broken, 'serve = "https://x"\n');
  await assert.rejects(made.call('install', { config: broken }), /broken\.toml:1: serve: unknown key/);
  writeFileSync(broken, 'token_file = "web.key"\n[tunnels.shop]\ntarget = "no port"\n');
  await assert.rejects(made.call('install', { config: broken }), /broken\.toml:3: tunnels\.shop\.target: /);
  writeFileSync(broken, 'server = "https://x.test"\n[tunnels.shop]\ntarget = 3000\n');
  const keyless = await made.call('install', { config: broken });
  assert.equal(keyless.code, 2);
  assert.match(keyless.output, /no key for https:\/\/x\.test/);
  writeFileSync(broken, 'token_file = "web.key"\n');
  assert.match((await made.call('install', { config: broken })).output, /no tunnel to start/);
  const both = await made.call('install', { config, user: true, system: true });
  assert.match(both.output, /exclude each other/);
  assert.match((await made.call('install', { config, name: '../x' })).output, /--name: has 1 to 41/);
  assert.match((await made.call('install')).output, /no settings file: there is no /);
  assert.match((await made.call('install', { config, system: true })).output, /run it as root/);
  assert.deepEqual(made.ran, []);
  assert.equal(existsSync(join(made.home, '.config')), false);
});

test('service install: a file that lies here gets the key of no other folder, unless it is named', async (t) => {
  const made = machine(t);
  const key = join(tempHome(t), 'other.key');
  writeFileSync(key, `${KEY}\n`, { mode: 0o600 });
  const here = join(made.home, 'culvert.toml');
  writeFileSync(here, `server = "https://evil.test"\ntoken_file = "${key}"\n[tunnels.shop]\ntarget = 3000\n`);
  const refused = await made.call('install');
  assert.equal(refused.code, 2, refused.output);
  assert.match(refused.output, /token_file: is outside the project folder[^]*name it with --config/);
  assert.deepEqual(made.ran, []);
  assert.equal((await made.call('install', { config: here })).code, 0);
});

test("service install: a server's culvert.toml is passed over, as by culvert start", async (t) => {
  const made = machine(t);
  withSettings(made);
  writeFileSync(join(made.home, 'culvert.toml'), 'data_dir = "/var/lib/culvert"\n');
  mkdirSync(join(made.home, '.config/culvert'), { recursive: true });
  const own = join(made.home, '.config/culvert/agent.toml');
  writeFileSync(own, readFileSync(join(made.home, 'web.toml'), 'utf8').replace('web.key', '~/web.key'));
  const { code, output } = await made.call('install');
  assert.equal(code, 0, output);
  assert.match(output, /^settings {2}\S+agent\.toml: 1 tunnel/m);
});

test('service install: a path with a line break writes no lines of its own', async (t) => {
  const made = machine(t);
  const folder = join(made.home, 'x)\nExecStartPre=touch owned\n#');
  mkdirSync(folder);
  const config = withSettings({ ...made, home: folder });
  const { code, output } = await made.call('install', { config });
  assert.equal(code, 2, output);
  assert.match(output, /control character/);
  assert.deepEqual(made.ran, []);
});

test('service install: what the manager says is reported, and a machine without systemd gets the command', async (t) => {
  const run: ServiceHost['run'] = async (_command, args) =>
    args.includes('is-active') ? { code: 3, output: '' } : { code: 1, output: 'Failed to connect to bus' };
  const made = machine(t, { run });
  const { code, output } = await made.call('install', { config: withSettings(made) });
  assert.equal(code, 1);
  assert.match(output, /systemctl --user daemon-reload failed: Failed to connect to bus/);
  const unit = join(made.home, '.config/systemd/user/culvert-agent.service');
  assert.equal(existsSync(unit), false, 'nothing is left');
  const other = machine(t, { hasSystemd: false });
  const config = withSettings(other);
  assert.match((await other.call('install', { config })).output, new RegExp(`culvert start --config ${config}$`));
  assert.equal(existsSync(join(other.home, '.config/systemd/user/culvert-agent.service')), false);
});

test('service install: a start that fails brings back the definition that was there', async (t) => {
  let isBroken = false;
  const run: ServiceHost['run'] = async (_command, args) =>
    isBroken && args.includes('restart') ? { code: 1, output: 'no' } : { code: 0, output: '' };
  const made = machine(t, { run });
  const config = withSettings(made);
  assert.equal((await made.call('install', { config })).code, 0);
  const unit = join(made.home, '.config/systemd/user/culvert-agent.service');
  const before = readFileSync(unit, 'utf8');
  const moved = join(made.home, 'moved.toml');
  writeFileSync(moved, readFileSync(config));
  isBroken = true;
  assert.match((await made.call('install', { config: moved })).output, /restart culvert-agent\.service failed: no/);
  assert.equal(readFileSync(unit, 'utf8'), before);
});

test('service uninstall: the definition goes, also when the manager can not be reached, which is said', async (t) => {
  let isBroken = false;
  const run: ServiceHost['run'] = async () => (isBroken ? { code: 1, output: 'no bus' } : { code: 0, output: '' });
  const made = machine(t, { run });
  assert.equal((await made.call('install', { config: withSettings(made) })).code, 0);
  isBroken = true;
  const { code, output } = await made.call('uninstall');
  assert.equal(code, 1);
  assert.match(output, /culvert-agent\.service: removed\. But the service was not stopped.*no bus/);
  assert.equal(existsSync(join(made.home, '.config/systemd/user/culvert-agent.service')), false);
});

test('service install --system: the unit of the machine runs as the user of sudo, who alone has the key', async (t) => {
  const made = machine(t, { isRoot: true });
  const { code, output } = await made.call('install', { config: withSettings(made) });
  assert.equal(code, 0, output);
  const unit = join(made.home, 'root/etc/systemd/system/culvert-agent.service');
  assert.match(readFileSync(unit, 'utf8'), /^User=ann$/m);
  assert.ok(made.ran.includes('systemctl enable culvert-agent.service'));
  assert.match((await made.call('install', { user: true, config: withSettings(made) })).output, /without sudo/);
});

test('service on macOS: a LaunchAgent is loaded, replaced and removed', async (t) => {
  const made = machine(t, { platform: 'darwin' });
  const config = withSettings(made);
  await made.call('install', { config });
  const plist = join(made.home, 'Library/LaunchAgents/culvert-agent.plist');
  assert.ok(existsSync(plist));
  assert.deepEqual(made.ran.slice(-2), [
    'launchctl enable gui/1000/culvert-agent',
    `launchctl bootstrap gui/1000 ${plist}`,
  ]);
  assert.match((await made.call('status')).output, /culvert-agent: running/);
  await made.call('uninstall');
  assert.equal(made.ran.at(-1), 'launchctl bootout gui/1000/culvert-agent');
  assert.equal(existsSync(plist), false);
});

const ODD = { name: 'culvert-agent', config: "/srv/a & b/50% of $HOME/<web>'s.toml" };

test('systemd takes both units, with odd paths', { skip: missing('systemd-analyze') }, (t) => {
  const { home, host } = machine(t, { program: ['/bin/true', "/opt/it's/$x/cul vert"] });
  for (const scope of ['user', 'system'] as const) {
    const unit = join(home, `${scope}.service`);
    // `verify` wants a user that exists.
    writeFileSync(unit, systemd({ ...host, user: 'root' }, { ...ODD, scope }).text);
    const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', `--man=no`, unit], { encoding: 'utf8' });
    assert.equal(status, 0, stdout + stderr);
    assert.equal((stdout + stderr).trim(), '');
  }
});

const READ_PLIST = 'import json,plistlib,sys; print(json.dumps(plistlib.loads(sys.stdin.buffer.read())))';

test('the plists are property lists with the words of the command', { skip: missing('python3') }, (t) => {
  const { host, home } = machine(t, { platform: 'darwin', program: ['/opt/a&b/culvert'] });
  for (const scope of ['user', 'system'] as const) {
    const { text } = launchd(host, { ...ODD, scope });
    const { stdout, stderr } = spawnSync('python3', ['-c', READ_PLIST], { input: text, encoding: 'utf8' });
    assert.equal(stderr, '');
    const found = JSON.parse(stdout) as Record<string, unknown>;
    assert.deepEqual(found['ProgramArguments'], ['/opt/a&b/culvert', 'start', '--config', ODD.config]);
    assert.deepEqual(found['KeepAlive'], { SuccessfulExit: false });
    assert.equal(found['UserName'], scope === 'system' ? 'ann' : undefined);
    assert.equal(found['StandardErrorPath'], join(home, 'Library/Logs/culvert-agent.log'));
  }
});

/** Prints `path=text` of each element without children, in order. */
const READ_TASK = `
import sys, xml.etree.ElementTree as tree
def walk(node, path):
    path += "/" + node.tag.split("}")[1]
    print(path + "=" + (node.text or "") if len(node) == 0 else path)
    for child in node: walk(child, path)
walk(tree.fromstring(sys.stdin.buffer.read()), "")`;

/** Of the schema: children of Task and Settings come in this order, where they come. */
const TASK_ORDER = ['RegistrationInfo', 'Triggers', 'Principals', 'Settings', 'Actions'];

test('the tasks of Windows are XML in the order of their schema, and start the command', {
  skip: missing('python3'),
}, (t) => {
  const { host } = machine(t, {
    platform: 'win32',
    user: 'DESK\\ann',
    home: 'C:\\Users\\Ann B',
    program: ['C:\\Program Files\\Culvert\\culvert.exe'],
  });
  const config = 'C:\\Users\\Ann B\\a & b.toml';
  for (const [scope, trigger, logon] of [
    ['user', 'LogonTrigger', 'InteractiveToken'],
    ['system', 'BootTrigger', 'S4U'],
  ] as const) {
    const definition = taskScheduler(host, { name: 'culvert-agent', scope, config });
    const input = Buffer.from(`\ufeff${definition.text}`, definition.encoding);
    const { stdout, stderr } = spawnSync('python3', ['-c', READ_TASK], { input, encoding: 'utf8' });
    assert.equal(stderr, '');
    const lines = stdout.trim().split(/\r?\n/);
    const top = lines.flatMap((line) => /^\/Task\/(\w+)$/.exec(line)?.[1] ?? []);
    assert.deepEqual(top, TASK_ORDER);
    assert.ok(lines.includes(`/Task/Triggers/${trigger}/Enabled=true`));
    assert.ok(lines.includes(`/Task/Principals/Principal/LogonType=${logon}`));
    assert.ok(lines.includes('/Task/Principals/Principal/UserId=DESK\\ann'));
    assert.ok(
      lines.includes(
        '/Task/Actions/Exec/Arguments=/d /s /c ""C:\\Program Files\\Culvert\\culvert.exe" start --config "C:\\Users\\Ann B\\a & b.toml" >> "C:\\Users\\Ann B\\AppData\\Local\\culvert\\culvert-agent.log" 2>&1"',
      ),
      stdout,
    );
  }
  const bad = { name: 'culvert-agent', scope: 'user', config: 'C:\\100%\\web.toml' } as const;
  assert.throws(() => taskScheduler(host, bad).text, /a path of a service on Windows has no ", %, ! or \^/);
});

test('the Task Scheduler: creates, starts, asks in any language, ends and deletes', async (t) => {
  const { host, ran } = machine(t, { platform: 'win32', home: 'C:\\Users\\ann' });
  const definition = taskScheduler(host, { name: 'culvert-agent', scope: 'user', config: 'C:\\web.toml' });
  await definition.start();
  await definition.stop();
  assert.deepEqual(ran, [
    'schtasks.exe /create /tn culvert-agent /xml C:\\Users\\ann\\AppData\\Local\\culvert\\culvert-agent.xml /f',
    'schtasks.exe /run /tn culvert-agent',
    'schtasks.exe /end /tn culvert-agent',
    'schtasks.exe /delete /tn culvert-agent /f',
  ]);
  const says = async (output: string): Promise<boolean> =>
    taskScheduler(
      { ...host, run: async () => ({ code: 0, output }) },
      {
        ...{ name: 'culvert-agent', scope: 'user', config: 'C:\\web.toml' },
      },
    ).isRunning();
  assert.deepEqual([await says('Running\r\n'), await says('Ready')], [true, false]);
});
