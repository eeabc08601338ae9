/**
 * Completion scripts and the man page beside a program: an installer (scripts/get.sh) has put them there, and an upgrade renews those. A file that is not
 * there stays away. Where the program of a package is, the package has them.
 */
import { createReadStream, existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { tarFiles } from './unpack.ts';

/** As get.sh installs them, below `share`. */
export const SHARED_FILES: readonly string[] = [
  'bash-completion/completions/culvert',
  'fish/vendor_completions.d/culvert.fish',
  'man/man1/culvert.1',
  'zsh/site-functions/_culvert',
];
const FILE_MODE = 0o644;

/** Of the archive of a release. Resolves with the files that were replaced. @throws when one can't be */
export async function renewSharedFiles(program: string, archive: string): Promise<string[]> {
  const folder = dirname(program);
  if (basename(folder) !== 'bin' || !archive.endsWith('.tar.gz')) return [];
  const share = join(dirname(folder), 'share');
  const installed = SHARED_FILES.filter((file) => existsSync(join(share, file)));
  if (installed.length === 0) return [];
  const root = basename(archive).replace(/\.tar\.gz$/, '');
  const wanted = new Map(installed.map((file) => [`${root}/share/${file}`, join(share, file)]));
  const renewed: string[] = [];
  const tar = createGunzip();
  // What fails there ends the reading here.
  pipeline(createReadStream(archive), tar, () => undefined);
  for await (const { name, content } of tarFiles(tar, new Set(wanted.keys()))) {
    const path = wanted.get(name) as string;
    replaceFile(path, content);
    renewed.push(path);
  }
  return renewed;
}

/** In one step: a shell that starts meanwhile reads the one or the other. */
function replaceFile(path: string, content: Buffer): void {
  const fresh = `${path}.new`;
  try {
    writeFileSync(fresh, content, { mode: FILE_MODE });
    renameSync(fresh, path);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw error;
  }
}
