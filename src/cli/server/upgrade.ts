/** `culvert upgrade`: to the release at a URL or in a folder, or back. Progress goes to standard error. */
import { resolve } from 'node:path';
import { isSea } from 'node:sea';
import { buildInfo } from '../../base/process/version.ts';
import { messageOf } from '../../base/errors.ts';
import { ownPlatform } from '../../base/release/signed-release.ts';
import { firstOf, type ReleaseSource } from '../../base/release/source.ts';
import { compareVersions } from '../../base/release/versions.ts';
import { type LoadedConfig, loadServerConfig } from '../../config/load.ts';
import { releasesDirOf } from '../../config/computed.ts';
import { keepRelease } from '../../server/releases/keep.ts';
import { keptVersions } from '../../server/releases/kept.ts';
import type { Machine } from '../../server/upgrade/machine.ts';
import { managedBy } from '../../server/upgrade/managed.ts';
import { type Newer, rollBack, upgrade } from '../../server/upgrade/upgrade.ts';
import { serverToUpgrade } from '../../server/upgrade/server-to-upgrade.ts';
import { systemdUnit } from '../../server/upgrade/unit.ts';
import { configFlag } from '../admin/operator.ts';
import type { CommandBody, Invocation } from '../terminal/command.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { findRelease, type ReleaseReader } from './find-release.ts';
import { refuseFlags, textFlag } from '../terminal/flags.ts';
import { type Io, print, writeLine } from '../terminal/io.ts';

/** The program that runs, on its machine. */
export interface Installed extends Machine, ReleaseReader {
  /** Undefined when it runs from source. */
  readonly program: string | undefined;
}

/** The command for a program, so that tests need no release of the running one. */
export const upgradeOn =
  (installed: Installed): CommandBody =>
  async (io, invocation) => {
    const { flags } = invocation;
    const loaded = loadServerConfig(configFlag(invocation), io);
    if (flags['rollback'] === true) {
      refuseFlags(flags, ['allPlatforms', 'check', 'from'], '--rollback uses the kept program. Leave this out');
      const isRestarted = await rollBack(placeOf(io, installed, loaded));
      await print(io.stdout, `The program from before the upgrade is back. ${nextText(isRestarted)}`);
      return EXIT.ok;
    }
    return toNewer(io, { installed, loaded, invocation });
  };

/** `culvert upgrade` of this program. */
export const upgradeCommand: CommandBody = (io, invocation) => {
  const { version, releaseKey } = buildInfo();
  const program = isSea() ? process.execPath : undefined;
  const machine = { root: '/', env: process.env, settleMs: 3_000 };
  return upgradeOn({ version, releaseKey, program, ...machine })(io, invocation);
};

interface Wish {
  readonly installed: Installed;
  readonly loaded: LoadedConfig;
  readonly invocation: Invocation;
}

async function toNewer(io: Io, { installed, loaded, invocation: { flags } }: Wish): Promise<ExitCode> {
  const { version } = installed;
  const found = await findRelease(textFlag(flags, 'from'), { io, program: installed, settings: loaded.settings });
  const { release, source } = found;
  const isCheck = flags['check'] === true;
  const order = compareVersions(release.version, version);
  if (order === undefined) throw new Error(`the versions ${release.version} and ${version} can't be compared`);
  if (order < 0 && !isCheck) {
    throw new Error(
      `the release at ${source.place} is ${release.version}, older than this program (${version}). To undo an upgrade: culvert upgrade --rollback`,
    );
  }
  if (order <= 0) {
    await print(io.stdout, `culvert ${version} is up to date.`);
    return EXIT.ok;
  }
  if (isCheck) {
    const from = textFlag(flags, 'from');
    const next = `culvert upgrade${from === undefined ? '' : ` --from ${from}`}`;
    await print(io.stdout, `culvert ${release.version} is available. This is ${version}. Next: ${next}`);
    return EXIT.outdated;
  }
  const place = placeOf(io, installed, loaded);
  const keep = place.server === undefined ? undefined : keeper({ io, installed, loaded, flags }, found);
  const isRestarted = await upgrade(place, { ...found, platform: ownPlatform(), keep });
  await print(io.stdout, `Upgraded culvert ${version} to ${release.version}. ${nextText(isRestarted)}`);
  return EXIT.ok;
}

interface Keeper extends Omit<Wish, 'invocation'> {
  readonly io: Io;
  readonly flags: Invocation['flags'];
}

/** Keeps the new release for the download page: the platforms of before, and this one. What fails there stops no upgrade. */
function keeper({ io, installed, loaded, flags }: Keeper, { release, source }: Pick<Newer, 'release' | 'source'>) {
  const releasesDir = releasesDirOf(loaded.settings);
  const report = (line: string): void => writeLine(io.stderr, line);
  return async (fetched: ReleaseSource): Promise<void> => {
    try {
      const before = keptVersions(releasesDir).find(({ version }) => version === installed.version)?.platforms ?? [];
      const wanted = new Set([ownPlatform(), ...(flags['allPlatforms'] === true ? release.archives.keys() : before)]);
      const platforms = [...wanted].filter((platform) => release.archives.has(platform));
      const keepVersions = [installed.version];
      await keepRelease({ release, source: firstOf(fetched, source), releasesDir, platforms, keepVersions, report });
    } catch (error) {
      report(`The files for other machines are not complete: ${messageOf(error)}. Later: culvert admin releases fetch`);
    }
  };
}

/** @throws when something else upgrades the program. */
function placeOf(io: Io, installed: Installed, { settings, file }: LoadedConfig) {
  const { program } = installed;
  if (program === undefined) {
    throw new Error('this program runs from source. Update the source and build it: npm ci && npm run build');
  }
  const managed = managedBy(program, installed);
  if (managed !== undefined) throw new Error(managed);
  const report = (line: string): void => writeLine(io.stderr, line);
  const server = file === null ? undefined : serverToUpgrade(settings, resolve(io.cwd, file));
  return { program, server, unit: systemdUnit(program, installed, report), report };
}

function nextText(isRestarted: boolean): string {
  return isRestarted
    ? 'The server has restarted. Restart agents on this machine.'
    : 'Restart the server and the agents on this machine.';
}
