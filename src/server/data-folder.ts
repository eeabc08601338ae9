/**
 * The data folder as a command finds it: whose it is, and what must be in it. Used by admin.ts and backup.ts.
 */
import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { codeOf, messageOf } from '../base/errors.ts';
import { userName } from '../base/process/file-fault.ts';
import { DATABASE_FILE } from '../control/db/open.ts';
import { missingKey, SEAL_KEY_FILE } from '../control/core/secrets/sealing.ts';

/**
 * Throws with what to type when the folder is another user's (files made by root would lock the server out), and with what is missing
 * when no server ever ran on it: nothing is made here. `command`: how the caller's command is typed.
 */
export function requireDataFolder(dataDir: string, command: string): void {
  const folder = resolve(dataDir);
  const owner = ownerOf(folder);
  const me = process.getuid?.();
  if (me !== undefined && me !== owner) {
    const name = userName(owner);
    throw new Error(`${folder} belongs to the user ${name}. Run this as that user: sudo -u ${name} ${command}`);
  }
  if (!existsSync(join(folder, DATABASE_FILE))) {
    throw new Error(
      `there is no ${DATABASE_FILE} in ${folder}. Check data_dir. The first start of culvert serve creates the database and the first account.`,
    );
  }
  // A copy of it would pass for a backup.
  if (statSync(join(folder, DATABASE_FILE)).size === 0) {
    throw new Error(
      `${DATABASE_FILE} in ${folder} is empty (0 bytes). Mount the volume of the database or restore it from a backup.`,
    );
  }
  if (!existsSync(join(folder, SEAL_KEY_FILE))) throw new Error(missingKey(folder));
}

function ownerOf(folder: string): number {
  try {
    return statSync(folder).uid;
  } catch (cause) {
    const reason = codeOf(cause) === 'ENOENT' ? 'it does not exist' : messageOf(cause);
    throw new Error(
      `the data folder ${folder} can't be used: ${reason}. Choose the settings file with --config or CULVERT_CONFIG. ` +
        'The first start of culvert serve creates the folder.',
      { cause },
    );
  }
}
