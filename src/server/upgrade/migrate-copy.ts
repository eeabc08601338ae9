/** Migrates a copy of a database, as the first start of this version would. Another version runs this by `config check --migrate`. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { silentLog } from '../../base/log.ts';
import { SEAL_KEY_FILE } from '../../control/core/secrets/sealing.ts';
import { DatabaseIsNewer, migrate } from '../../control/db/migrate.ts';
import { MIGRATIONS } from '../../control/db/migrations.gen.ts';
import { DATABASE_FILE, lockDataDir, openDatabase } from '../../control/db/open.ts';

/** False when the database is newer than this program. @throws when the folder has no copy, is a data folder, or the migration fails. */
export function migrateCopy(folder: string): boolean {
  if (!existsSync(join(folder, DATABASE_FILE))) throw new Error(`there is no ${DATABASE_FILE} in ${folder}`);
  if (existsSync(join(folder, SEAL_KEY_FILE))) {
    throw new Error(`${folder} is the data folder of a server. Copy its database to another folder, and name that.`);
  }
  const unlock = lockDataDir(folder);
  try {
    const sqlite = openDatabase(folder);
    try {
      migrate(sqlite, { dataDir: folder, migrations: MIGRATIONS, nowMs: Date.now(), log: silentLog });
      return true;
    } finally {
      sqlite.close();
    }
  } catch (error) {
    if (error instanceof DatabaseIsNewer) return false;
    throw error;
  } finally {
    unlock();
  }
}
