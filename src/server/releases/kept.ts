/** What `releases_dir` holds: a folder for each version that is kept. All work in it is by the rights of its owner (upgrade/owner.ts). */
import {
  closeSync,
  constants,
  createReadStream,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  rmSync,
} from 'node:fs';
import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { codeOf } from '../../base/errors.ts';
import { compareVersions } from '../../base/release/versions.ts';
import { asOwner } from '../upgrade/owner.ts';

/** Of a fetch that was cut short: one that runs writes more often. */
const STALE_MS = 600_000;
const PART = /^\.culvert-[0-9a-f]+\.part$/;
const ARCHIVE = /-((?:linux|darwin|windows)-(?:x64|arm64))\.(?:tar\.gz|zip)$/;

export interface KeptVersion {
  readonly version: string;
  /** Whose archive is there, valid or not: the server verifies what it offers. */
  readonly platforms: readonly string[];
  readonly bytes: number;
}

/** Runs work by the rights of the folder's owner, or of the folder that it will be in. */
export function inReleases<T>(releasesDir: string, work: () => T): T {
  let at = releasesDir;
  while (!existsSync(at) && dirname(at) !== at) at = dirname(at);
  return asOwner(at, work);
}

/** Newest first. Empty when nothing was ever fetched. */
export function keptVersions(releasesDir: string): readonly KeptVersion[] {
  return inReleases(releasesDir, () =>
    versionsIn(releasesDir).map((version) => {
      const folder = join(releasesDir, version);
      const names = readdirSync(folder).filter((name) => !PART.test(name));
      const platforms = names.flatMap((name) => ARCHIVE.exec(name)?.[1] ?? []);
      const sizes = names.map((name) => lstatSync(join(folder, name)).size);
      return { version, platforms, bytes: sizes.reduce((sum, size) => sum + size, 0) };
    }),
  );
}

/** Removes the folders of all versions but these, and returns what went. */
export function removeOthers(releasesDir: string, keep: readonly string[]): readonly string[] {
  return inReleases(releasesDir, () => {
    const gone = versionsIn(releasesDir).filter((version) => !keep.includes(version));
    for (const version of gone) rmSync(join(releasesDir, version), { recursive: true, force: true });
    return gone;
  });
}

/** Removes what a fetch has left that was cut short. */
export function removeParts(folder: string): void {
  for (const name of readdirSync(folder).filter((one) => PART.test(one))) {
    const found = lstatSync(join(folder, name), { throwIfNoEntry: false });
    if (found !== undefined && Date.now() - found.mtimeMs > STALE_MS) rmSync(join(folder, name), { force: true });
  }
}

/** The file has this hash. False for a link, too. */
export async function hasSum(releasesDir: string, file: string, sum: string): Promise<boolean> {
  const fd = inReleases(releasesDir, () => openPlain(file));
  if (fd === undefined) return false;
  const hash = createHash('sha256');
  for await (const piece of createReadStream('', { fd, start: 0 })) hash.update(piece as Buffer);
  return hash.digest('hex') === sum;
}

/** Undefined when there is no regular file. */
function openPlain(file: string): number | undefined {
  let fd: number;
  try {
    // A pipe would wait for its writer.
    fd = openSync(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    if (['ENOENT', 'ELOOP'].includes(codeOf(error) ?? '')) return undefined;
    throw error;
  }
  if (fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  return undefined;
}

function versionsIn(releasesDir: string): readonly string[] {
  if (!existsSync(releasesDir)) return [];
  const folders = readdirSync(releasesDir, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return folders
    .map(({ name }) => name)
    .filter((name) => compareVersions(name, name) !== undefined)
    .sort((a, b) => compareVersions(b, a) ?? 0);
}
