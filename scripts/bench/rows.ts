/** Rows for the databases of benchmarks. */
import { getTableColumns, getTableName } from 'drizzle-orm';
import type { SQLiteTable } from 'drizzle-orm/sqlite-core';
import type { Sqlite } from '../../src/control/db/sqlite.ts';
import type { Tx } from '../../src/control/db/tx.ts';

/** Writes only the columns that the rows name, so that a database of an older build accepts them too. */
export class Rows {
  readonly tx: Pick<Tx, 'now'>;
  readonly #sqlite: Sqlite;

  constructor(sqlite: Sqlite, tx: Pick<Tx, 'now'>) {
    this.#sqlite = sqlite;
    this.tx = tx;
  }

  /** All have the columns of the first. */
  insert<T extends SQLiteTable>(table: T, rows: readonly T['$inferInsert'][]): void {
    const [first] = rows;
    if (first === undefined) return;
    const columns = Object.entries(getTableColumns(table)).filter(([key]) => key in first);
    const names = columns.map(([, column]) => `"${column.name}"`).join(', ');
    const marks = columns.map(() => '?').join(', ');
    const statement = this.#sqlite.prepare(`INSERT INTO "${getTableName(table)}" (${names}) VALUES (${marks})`);
    for (const row of rows) {
      const values = columns.map(([key, column]) => {
        const value: unknown = Reflect.get(row, key);
        return value === null || value === undefined ? null : column.mapToDriverValue(value);
      });
      statement.run(values);
    }
  }
}
