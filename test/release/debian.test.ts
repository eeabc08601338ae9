// group: slow
/** The package for Debian in minimal systems that debootstrap makes: install, main job, remove. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { missing, run } from '../harness/tools.ts';
import { noBareRoot } from './bare-root.ts';
import { doMainJobIn } from './main-job.ts';

const root = join(import.meta.dirname, '../..');
// Not in memory: a system has half a gigabyte.
const folder = mkdtempSync(join(tmpdir().startsWith('/dev/shm') ? '/var/tmp' : tmpdir(), 'culvert-debian-'));
const made = join(folder, 'release');
after(() => rmSync(folder, { recursive: true }));

const skip = noBareRoot() || missing('debootstrap', 'xz') || (process.arch !== 'x64' && 'this machine is not x64');

before(async () => {
  if (skip !== false) return;
  const options = ['--out', made, '--targets', 'linux-x64', '--kinds', 'deb', '--xz-level', '0'];
  const { code, stderr } = await run([process.execPath, join(root, 'scripts/release.ts'), ...options], 120_000);
  assert.equal(code, 0, stderr);
});

for (const suite of ['bookworm', 'trixie', 'sid']) {
  test(`deb on a minimal ${suite}: installs, does the main job, is removed`, { skip, timeout: 280_000 }, async (t) => {
    const place = join(folder, suite);
    mkdirSync(place);
    const { code, stdout } = await run(['debootstrap', '--variant=minbase', suite, place], 200_000);
    if (code !== 0 && /Failed getting release file|Couldn't download/.test(stdout)) {
      t.skip(`no mirror of ${suite} can be reached`);
      return;
    }
    assert.equal(code, 0, stdout);
    // By its whole path: without /proc the program does not find itself by its name.
    const inside = (...command: string[]): string => {
      const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' };
      const { status, stdout, stderr } = spawnSync('/usr/sbin/chroot', [place, ...command], { env, encoding: 'utf8' });
      assert.equal(status, 0, `${command.join(' ')}: ${stdout}${stderr}`);
      return stdout;
    };
    assert.ok(!existsSync(join(place, 'usr/lib/x86_64-linux-gnu/libatomic.so.1')), 'this system has libatomic');
    const deb = readdirSync(made).find((name) => name.endsWith('.deb')) ?? '';
    execFileSync('cp', [join(made, deb), join(place, 'culvert.deb')]);
    inside('dpkg', '-i', '/culvert.deb');
    assert.match(inside('/usr/bin/culvert', 'version'), /^culvert .* \(test release, /);
    assert.equal(inside('stat', '-c', '%U:%G %a', '/etc/culvert/culvert.toml').trim(), 'root:culvert 640');
    assert.equal(inside('stat', '-c', '%U:%G %a', '/var/lib/culvert').trim(), 'culvert:culvert 700');
    inside('/usr/bin/culvert', 'config', 'check', '/etc/culvert/culvert.toml');
    await doMainJobIn(t, place, '/usr/bin/culvert');
    inside('dpkg', '-r', 'culvert');
    assert.ok(!existsSync(join(place, 'usr/bin/culvert')));
    assert.ok(statSync(join(place, 'etc/culvert/culvert.toml')).isFile(), 'settings stay');
    rmSync(place, { recursive: true });
  });
}
