/**
 * Keeps files of a release in `releases_dir`, where the server offers them to other machines. Each file is verified while it comes and gets its name
 * by a rename: a kill leaves files that are whole, and the next fetch gets the rest.
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, fchmodSync, mkdirSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '../../base/errors.ts';
import {
  INSTALLER_FILES,
  MAX_ARCHIVE_BYTES,
  SIGNATURE_FILE,
  type SignedRelease,
  SUMS_FILE,
} from '../../base/release/signed-release.ts';
import type { ReleaseSource } from '../../base/release/source.ts';
import { hasSum, inReleases, removeOthers, removeParts } from './kept.ts';

/** For all users: the server may be another than who fetches. */
const FOLDER_MODE = 0o755;
const FILE_MODE = 0o644;
/** How often a long download says how far it is. */
const SAY_MS = 5_000;

export interface Keeping {
  readonly release: SignedRelease;
  readonly source: ReleaseSource;
  readonly releasesDir: string;
  readonly platforms: readonly string[];
  /** Versions that stay besides this one. */
  readonly keepVersions: readonly string[];
  readonly report: (line: string) => void;
}

/** Fetches what is missing, then removes other versions. Rejects with what to do; what has come stays. */
export async function keepRelease(keeping: Keeping): Promise<void> {
  const { release, releasesDir, platforms, keepVersions, report } = keeping;
  const folder = join(releasesDir, release.version);
  const archives = platforms.map((platform) => archiveOf(release, platform));
  openFolder(releasesDir, folder);
  // The signature before the list: a list without its own signature would be a fault.
  putSmall(releasesDir, join(folder, SIGNATURE_FILE), release.signature);
  putSmall(releasesDir, join(folder, SUMS_FILE), release.list);
  for (const name of [...INSTALLER_FILES, ...archives]) {
    const sum = release.sums.get(name);
    if (sum === undefined) continue;
    if (await hasSum(releasesDir, join(folder, name), sum)) report(`${name}: already there`);
    else await fetchFile(keeping, { folder, name, sum });
  }
  for (const version of removeOthers(releasesDir, [release.version, ...keepVersions])) report(`Removed ${version}`);
}

function archiveOf(release: SignedRelease, platform: string): string {
  const name = release.archives.get(platform);
  if (name === undefined) throw new Error(`the release ${release.version} has no archive for ${platform}`);
  return name;
}

function openFolder(releasesDir: string, folder: string): void {
  try {
    inReleases(releasesDir, () => {
      mkdirSync(folder, { recursive: true });
      // Whatever the umask is.
      for (const made of [releasesDir, folder]) chmodSync(made, FOLDER_MODE);
      removeParts(folder);
    });
  } catch (cause) {
    if (!['EACCES', 'EPERM', 'EROFS'].includes(codeOf(cause) ?? '')) throw cause;
    throw new Error(`${releasesDir} is not writable. Run this as root or as its owner: sudo culvert …`, { cause });
  }
}

function putSmall(releasesDir: string, file: string, content: Buffer): void {
  inReleases(releasesDir, () => {
    const part = partBeside(file);
    writeFileSync(part, content, { flag: 'wx' });
    chmodSync(part, FILE_MODE);
    renameSync(part, file);
  });
}

async function fetchFile(
  { source, releasesDir, report }: Keeping,
  { folder, name, sum }: { readonly folder: string; readonly name: string; readonly sum: string },
): Promise<void> {
  const file = join(folder, name);
  const part = partBeside(file);
  report(`Fetching ${name}`);
  // Opened by the owner's rights, so that no link leads root elsewhere.
  const fd = inReleases(releasesDir, () => openSync(part, 'wx', FILE_MODE));
  fchmodSync(fd, FILE_MODE);
  const progress = progressOf(name, report);
  try {
    await source.save(name, fd, { sum, maxBytes: MAX_ARCHIVE_BYTES, onBytes: progress.add });
    inReleases(releasesDir, () => renameSync(part, file));
    progress.end();
  } catch (error) {
    inReleases(releasesDir, () => rmSync(part, { force: true }));
    throw error;
  }
}

function progressOf(name: string, report: (line: string) => void) {
  let bytes = 0;
  let saidAt = performance.now();
  const text = (): string => `${(bytes / 1_000_000).toFixed(1)} MB`;
  return {
    add: (count: number): void => {
      bytes += count;
      if (performance.now() - saidAt < SAY_MS) return;
      saidAt = performance.now();
      report(`  ${name}: ${text()} so far`);
    },
    end: (): void => report(`  ${name}: ${text()}`),
  };
}

function partBeside(file: string): string {
  return join(file, '..', `.culvert-${randomBytes(6).toString('hex')}.part`);
}
