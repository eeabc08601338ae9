/** A data folder on a disk of a few megabytes, which fills. */
import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Ends } from '../harness/ends.ts';
import { missing } from '../harness/tools.ts';

/** A reason to skip, or false. */
export function noSmallDisks(): string | false {
  if (process.platform !== 'linux') return 'small disks need Linux';
  if (process.getuid?.() !== 0) return 'small disks need root';
  const without = missing('mount', 'umount');
  if (without !== false) return without;
  const at = mkdtempSync(join(tmpdir(), 'culvert-probe-'));
  try {
    mountDisk(at, 1);
    unmount(at);
    return false;
  } catch (error) {
    return `no mounts here: ${String(error).split('\n')[0]}`;
  } finally {
    rmSync(at, { recursive: true });
  }
}

/** A new folder whose `data` is a disk of so many megabytes; both go with the test. */
export function smallDisk(t: Ends, megabytes: number): string {
  const folder = mkdtempSync(join(tmpdir(), 'culvert-small-'));
  const data = join(folder, 'data');
  mkdirSync(data, { mode: 0o700 });
  mountDisk(data, megabytes);
  t.after(() => {
    unmount(data);
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

/** Another program's file, which can be removed again, takes all that is left but so many bytes. */
export function fillDisk(dataDir: string, leaving = 0): string {
  const name = join(dataDir, 'another-file');
  const file = openSync(name, 'a');
  const page = Buffer.alloc(4_096);
  try {
    for (;;) {
      const { bavail, bsize } = statfsSync(dataDir);
      if (bavail * bsize <= leaving) return name;
      writeSync(file, page);
    }
  } finally {
    closeSync(file);
  }
}

export function remountReadOnly(at: string): void {
  execFileSync('mount', ['-o', 'remount,ro', at], { stdio: 'pipe' });
}

function mountDisk(at: string, megabytes: number): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0700`, 'tmpfs', at], { stdio: 'pipe' });
}

function unmount(at: string): void {
  execFileSync('umount', ['-l', at], { stdio: 'pipe' });
}
