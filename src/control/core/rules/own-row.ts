/** The row that a caller names by its id. */
import { and, eq, type SQL } from 'drizzle-orm';
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import { AppError } from '../../../base/errors.ts';
import type { Db } from '../../db/tx.ts';

/** Rows of an organization. */
type OwnTable = SQLiteTable & { readonly id: SQLiteColumn; readonly orgId: SQLiteColumn };

export interface Wanted {
  readonly orgId: string;
  readonly id: string;
  /** What it is called in the refusal. */
  readonly what: string;
  /** What else it must be. */
  readonly where?: SQL | undefined;
}

/** Throws `not_found`, also for another organization's. */
export function ownRow<T extends OwnTable>(db: Db, table: T, { orgId, id, what, where }: Wanted): T['$inferSelect'] {
  const mine = and(eq(table.id, id), eq(table.orgId, orgId), where);
  const row = db
    .select()
    .from(table as OwnTable)
    .where(mine)
    .get();
  if (row === undefined)
    throw new AppError('not_found', `Your organization has no ${what} with this id. Check the id.`);
  return row;
}
