/**
 * The migrations before the first release, which 0000_start has replaced. A database that has all of them has the schema that 0000_start makes (a
 * test compares them), and is recorded as such; an older one is refused. Used by migrate.ts.
 */
import type { Applied, Migration } from './migration.ts';
import type { Sqlite } from './sqlite.ts';

export interface Baseline {
  /** How many there were. */
  readonly count: number;
  /** The last of them, and its hash. */
  readonly tag: string;
  readonly hash: string;
}

export const BASELINE: Baseline = {
  count: 18,
  tag: '0017_swift_maria_hill',
  hash: 'bbe635e9c558d47f97a36f93642e086983ce6916e8eddaa0fd8664e0055fe2b2',
};
/** What a first migration of that time is known by. */
const FIRST_TAG = '0000_start';

/** The applied migrations, in today's count. Throws for a database from before the last of the replaced ones. */
export function rebase(
  sqlite: Sqlite,
  applied: readonly Applied[],
  { first, baseline, nowMs }: { first: Migration; baseline: Baseline; nowMs: number },
): readonly Applied[] {
  const last = applied.at(-1);
  if (last === undefined || applied[0]?.hash === first.hash) return applied;
  if (applied.length === baseline.count && last.hash === baseline.hash) {
    record(sqlite, first, nowMs);
    return [{ id: first.index, tag: first.tag, hash: first.hash }];
  }
  // As many, and another last one: a build that is none of ours, which migrate.ts refuses.
  if (applied[0]?.tag !== FIRST_TAG || applied.length >= baseline.count) return applied;
  throw new Error(
    `the database is older than the first release: it ends at migration ${last.tag}. ` +
      `Start it once with a build that has migration ${baseline.tag}, then with this one.`,
  );
}

function record(sqlite: Sqlite, { index, tag, hash }: Migration, nowMs: number): void {
  sqlite.exec('BEGIN IMMEDIATE');
  try {
    sqlite.exec('DELETE FROM culvert_migrations');
    sqlite
      .prepare('INSERT INTO culvert_migrations (id, tag, hash, applied_at) VALUES (?, ?, ?, ?)')
      .run(index, tag, hash, nowMs);
    sqlite.exec('COMMIT');
  } finally {
    if (sqlite.inTransaction) sqlite.exec('ROLLBACK');
  }
}
