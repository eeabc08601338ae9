/** `culvert upgrade` on a release of small programs: what it replaces, what it refuses, and the way back. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
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
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openReleaseKey } from '../../scripts/release/keys.ts';
import { hostTarget } from '../../scripts/release/targets.ts';
import { lockDataDir } from '../../src/control/db/open.ts';
import { systemdUnit } from '../../src/server/upgrade/unit.ts';
import { run } from '../harness/tools.ts';
import { changeByte, makeFakeRelease, serveFolder } from './fake-release.ts';
import {
  addSystemd,
  type Home,
  hasKept,
  install,
  keptOf,
  migrateToNew,
  type Outcome,
  putProgram,
  runUpgrade,
  type Script,
  script,
  stateOf,
  wordsIn,
} from './installed.ts';

const folder = mkdtempSync(join(tmpdir(), 'culvert-upgrade-'));
chmodSync(folder, 0o755);
after(() => rmSync(folder, { recursive: true }));
const skip = process.platform === 'win32' ? 'the programs of the test are shell scripts' : false;
const key = openReleaseKey(undefined);
const OLD: Script = { version: '1.0.0' };
const NEW: Script = { version: '1.1.0', isNew: true };
let releases = 0;

function makeRelease(program: Script = NEW, version = program.version) {
  return makeFakeRelease(join(folder, `release-${++releases}`), { version, program: script(program), key });
}
const good = makeRelease();

const up = (home: Home, flags: object = { from: good.folder }, version = '1.0.0'): Promise<Outcome> =>
  runUpgrade({ home, flags, installed: { releaseKey: key.publicKey, version } });
const back = (home: Home): Promise<Outcome> => up(home, { rollback: true }, '1.1.0');

/** Fails with the reason, and changes nothing. */
async function refused(home: Home, reason: RegExp, run: () => Promise<Outcome>): Promise<Outcome> {
  const before = stateOf(home);
  const outcome = await run();
  assert.notEqual(outcome.code, 0, outcome.stdout);
  assert.match(outcome.stderr, reason);
  assert.deepEqual(stateOf(home), before);
  return outcome;
}

/** At the new version, with a database that it has migrated. */
async function upgradedHome(): Promise<Home> {
  const home = install(folder, OLD);
  const { code, stderr } = await up(home);
  assert.equal(code, 0, stderr);
  migrateToNew(home);
  return home;
}

test('upgrade: replaces the program, keeps the old one, and is up to date then', { skip }, async (t) => {
  for (const from of [good.folder, await serveFolder(t, good.folder)]) {
    const home = install(folder, OLD);
    const umask = process.umask(0o077); // as root may have it
    const { code, stdout, stderr } = await up(home, { from }).finally(() => process.umask(umask));
    assert.equal(code, 0, stderr);
    assert.equal(stdout, 'Upgraded culvert 1.0.0 to 1.1.0. Restart the server and the agents on this machine.\n');
    assert.equal(readFileSync(home.program, 'utf8'), script(NEW));
    assert.equal(statSync(home.program).mode & 0o777, 0o755);
    assert.equal(readFileSync(keptOf(home), 'utf8'), script(OLD));
    assert.deepEqual(readdirSync(join(home.program, '..')).sort(), ['culvert', 'culvert.old']);
    assert.deepEqual(readdirSync(home.dataDir), ['culvert.db', 'releases'], 'the copy of the database is removed');
    assert.deepEqual(readdirSync(join(home.dataDir, 'releases')), ['1.1.0']);
    assert.ok(readdirSync(join(home.dataDir, 'releases', '1.1.0')).includes(`culvert-1.1.0-${hostTarget()}.tar.gz`));
    const again = await up(home, { from }, '1.1.0');
    assert.deepEqual([again.code, again.stdout], [0, 'culvert 1.1.0 is up to date.\n']);
  }
});

test('upgrade: takes the release from releases_url without --from', { skip }, async (t) => {
  const home = install(folder, OLD);
  const url = await serveFolder(t, good.folder);
  writeFileSync(home.config, `${readFileSync(home.config, 'utf8')}releases_url = "${url}"\n`);
  const { code, stderr } = await up(home, {});
  assert.equal(code, 0, stderr);
  assert.equal(readFileSync(home.program, 'utf8'), script(NEW));
});

test('upgrade --check: exit code 10 for a newer version, else 0, and nothing changes', { skip }, async () => {
  const home = install(folder, OLD);
  const before = stateOf(home);
  const codes = ['1.0.0', '1.1.0', '1.2.0'].map((version) => up(home, { check: true, from: good.folder }, version));
  const outcomes = await Promise.all(codes);
  assert.deepEqual(
    outcomes.map(({ code }) => code),
    [10, 0, 0],
  );
  assert.match(
    outcomes[0]?.stdout ?? '',
    /^culvert 1\.1\.0 is available\. This is 1\.0\.0\. Next: culvert upgrade --from \S+\n$/,
  );
  assert.deepEqual(stateOf(home), before);
});

