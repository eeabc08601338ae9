/** `culvert upgrade`: to the release at a URL or in a folder, or back. Progress goes to standard error. */
import { resolve } from 'node:path';
import { isSea } from 'node:sea';
import { buildInfo } from '../../base/process/version.ts';
import { ownPlatform, readRelease } from '../../base/release/signed-release.ts';
import { openSource } from '../../base/release/source.ts';
import { compareVersions } from '../../base/release/versions.ts';
import { type LoadedConfig, loadServerConfig } from '../../config/load.ts';
import type { Machine } from '../../server/upgrade/machine.ts';
import { managedBy } from '../../server/upgrade/managed.ts';
import { type Newer, rollBack, upgrade } from '../../server/upgrade/upgrade.ts';
import { serverToUpgrade } from '../../server/upgrade/server-to-upgrade.ts';
import { systemdUnit } from '../../server/upgrade/unit.ts';
import { configFlag } from '../admin/operator.ts';
import type { CommandBody, Invocation } from '../terminal/command.ts';
import { EXIT, type ExitCode, usageError } from '../terminal/exit.ts';
import { refuseFlags, textFlag } from '../terminal/flags.ts';
import { type Io, print, writeLine } from '../terminal/io.ts';

/** The program that runs, on its machine. */
export interface Installed extends Machine {
  readonly version: string;
  /** Null in a build that is no release. */
  readonly releaseKey: string | null;
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
      refuseFlags(flags, ['check', 'from'], '--rollback uses the kept program. Leave this out');
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
  const newer = await findRelease(textFlag(flags, 'from'), { io, installed, loaded });
  const { release, source } = newer;
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
    await print(io.stdout, `culvert ${release.version} is available. This is ${version}. Next: culvert upgrade`);
    return EXIT.outdated;
  }
  const isRestarted = await upgrade(placeOf(io, installed, loaded), newer);
  await print(io.stdout, `Upgraded culvert ${version} to ${release.version}. ${nextText(isRestarted)}`);
  return EXIT.ok;
}

/** The signed release at `from`, or else at `releases_url`. */
async function findRelease(
  from: string | undefined,
  { io, installed, loaded }: { io: Io; installed: Installed; loaded: LoadedConfig },
): Promise<Newer> {
  if (installed.releaseKey === null) {
    throw new Error(
      'this program was not built as a release, so it has no key to verify one. Build the new version instead.',
    );
  }
  const place = from ?? loaded.settings.releases_url;
  if (place === null) throw usageError('name the release with --from URL or --from FOLDER, or set releases_url.');
  const source = openSource(/^https?:\/\//i.test(place) ? place : resolve(io.cwd, place));
  return { source, release: await readRelease(source, installed.releaseKey), platform: ownPlatform() };
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
