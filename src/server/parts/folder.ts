/** The data folder: locked for this server, with room to start in, and with the socket of `culvert admin`. */
import { systemClock } from '../../base/clock.ts';
import type { Lifecycle } from '../../base/process/lifecycle.ts';
import { makeStartRoom } from '../../control/db/disk/reserve.ts';
import { lockDataDir } from '../../control/db/open.ts';
import { setRemainsAside } from '../../control/db/remains.ts';
import { type AdminSocket, openAdminSocket } from '../admin-socket.ts';
import type { Starting } from './starting.ts';

/** Throws with what to do when another server has the folder, or it can't be used. */
export async function openFolder(life: Lifecycle, { settings, options, log }: Starting): Promise<AdminSocket> {
  const { data_dir: dataDir } = settings;
  life.onClose('data folder', lockDataDir(dataDir));
  if (options.newServer === true) {
    const aside = setRemainsAside(dataDir, systemClock.now());
    if (aside !== undefined) log.warn({ aside }, 'moved the files of the previous server aside; starting a new server');
  }
  makeStartRoom(dataDir, log);
  const operators = await openAdminSocket(dataDir);
  life.onClose('culvert admin socket', () => operators.close());
  return operators;
}