test('upgrade: a changed archive, list or signature and another key are refused', { skip }, async () => {
  const home = install(folder, OLD);
  for (const [name, reason] of [
    [`culvert-1.1.0-${hostTarget()}.tar.gz`, /is not the signed file/],
    ['SHA256SUMS', /is not of the key of this program/],
    ['SHA256SUMS.sig', /is not of the key of this program/],
  ] as const) {
    const changed = makeRelease();
    changeByte(join(changed.folder, name));
    await refused(home, reason, () => up(home, { from: changed.folder }));
  }
  const other = makeFakeRelease(join(folder, 'other'), { version: '1.1.0', program: script(NEW) });
  await refused(home, /is not of the key of this program/, () => up(home, { from: other.folder }));
});

test('upgrade: an older release and a program of another version are refused', { skip }, async () => {
  const home = install(folder, OLD);
  await refused(home, /is 1\.1\.0, older than this program \(1\.2\.0\)/, () => up(home, undefined, '1.2.0'));
  const mixed = makeRelease({ version: '0.9.0' }, '1.1.0');
  await refused(home, /has another program: culvert 0\.9\.0/, () => up(home, { from: mixed.folder }));
});

test('upgrade: says what to do when it has no key, no place or no program, or flags that exclude each other', {
  skip,
}, async () => {
  const home = install(folder, OLD);
  const from = good.folder;
  const run = (flags: object, installed: object) => () => runUpgrade({ home, flags, installed });
  await refused(home, /was not built as a release/, run({ from }, {}));
  await refused(home, /runs from source/, run({ from }, { releaseKey: key.publicKey, program: undefined }));
  assert.equal((await refused(home, /--from URL .* releases_url/, () => up(home, {}))).code, 2);
  assert.equal((await refused(home, /^--from: --rollback uses/, () => up(home, { rollback: true, from }))).code, 2);
});

test('upgrade: refused when the new program rejects the settings or the database', { skip }, async () => {
  const home = install(folder, OLD);
  for (const fails of ['settings', 'migration'] as const) {
    const release = makeRelease({ ...NEW, fails });
    await refused(home, new RegExp(`: the ${fails} fails$`), () => up(home, { from: release.folder }));
  }
});

test('upgrade and rollback: leave programs of packages and images alone', { skip }, async () => {
  const owned = (home: Home, tool: string) =>
    putProgram(join(home.tools, tool), `#!/bin/sh\n[ "$2" = "${home.program}" ]\n`);
  const [debian, fedora] = [install(folder, OLD), install(folder, OLD)];
  owned(debian, 'dpkg-query');
  owned(fedora, 'rpm');
  for (const run of [up, back]) {
    await refused(debian, /belongs to a Debian package\. .*apt install \.\/culvert-VERSION-linux-\w+\.deb$/, () =>
      run(debian),
    );
    await refused(fedora, /belongs to an RPM package\. .*dnf install .*\.rpm$/, () => run(fedora));
  }
});

test('upgrade: leaves the program of an image alone, and not one that was installed in a container', {
  skip,
}, async () => {
  const home = install(folder, OLD);
  writeFileSync(join(home.root, '.dockerenv'), '');
  mkdirSync(join(home.root, 'usr/bin'), { recursive: true });
  const image = { ...home, program: join(home.root, 'usr/bin/culvert') };
  putProgram(image.program, script(OLD));
  for (const run of [up, back]) await refused(image, /belongs to a container image/, () => run(image));
  assert.equal((await up(home)).code, 0);
});

test('rollback: puts the program back, and not the database when that still fits', { skip }, async () => {
  const home = install(folder, OLD);
  await refused(home, /has replaced no program here/, () => back(home));
  await up(home);
  const { code, stdout, stderr } = await back(home);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^The program from before the upgrade is back\./);
  assert.equal(readFileSync(home.program, 'utf8'), script(OLD));
  assert.equal(hasKept(home), false);
  assert.deepEqual(readdirSync(home.dataDir), ['culvert.db', 'releases']);
});

test('rollback: puts back the copy from before the migration, and keeps the newer database', { skip }, async () => {
  const home = await upgradedHome();
  const { code, stderr } = await back(home);
  assert.equal(code, 0, stderr);
  assert.match(stderr, /changes since 20\d\d-\S+Z are not in it/);
  assert.equal(readFileSync(home.program, 'utf8'), script(OLD));
  assert.deepEqual(wordsIn(join(home.dataDir, 'culvert.db')), ['before']);
  assert.ok(wordsIn(join(home.dataDir, 'snapshots/before-rollback.db')).includes('after'));
});

