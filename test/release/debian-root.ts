/** Minimal Debian systems that debootstrap makes in a folder, and commands inside of them. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { run } from '../harness/tools.ts';

/** A new folder for systems. Not in memory: each has half a gigabyte. */
export function systemsFolder(name: string): string {
  return mkdtempSync(join(tmpdir().startsWith('/dev/shm') ? '/var/tmp' : tmpdir(), `culvert-${name}-`));
}

/** Runs a command with the system as its root; it must succeed. Returns its output. By its whole path: without /proc a program does not find itself by its name. */
export type Inside = (...command: string[]) => string;

/** Makes the system in `place`, with `packages` besides the smallest set. Undefined, and the test skipped: no mirror can be reached. */
export async function makeDebian(
  t: TestContext,
  place: string,
  { suite, packages = [] }: { readonly suite: string; readonly packages?: readonly string[] },
): Promise<Inside | undefined> {
  mkdirSync(place);
  const include = packages.length > 0 ? [`--include=${packages.join(',')}`] : [];
  const { code, stdout } = await run(['debootstrap', '--variant=minbase', ...include, suite, place], 260_000);
  if (code !== 0 && /Failed getting release file|Couldn't download/.test(stdout)) {
    t.skip(`no mirror of ${suite} can be reached`);
    return undefined;
  }
  assert.equal(code, 0, stdout);
  return (...command) => {
    const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' };
    const { status, stdout, stderr } = spawnSync('/usr/sbin/chroot', [place, ...command], { env, encoding: 'utf8' });
    assert.equal(status, 0, `${command.join(' ')}: ${stdout}${stderr}`);
    return stdout;
  };
}
