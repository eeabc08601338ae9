// group: slow
/** The package for Fedora and its relatives, installed by Debian's rpm in a system with systemd's tools: its scripts run, the program works. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { missing, run } from '../harness/tools.ts';
import { noBareRoot } from './bare-root.ts';
import { makeDebian, systemsFolder } from './debian-root.ts';
import { doMainJobIn } from './main-job.ts';

const root = join(import.meta.dirname, '../..');
const folder = systemsFolder('rpm');
after(() => rmSync(folder, { recursive: true }));

const without = missing('debootstrap', 'rpm', 'rpmbuild');
const skip = noBareRoot() || without || (process.arch !== 'x64' && 'this machine is not x64');

test('rpm: installs with its users, does the main job, is removed', { skip, timeout: 600_000 }, async (t) => {
  const made = join(folder, 'release');
  const options = ['--out', made, '--targets', 'linux-x64', '--kinds', 'rpm', '--xz-level', '0'];
  const { code, stderr } = await run([process.execPath, join(root, 'scripts/release.ts'), ...options], 120_000);
  assert.equal(code, 0, stderr);
  const place = join(folder, 'system');
  const inside = await makeDebian(t, place, { suite: 'bookworm', packages: ['systemd'] });
  if (inside === undefined) return;
  const file = readdirSync(made).find((name) => name.endsWith('.rpm')) ?? '';
  // Debian's packages stand for the ones that it requires, which rpm can't know.
  const rpm = (...args: string[]): unknown => execFileSync('rpm', ['--root', place, '--nodeps', ...args]);
  rpm('--install', join(made, file));
  assert.match(inside('/usr/bin/culvert', 'version'), /^culvert .* \(test release, /);
  const owner = (path: string): string => inside('stat', '-c', '%U:%G %a', path).trim();
  assert.equal(owner('/etc/culvert/culvert.toml'), 'root:culvert 640');
  assert.equal(owner('/var/lib/culvert'), 'culvert:culvert 700');
  assert.equal(owner('/etc/culvert/agents'), 'root:culvert-agent 750');
  inside('/usr/bin/culvert', 'config', 'check', '/etc/culvert/culvert.toml');
  for (const name of ['bash-completion/completions/culvert', 'zsh/site-functions/_culvert', 'man/man1/culvert.1.gz'])
    assert.ok(existsSync(join(place, 'usr/share', name)), name);
  await doMainJobIn(t, place, '/usr/bin/culvert');
  rpm('--erase', 'culvert');
  assert.ok(!existsSync(join(place, 'usr/bin/culvert')));
  assert.ok(existsSync(join(place, 'var/lib/culvert')), 'data stays');
});