test('rollback: refused beside a running server, without a copy, or for another reason than a newer database', {
  skip,
}, async () => {
  const home = await upgradedHome();
  const unlock = lockDataDir(home.dataDir);
  await refused(home, /is in use by another culvert serve.* Stop the server/, () => back(home));
  unlock();
  putProgram(keptOf(home), script({ ...OLD, fails: 'migration' }));
  await refused(home, /the migration fails$/, () => back(home));
  putProgram(keptOf(home), script(OLD));
  rmSync(join(home.dataDir, 'snapshots'), { recursive: true });
  await refused(home, /is newer than .*culvert\.old/, () => back(home));
});

/** A visitor at a socket unit must not start the server meanwhile. */
const STOPPED = ['daemon-reload held', 'stop culvert held', 'start culvert', 'daemon-reload'];

test('unit: an upgrade restarts it, a rollback stops it while it replaces the database', { skip }, async () => {
  const home = install(folder, OLD);
  const orders = addSystemd(home, home.program);
  const { stdout } = await up(home);
  assert.match(stdout, /The server has restarted\./);
  migrateToNew(home);
  await back(home);
  assert.deepEqual(readFileSync(orders, 'utf8').split('\n'), ['restart culvert', ...STOPPED, '']);
});

test('unit: a failed rollback starts the server again', { skip }, async () => {
  const home = await upgradedHome();
  const orders = addSystemd(home, home.program);
  mkdirSync(join(home.dataDir, 'snapshots/before-rollback.db'));
  await refused(home, /./, () => back(home));
  assert.deepEqual(readFileSync(orders, 'utf8').split('\n'), [...STOPPED, '']);
});

test('unit: a start waits from the stop until the restart, and not for a rollback that was killed', {
  skip,
}, async () => {
  const home = install(folder, OLD);
  addSystemd(home, home.program);
  const machine = { root: home.root, env: { PATH: home.tools }, settleMs: 1 };
  const unit = systemdUnit(home.program, machine, () => {});
  unit.stop();
  const dropIn = join(home.root, 'run/systemd/system/culvert.service.d/culvert-rollback.conf');
  const wait = /^ExecStartPre=\+\/bin\/sh -c '(.*)'$/m.exec(readFileSync(dropIn, 'utf8'))?.[1] ?? '';
  const ended = spawnSync(process.execPath, ['-e', '']).pid;
  const killed = wait.replace(String(process.pid), String(ended));
  assert.equal((await run(['sh', '-c', killed])).code, 0);
  let isStarted = false;
  const started = run(['sh', '-c', wait]).then(() => (isStarted = true));
  await run(['sh', '-c', killed]);
  assert.equal(isStarted, false);
  await unit.restart();
  await started;
  assert.equal(existsSync(dropIn), false);
});

test('unit: that of another program is left alone, and a server that does not stay up is reported', {
  skip,
}, async () => {
  const beside = install(folder, OLD);
  const orders = addSystemd(beside, '/usr/local/bin/culvert');
  assert.equal((await up(beside)).code, 0);
  assert.equal(readFileSync(orders, 'utf8'), '');
  const home = install(folder, OLD);
  addSystemd(home, home.program, { staysUp: false });
  const { code, stderr } = await up(home);
  assert.equal(code, 1);
  assert.match(stderr, /does not stay up\. .* To go back: culvert upgrade --rollback$/);
});

const notRoot = process.getuid?.() === 0 ? false : 'only root works in the data folder of another user';
test('data folder: root works in it as its owner', { skip: skip || notRoot }, async (t) => {
  const NOBODY = 65_534;
  const open = mkdtempSync('/tmp/culvert-owner-'); // TMPDIR may be for root alone
  t.after(() => rmSync(open, { recursive: true }));
  chmodSync(open, 0o755);
  const home = install(open, OLD);
  for (const path of [home.dataDir, join(home.dataDir, 'culvert.db')]) chownSync(path, NOBODY, NOBODY);
  const outcome = await up(home);
  assert.equal(outcome.code, 0, outcome.stderr);
  migrateToNew(home);
  for (const path of ['snapshots', 'snapshots/v1-to-v2.db']) chownSync(join(home.dataDir, path), NOBODY, NOBODY);
  const { code, stderr } = await back(home);
  assert.equal(code, 0, stderr);
  for (const path of ['culvert.db', 'snapshots/before-rollback.db']) {
    assert.equal(statSync(join(home.dataDir, path)).uid, NOBODY, path);
  }
  assert.equal(process.geteuid?.(), 0);
});
