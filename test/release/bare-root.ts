/** A folder to `chroot` into with the C and C++ libraries of this machine and nothing else: no libatomic, no shell. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { missing } from '../harness/tools.ts';

/** A reason to skip, or false. */
export function noBareRoot(): string | false {
  if (process.platform !== 'linux') return 'chroot and ldd are of Linux';
  if (process.getuid?.() !== 0) return 'chroot needs root';
  return missing('chroot', 'ldd');
}

/** Copies what `programs` are linked against. */
export function makeBareRoot(folder: string, ...programs: string[]): void {
  for (const name of ['tmp', 'dev', 'proc']) mkdirSync(join(folder, name), { recursive: true });
  const listed = execFileSync('ldd', programs, { encoding: 'utf8' });
  // Lines of a library are indented; the others name what it is for.
  for (const [, path = ''] of listed.matchAll(/^\s.*?(\/\S+)/gm)) {
    if (path.includes('libatomic')) continue;
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    copyFileSync(path, join(folder, path));
  }
}
