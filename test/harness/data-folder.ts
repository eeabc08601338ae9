/**
 * Data folders for tests: as if a server had been started on one and had stopped before it made anything. To migrate a new database takes longer than
 * most tests, so one is migrated per process and its bytes are what the others begin with. Each folder has a seal key of its own, and so has
 * whatever is opened on it signing keys of its own. Tests of migrations and of a first start take an empty folder.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '../../src/base/log.ts';
import { migrate } from '../../src/control/db/migrate.ts';
import { MIGRATIONS } from '../../src/control/db/migrations.gen.ts';
import { DATABASE_FILE, makeDataDir, openDatabase } from '../../src/control/db/open.ts';
import { SEAL_KEY_FILE } from '../../src/control/core/secrets/sealing.ts';

const PRIVATE = { mode: 0o600, flag: 'wx' };

/** Of this process; nothing in it changes. */
let migrated: Buffer | undefined;

/** A folder of its own for a test, which removes it. */
export function newDataFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'culvert-'));
  fillDataFolder(folder);
  return folder;
}

/** Makes the folder if it is missing; it must be empty. */
export function fillDataFolder(folder: string): void {
  makeDataDir(folder);
  migrated ??= migrateOne();
  writeFileSync(join(folder, DATABASE_FILE), migrated, PRIVATE);
  writeFileSync(join(folder, SEAL_KEY_FILE), randomBytes(32), PRIVATE);
}

/** The file as it is once it is closed: its log is folded back. */
function migrateOne(): Buffer {
  const dataDir = mkdtempSync(join(tmpdir(), 'culvert-'));
  try {
    const sqlite = openDatabase(dataDir);
    try {
      migrate(sqlite, { dataDir, migrations: MIGRATIONS, nowMs: 0, log: silentLog });
    } finally {
      sqlite.close();
    }
    return readFileSync(join(dataDir, DATABASE_FILE));
  } finally {
    rmSync(dataDir, { recursive: true });
  }
}
