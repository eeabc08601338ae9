/**
 * Queries that are built once for each database. Drizzle builds the text of a query anew at each use, which takes several times as long as SQLite
 * needs for its answer: what runs with each request is built here, with placeholders for its values.
 */
import type { Db } from './tx.ts';

/** Returns the query of a database, made by `build` at its first use. It lives as long as the database. */
export function prepared<Q>(build: (db: Db) => Q): (db: Db) => Q {
  const queries = new WeakMap<Db, Q>();
  return (db) => {
    let query = queries.get(db);
    if (query === undefined) queries.set(db, (query = build(db)));
    return query;
  };
}
