/** The program for other machines, as setup keeps it for the download page: from where this one was installed, if that is known. */
import { messageOf } from '../../base/errors.ts';
import { ownPlatform } from '../../base/release/signed-release.ts';
import { releasesDirOf } from '../../config/computed.ts';
import type { Settings } from '../../config/schema.ts';
import { keepRelease } from '../../server/releases/keep.ts';
import { keptVersions } from '../../server/releases/kept.ts';
import { retyped } from '../admin/operator.ts';
import { findRelease, type ReleaseReader } from '../server/find-release.ts';
import { installedFrom } from '../server/installed-from.ts';
import { confirm } from '../terminal/confirm.ts';
import { EXIT, ExitError } from '../terminal/exit.ts';
import { type Io, writeLine } from '../terminal/io.ts';

interface ToKeep {
  readonly io: Io;
  readonly flags: Readonly<Record<string, unknown>>;
  readonly settings: Settings;
  readonly file: string;
  /** Absolute path of this program. */
  readonly path: string;
  readonly program: ReleaseReader;
}

/** One line about what is kept. What fails says the command that does it later. Undefined for a program that is no release. */
export async function keepForDownload(to: ToKeep): Promise<string | undefined> {
  const { io, flags, settings, path, program } = to;
  if (program.releaseKey === null) return undefined;
  const releasesDir = releasesDirOf(settings);
  const later = `sudo ${retyped('admin releases fetch --all-platforms --from URL', to.file)}`;
  const kept = keptVersions(releasesDir).find(({ version }) => version === program.version)?.platforms ?? [];
  if (kept.includes(ownPlatform()) && flags['allPlatforms'] !== true) return `kept for ${kept.join(', ')}`;
  const from = settings.releases_url ?? installedFrom(path);
  if (from === undefined) return `none yet. For the download page: ${later}`;
  try {
    const { release, source } = await findRelease(from, { io, program, settings });
    if (release.version !== program.version) throw new Error(`the release at ${from} is ${release.version}`);
    const platforms = (await wantsAll(io, flags)) ? [...release.archives.keys()] : [ownPlatform()];
    const others = keptVersions(releasesDir).map(({ version }) => version);
    const report = (line: string): void => writeLine(io.stdout, `  ${line}`);
    await keepRelease({ release, source, releasesDir, platforms, keepVersions: others, report });
    const rest = platforms.length < release.archives.size ? `. Other platforms: ${later.replace('URL', from)}` : '';
    return `kept for ${platforms.join(', ')}${rest}`;
  } catch (error) {
    if (error instanceof ExitError && error.exitCode === EXIT.interrupted) throw error;
    return `none: ${messageOf(error)}. Later: ${later}`;
  }
}

/** Without a terminal and without the flag: this platform alone. */
async function wantsAll(io: Io, flags: ToKeep['flags']): Promise<boolean> {
  if (flags['allPlatforms'] === true) return true;
  if (flags['yes'] === true || io.stdin.isTTY !== true) return false;
  try {
    await confirm(
      io,
      flags,
      'Keep the programs for all platforms, so that others install from this server (some 250 MB)?',
    );
    return true;
  } catch (error) {
    if (error instanceof ExitError && error.exitCode !== EXIT.interrupted) return false;
    throw error;
  }
}
