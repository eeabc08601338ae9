/** One step of the schema: in this binary, and as a database has recorded it. Read by migrate.ts and baseline.ts. */
export interface Migration {
  /** Counts from 1 without gaps. */
  readonly index: number;
  readonly tag: string;
  /** SHA-256 of the .sql file: a migration that was edited after it ran is refused. */
  readonly hash: string;
  readonly statements: readonly string[];
}

/** As recorded in the database. */
export interface Applied {
  readonly id: number;
  readonly tag: string;
  readonly hash: string;
}
