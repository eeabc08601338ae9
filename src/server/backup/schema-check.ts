/** Which migrations a database has, compared with those of this program: it reads its own and older ones. */
import type { Sqlite } from '../../control/db/sqlite.ts';
import { BASELINE } from '../../control/db/baseline.ts';
import { readApplied } from '../../control/db/migrate.ts';
import { MIGRATIONS } from '../../control/db/migrations.gen.ts';
import { BackupError, type Manifest } from './format.ts';

export type Schema = Manifest['schema'];

/** Throws BackupError when the database has no tables of a server. */
export function schemaOf(sqlite: Sqlite): Schema {
  const applied = readApplied(sqlite);
  const last = applied.at(-1);
  if (last === undefined)
    throw new BackupError(`${sqlite.name} is not the database of a server: it has no migrations.`);
  return { count: applied.length, tag: last.tag, hash: last.hash };
}

/** Throws BackupError when this program can't serve such a database. `what`: the backup; `madeBy`: the version that made it. */
export function requireKnownSchema({ count, tag, hash }: Schema, what: string, madeBy: string): void {
  if (count === BASELINE.count && hash === BASELINE.hash) return;
  if (count > MIGRATIONS.length) {
    const last = MIGRATIONS.at(-1)?.tag ?? 'none';
    throw new BackupError(
      `${what} is newer than this program: Culvert ${madeBy} made it, with migration ${tag}, and this program ends at ${last}. ` +
        `Restore it with Culvert ${madeBy} or newer.`,
    );
  }
  if (MIGRATIONS[count - 1]?.hash === hash) return;
  throw new BackupError(
    `${what} is of another build of Culvert (${madeBy}): its migration ${tag} is not the one of this program. ` +
      'Restore it with the build that made it.',
  );
}
