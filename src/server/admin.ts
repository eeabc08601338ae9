/**
 * What `culvert admin` and `culvert backup` do to a data folder, beside a running server or without one.
 */
import type { Logger } from '../base/log.ts';
import type { Settings } from '../config/schema.ts';
import { copyDatabase, lockDataDir, openDatabase } from '../control/db/open.ts';
import type { CreatedUser } from '../control/services/accounts.ts';
import { openControlPlane } from './control-plane.ts';

/** Makes a verified account with an organization of its own and a random password. Throws `invalid_request`, `conflict`. */
export async function createUser(
  settings: Settings,
  input: { email: string; superadmin: boolean },
  log: Logger,
): Promise<CreatedUser> {
  const unlock = tryLock(settings.data_dir);
  try {
    const control = openControlPlane(settings, {
      edgeTemplate: () => settings.edge.public_url,
      apiUrl: () => settings.api.public_url,
      log,
      besideServer: unlock === undefined,
    });
    try {
      const plan = input.superadmin ? 'enterprise' : settings.plans.default;
      return await control.accounts.createUser({ ...input, name: '', plan });
    } finally {
      control.close();
    }
  } finally {
    unlock?.();
  }
}

/** Copies the database as of now to a file that must not exist. The sealing key is not in it. */
export function backupDatabase(settings: Settings, file: string): void {
  const sqlite = openDatabase(settings.data_dir);
  try {
    copyDatabase(sqlite, file);
  } finally {
    sqlite.close();
  }
}

/** The unlocker, or undefined when a server holds the folder: both are fine here. */
function tryLock(dataDir: string): (() => void) | undefined {
  try {
    return lockDataDir(dataDir);
  } catch {
    return undefined;
  }
}
