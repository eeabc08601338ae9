// group: slow
/** The package for Debian in minimal systems that debootstrap makes: install, main job, remove. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { missing, run } from '../harness/tools.ts';
import { noBareRoot } from './bare-root.ts';
import { makeDebian, systemsFolder } from './debian-root.ts';
import { doMainJobIn } from './main-job.ts';

const root = join(import.meta.dirname, '../..');
const folder = systemsFolder('debian');
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
    const inside = await makeDebian(t, place, { suite });
    if (inside === undefined) return;
    assert.ok(!existsSync(join(place, 'usr/lib/x86_64-linux-gnu/libatomic.so.1')), 'this system has libatomic');
    const deb = readdirSync(made).find((name) => name.endsWith('.deb')) ?? '';
    execFileSync('cp', [join(made, deb), join(place, 'culvert.deb')]);
    inside('dpkg', '-i', '/culvert.deb');
    assert.match(inside('/usr/bin/culvert', 'version'), /^culvert .* \(test release, /);
    assert.equal(inside('stat', '-c', '%U:%G %a', '/etc/culvert/culvert.toml').trim(), 'root:culvert 640');
    assert.equal(inside('stat', '-c', '%U:%G %a', '/var/lib/culvert').trim(), 'culvert:culvert 700');
    inside('/usr/bin/culvert', 'config', 'check', '/etc/culvert/culvert.toml');
    for (const file of [
      'bash-completion/completions/culvert',
      'zsh/vendor-completions/_culvert',
      'man/man1/culvert.1.gz',
    ])
      assert.ok(existsSync(join(place, 'usr/share', file)), file);
    await doMainJobIn(t, place, '/usr/bin/culvert');
    inside('dpkg', '-r', 'culvert');
    for (const file of ['usr/bin/culvert', 'usr/share/man/man1/culvert.1.gz'])
      assert.ok(!existsSync(join(place, file)), file);
    assert.ok(statSync(join(place, 'etc/culvert/culvert.toml')).isFile(), 'settings stay');
    rmSync(place, { recursive: true });
  });
}
