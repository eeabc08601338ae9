/**
 * Brings a database to the version of this binary. Called once by core/core.ts before anything reads. Not drizzle's migrator: that runs `PRAGMA
 * foreign_keys = OFF` inside its transaction, where SQLite ignores it, so a table rebuild fires ON DELETE CASCADE and loses rows (drizzle-orm
 * #5782, #4938). Here the switch is thrown outside, and foreign_key_check decides before the commit.
 */
import { fileFault } from '../../base/process/file-fault.ts';
import type { Logger } from '../../base/log.ts';
import { BASELINE, type Baseline, rebase } from './baseline.ts';
import type { Applied, Migration } from './migration.ts';
import { DAMAGED_DATABASE } from './open.ts';
import type { Sqlite } from './sqlite.ts';
import { keepNewest, SNAPSHOT_DIR, takeSnapshot } from './snapshots.ts';

export interface MigrateOptions {
  readonly dataDir: string;
  readonly migrations: readonly Migration[];
  /** What the first of them has replaced. */
  readonly baseline?: Baseline;
  readonly nowMs: number;
  readonly log: Logger;
}

/** A newer program has migrated the database. */
export class DatabaseIsNewer extends Error {
  override readonly name = 'DatabaseIsNewer';
}

/** Applies what is missing, each in a transaction of its own. Throws with what to do when the database is not one of ours. */
export function migrate(sqlite: Sqlite, options: MigrateOptions): void {
  const { migrations, baseline = BASELINE, nowMs } = options;
  const [first] = migrations;
  const recorded = readApplied(sqlite);
  const applied = first === undefined ? recorded : rebase(sqlite, recorded, { first, baseline, nowMs });
  const pending = pendingAfter(applied, migrations);
  if (pending.length === 0) return;
  let snapshot: string | undefined;
  if (applied.length > 0) {
    snapshot = takeSnapshot(sqlite, { ...options, from: applied.length, to: migrations.length });
    options.log.info({ file: snapshot, pending: pending.length }, 'database copied before its migration');
  }
  sqlite.exec(
    'CREATE TABLE IF NOT EXISTS culvert_migrations (id INTEGER PRIMARY KEY, tag TEXT NOT NULL, hash TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT',
  );
  sqlite.pragma('foreign_keys = OFF');
  try {
    for (const migration of pending) apply(sqlite, migration, nowMs);
  } finally {
    sqlite.pragma('foreign_keys = ON');
  }
  // Not before: a migration that fails at each start must not push out the copies that lead back.
  if (snapshot !== undefined) keepNewest(options.dataDir);
}

/** The migrations that a database has, oldest first. */
export function readApplied(sqlite: Sqlite): readonly Applied[] {
  const table = sqlite
    .prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'culvert_migrations'")
    .get();
  if (table === undefined) return [];
  return sqlite.prepare<[], Applied>('SELECT id, tag, hash FROM culvert_migrations ORDER BY id').all();
}

function pendingAfter(applied: readonly Applied[], known: readonly Migration[]): readonly Migration[] {
  // First: a database of another build is no newer one.
  for (const [i, row] of applied.slice(0, known.length).entries()) {
    if (row.hash !== known[i]?.hash) {
      throw new Error(
        `migration ${row.tag} of the database does not match this binary: they come from different builds`,
      );
    }
  }
  if (applied.length > known.length) {
    throw new DatabaseIsNewer(
      `the database is newer than this binary: it has migration ${applied[known.length]?.tag}, this binary ends at ${known.at(-1)?.tag ?? 'none'}. ` +
        `Run the newer binary, or restore a copy from ${SNAPSHOT_DIR}/ in the data folder.`,
    );
  }
  return known.slice(applied.length);
}

function apply(sqlite: Sqlite, migration: Migration, nowMs: number): void {
  sqlite.exec('BEGIN IMMEDIATE');
  try {
    for (const statement of migration.statements) sqlite.exec(statement);
    const broken = sqlite.pragma('foreign_key_check');
    if (Array.isArray(broken) && broken.length > 0)
      throw new Error(`${broken.length} rows would refer to missing rows`);
    sqlite
      .prepare('INSERT INTO culvert_migrations (id, tag, hash, applied_at) VALUES (?, ?, ?, ?)')
      .run(migration.index, migration.tag, migration.hash, nowMs);
    sqlite.exec('COMMIT');
  } catch (cause) {
    if (sqlite.inTransaction) sqlite.exec('ROLLBACK');
    const doing = `migration ${migration.tag} failed; the database was not changed`;
    throw fileFault(cause, { doing, file: sqlite.name, damaged: DAMAGED_DATABASE });
  }
}
