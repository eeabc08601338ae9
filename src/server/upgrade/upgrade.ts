/**
 * `culvert upgrade`: puts the program of a newer release in the place of this one, and back. Every step is one rename, or makes a copy that a later
 * step uses: a kill at any of them leaves a server that starts. `report` is called before each step.
 */
import { chmodSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { codeOf, messageOf } from '../../base/errors.ts';
import { keptProgram, replaceProgram, restoreProgram } from '../../base/release/replace.ts';
import { renewSharedFiles } from '../../base/release/shared-files.ts';
import { MAX_ARCHIVE_BYTES, type SignedRelease } from '../../base/release/signed-release.ts';
import { openSource, type ReleaseSource } from '../../base/release/source.ts';
import { unpackProgram } from '../../base/release/unpack.ts';
import { runProgram } from './run-program.ts';
import type { ServerToUpgrade } from './server-to-upgrade.ts';
import type { Unit } from './unit.ts';

/** Beside the program: a rename needs the same file system. What a killed upgrade left in it is removed by the next one. */
const WORK_FOLDER = '.culvert-upgrade';
/** For all users: the server runs as one, and agents as others. */
const PROGRAM_MODE = 0o755;

interface Place {
  /** The file that is replaced. */
  readonly program: string;
  /** Undefined where no server is set up. */
  readonly server: ServerToUpgrade | undefined;
  readonly unit: Unit;
  readonly report: (line: string) => void;
}

export interface Newer {
  readonly release: SignedRelease;
  readonly source: ReleaseSource;
  /** As archives are named. */
  readonly platform: string;
  /** Keeps files for other machines, before the program is replaced. `fetched`: what is here already. Never rejects. */
  readonly keep?: ((fetched: ReleaseSource) => Promise<void>) | undefined;
}

/** Replaces the program and restarts the server; false when no unit runs it. Rejects with the reason when it can't. */
export async function upgrade(place: Place, newer: Newer): Promise<boolean> {
  const { program, server, unit, report } = place;
  const work = openWorkFolder(program);
  try {
    const { fresh, archive } = await fetchProgram(work, newer, place);
    await server?.test(fresh, report);
    await newer.keep?.(openSource(work));
    replaceProgram(program, fresh, report);
    await renewShared(program, archive, report);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  try {
    return await unit.restart();
  } catch (cause) {
    throw new Error(`${messageOf(cause)}. To go back: culvert upgrade --rollback`, { cause });
  }
}

/** Puts the kept program back, and the database where it has to be. Resolves and rejects as `upgrade`. */
export async function rollBack({ program, server, unit, report }: Place): Promise<boolean> {
  const kept = keptProgram(program);
  if (!existsSync(kept)) throw new Error(`there is no ${kept}: culvert upgrade has replaced no program here`);
  report(`Running ${kept}`);
  const version = (await runProgram(kept, ['version'])).trim();
  const copy = await server?.copyFor(kept, report);
  if (copy !== undefined) unit.stop();
  try {
    // The database first: this program migrates the older one again, but the older program does not start with the newer one.
    if (copy !== undefined) server?.replaceDatabase(copy, report);
    report(`Putting ${version} back as ${program}`);
    restoreProgram(program);
  } catch (error) {
    if (copy !== undefined) await unit.restart();
    throw error;
  }
  return unit.restart();
}

async function fetchProgram(
  work: string,
  { release, source, platform }: Newer,
  { program, report }: Place,
): Promise<{ readonly fresh: string; readonly archive: string }> {
  const name = release.archives.get(platform);
  const sum = name === undefined ? undefined : release.sums.get(name);
  if (name === undefined || sum === undefined) {
    throw new Error(`the release ${release.version} has no archive for ${platform}`);
  }
  report(`Fetching ${name}`);
  const archive = join(work, name);
  await source.save(name, archive, { sum, maxBytes: MAX_ARCHIVE_BYTES });
  report('Unpacking the program');
  const fresh = join(work, basename(program));
  await unpackProgram(archive, fresh);
  chmodSync(fresh, PROGRAM_MODE); // whatever the umask of root is
  report('Running its version command');
  const printed = await runProgram(fresh, ['version']);
  if (!printed.startsWith(`culvert ${release.version} `)) {
    throw new Error(`the archive of ${release.version} has another program: ${printed.trim().slice(0, 100)}`);
  }
  return { fresh, archive };
}

/** The program is replaced by now: what fails here is no reason to go back. */
async function renewShared(program: string, archive: string, report: Place['report']): Promise<void> {
  try {
    for (const file of await renewSharedFiles(program, archive)) report(`Replacing ${file}`);
  } catch (error) {
    report(`Completion and man page stay as they were: ${messageOf(error)}. See: culvert help completion`);
  }
}

function openWorkFolder(program: string): string {
  const folder = dirname(resolve(program));
  const work = join(folder, WORK_FOLDER);
  try {
    rmSync(work, { recursive: true, force: true });
    mkdirSync(work);
    chmodSync(work, PROGRAM_MODE); // the owner of the data folder runs the program from here
    return work;
  } catch (cause) {
    if (!['EACCES', 'EPERM', 'EROFS'].includes(codeOf(cause) ?? '')) throw cause;
    throw new Error(`${folder} is not writable. Run this as its owner: sudo culvert upgrade`, { cause });
  }
}
