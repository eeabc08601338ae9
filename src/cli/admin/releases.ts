/** `culvert admin releases`: the files that this server offers on its download page. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { buildInfo } from '../../base/process/version.ts';
import { ownPlatform } from '../../base/release/signed-release.ts';
import { loadServerConfig } from '../../config/load.ts';
import { releasesDirOf } from '../../config/computed.ts';
import type { Settings } from '../../config/schema.ts';
import { keepRelease } from '../../server/releases/keep.ts';
import { keptVersions } from '../../server/releases/kept.ts';
import { findRelease, type ReleaseReader } from '../server/find-release.ts';
import { installedFrom } from '../server/installed-from.ts';
import { amountOf } from '../terminal/amount.ts';
import type { CommandBody, Invocation } from '../terminal/command.ts';
import { EXIT, type ExitCode, usageError } from '../terminal/exit.ts';
import { refuseFlags, textFlag } from '../terminal/flags.ts';
import { type Io, print, writeLine } from '../terminal/io.ts';
import { jsonText } from '../terminal/paint.ts';
import { tableLines } from '../terminal/table.ts';
import { configFlag } from './operator.ts';

/** The command for a program, so that tests need no release of the running one. */
interface OwnProgram extends ReleaseReader {
  /** Where its file is. */
  readonly path: string;
}

export const releasesOf =
  (program: OwnProgram): CommandBody =>
  (io, invocation) => {
    const [action = 'list'] = invocation.args;
    const { settings } = loadServerConfig(configFlag(invocation), io);
    if (action === 'list') return list(io, { invocation, settings, program });
    if (action === 'fetch') return fetchOwn(io, { invocation, settings, program });
    throw usageError(`there is no command "admin releases ${action}". Use "fetch", or no argument for the list`);
  };

export const releases: CommandBody = (io, invocation) =>
  releasesOf({ ...buildInfo(), path: process.execPath })(io, invocation);

interface Wish {
  readonly invocation: Invocation;
  readonly settings: Settings;
  readonly program: OwnProgram;
}

async function list(io: Io, { invocation: { flags }, settings, program }: Wish): Promise<ExitCode> {
  refuseFlags(flags, ['from', 'allPlatforms'], 'only "admin releases fetch" takes this');
  const kept = keptVersions(releasesDirOf(settings));
  if (flags['json'] === true) {
    await print(io.stdout, jsonText(kept));
    return EXIT.ok;
  }
  const rows = kept.map(({ version, platforms, bytes }) => [
    version === program.version ? `${version} (this server)` : version,
    platforms.join(', '),
    amountOf(bytes),
  ]);
  await print(io.stdout, tableLines(['version', 'platforms', 'size'], rows).join('\n'));
  if (!kept.some(({ version }) => version === program.version))
    writeLine(io.stderr, `There are no files of ${program.version}. Next: culvert admin releases fetch`);
  return EXIT.ok;
}

async function fetchOwn(io: Io, { invocation: { flags }, settings, program }: Wish): Promise<ExitCode> {
  const installed = settings.releases_url === null ? installedFrom(program.path) : undefined;
  const { release, source } = await findRelease(textFlag(flags, 'from') ?? installed, { io, program, settings });
  const { version } = program;
  if (release.version !== version) {
    throw new Error(
      `the release at ${source.place} is ${release.version}, and this program is ${version}. Name the release of this version with --from, or run culvert upgrade first.`,
    );
  }
  requireDataDir(settings);
  const releasesDir = releasesDirOf(settings);
  const platforms = flags['allPlatforms'] === true ? [...release.archives.keys()] : [ownPlatform()];
  const report = (line: string): void => writeLine(io.stderr, line);
  // The one from before, for the way back.
  const previous = keptVersions(releasesDir).find((one) => one.version !== version);
  const keepVersions = previous === undefined ? [] : [previous.version];
  await keepRelease({ release, source, releasesDir, platforms, keepVersions, report });
  await print(io.stdout, `culvert ${version} for ${platforms.join(', ')} is in ${join(releasesDir, version)}.`);
  return EXIT.ok;
}

/** A folder of root would keep the server from starting. */
function requireDataDir({ data_dir: dataDir, releases_dir: folder }: Settings): void {
  if (folder !== null || existsSync(dataDir)) return;
  throw new Error(`there is no ${resolve(dataDir)}. Run culvert setup first, or name the settings file with --config.`);
}
