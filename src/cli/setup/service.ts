/** The server as a service: its user, data folder and unit, and its start. */
import {
  chownSync,
  existsSync,
  lchownSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { ExitError, EXIT } from '../terminal/exit.ts';
import type { Host } from './host.ts';
import { type Owner, readIfThere } from './config-file.ts';
import { isOwnUnit, unitText, withProgram } from './unit.ts';

/** Where packages and the install script put it, the administrator's first. */
export const UNIT_FOLDERS = [
  '/etc/systemd/system',
  '/usr/local/lib/systemd/system',
  '/usr/lib/systemd/system',
  '/lib/systemd/system',
];
const UNIT = 'culvert.service';

/** Each returns what it did, for one line of output. */
export type Done = 'written' | 'created' | 'unchanged' | 'given to the user culvert';

/** The system user that the server runs as. */
export async function ensureUser(host: Host, dataDir: string): Promise<Done> {
  if (host.serverUser('') !== undefined) return 'unchanged';
  const args = [
    '--system',
    '--user-group',
    '--no-create-home',
    '--home-dir',
    dataDir,
    '--shell',
    '/usr/sbin/nologin',
    'culvert',
  ];
  const { code, output } = await host.run('useradd', args);
  if (code === 0) return 'created';
  throw new ExitError(
    EXIT.failure,
    `the user culvert can't be created: ${output}. Create it yourself (useradd --system culvert), and run setup again`,
  );
}

/** Only the server's user may look inside. A folder that is there stays as it is, unless it is root's: a restore made it before there was a user. */
export function ensureDataFolder(host: Host, root: string, dataDir: string): Done {
  const folder = root + dataDir;
  const isNew = !existsSync(folder);
  if (isNew) mkdirSync(folder, { recursive: true, mode: 0o700 });
  const user = host.serverUser(root);
  const isGiven = host.isRoot && user !== undefined && statSync(folder).uid === 0 && user.uid !== 0;
  if (isGiven) giveTo(realpathSync(folder), user);
  if (isNew) return 'created';
  return isGiven ? 'given to the user culvert' : 'unchanged';
}

/** With all that is in it; the targets of links stay as they are. */
function giveTo(folder: string, user: Owner): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) giveTo(path, user);
    else lchownSync(path, user.uid, user.gid);
  }
  chownSync(folder, user.uid, user.gid);
}

/** A unit of its own starts this program. The unit of a package or of the install script is left alone. */
export function ensureUnit(host: Host, root: string): Done {
  if (hasForeignUnit(root)) return 'unchanged';
  const file = join(root + UNIT_FOLDERS[0], UNIT);
  const existing = readIfThere(file);
  const wanted = existing === undefined ? unitText(host.program) : withProgram(existing, host.program);
  if (existing === wanted) return 'unchanged';
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, wanted, { mode: 0o644 });
  return 'written';
}

/** The first unit that systemd would find is none of setup's. */
export function hasForeignUnit(root: string): boolean {
  const files = UNIT_FOLDERS.map((folder) => join(root + folder, UNIT));
  const unit = files.map(readIfThere).find((text) => text !== undefined);
  return unit !== undefined && !isOwnUnit(unit);
}

export interface StartWishes {
  readonly isRunning: boolean;
  /** A setting or a unit changed: a running server must take it up. */
  readonly hasChanged: boolean;
  /** Socket units of the listeners that the settings have, and of those that they turn off. */
  readonly sockets: { readonly held: readonly string[]; readonly idle: readonly string[] };
}

/** Starts, restarts, or leaves a server that runs on these settings alone. Throws with the unit's log when it does not start. */
export async function startService(
  host: Host,
  { isRunning, hasChanged, sockets: { held, idle } }: StartWishes,
): Promise<'started' | 'restarted' | 'unchanged'> {
  if (isRunning && !hasChanged) return 'unchanged';
  await must(host, ['daemon-reload']);
  if (idle.length > 0) await must(host, ['disable', '--now', ...idle]);
  await must(host, ['enable', ...held, 'culvert']);
  // A socket unit does not start while the service runs, and visitors at the first one would start the service without the others.
  await must(host, ['stop', ...held, 'culvert']);
  if (held.length > 0) await must(host, ['start', ...held]);
  await must(host, ['start', 'culvert']);
  return isRunning ? 'restarted' : 'started';
}

async function must(host: Host, args: readonly string[]): Promise<void> {
  const { code, output } = await host.run('systemctl', args);
  if (code === 0) return;
  throw new ExitError(
    EXIT.failure,
    `systemctl ${args.join(' ')} failed: ${output}. Read the log: journalctl -u culvert -n 30`,
  );
}
