/**
 * The way to the tables: `inTx` for writes, `db` for reads. Made by control/open.ts, handed to every service.
 * What must be told to somebody else (the data plane, above all) is told in `tx.onCommit`: never before the commit, and not at
 * all when it fails.
 */
import { sql } from 'drizzle-orm';
import { type BetterSQLite3Database, drizzle } from 'drizzle-orm/better-sqlite3';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { Sqlite } from './open.ts';
import * as schema from './schema.ts';

export type Db = BetterSQLite3Database<typeof schema>;

export interface Tx {
  readonly db: Db;
  /** The instant of the transaction, milliseconds: one for all its rows. */
  readonly now: number;
  /** Runs after the commit, in order; not at all when the transaction fails. */
  onCommit(tell: () => void): void;
}

export interface TxOptions {
  /** The last commits may be lost in a power cut (never in a crash of the process): counters, claims. Saves the wait for the disk. */
  readonly relaxed?: boolean;
}

export class Store {
  readonly db: Db;
  readonly clock: Clock;
  readonly #sqlite: Sqlite;
  readonly #log: Logger;

  constructor(sqlite: Sqlite, deps: { clock: Clock; log: Logger }) {
    this.#sqlite = sqlite;
    this.#log = deps.log;
    this.clock = deps.clock;
    this.db = drizzle(sqlite, { schema });
  }

  /**
   * Runs `work` in one transaction and commits what it did; throws what `work` throws, with nothing stored and nobody told.
   * Synchronous on purpose: an await inside would hold the write lock over a turn of the loop.
   */
  inTx<T>(work: (tx: Tx) => T extends PromiseLike<unknown> ? never : T, options: TxOptions = {}): T {
    if (this.#sqlite.inTransaction) throw new Error('a transaction inside a transaction');
    const told: Array<() => void> = [];
    const tx: Tx = { db: this.db, now: this.clock.now(), onCommit: (tell) => void told.push(tell) };
    if (options.relaxed) this.#sqlite.pragma('synchronous = NORMAL');
    let result: T;
    try {
      this.#sqlite.exec('BEGIN IMMEDIATE');
      try {
        result = work(tx);
        this.#sqlite.exec('COMMIT');
      } catch (error) {
        if (this.#sqlite.inTransaction) this.#sqlite.exec('ROLLBACK');
        throw error;
      }
    } finally {
      if (options.relaxed) this.#sqlite.pragma('synchronous = FULL');
    }
    for (const tell of told) {
      try {
        tell();
      } catch (error) {
        // The rows are stored: the caller must not believe otherwise. A reader of deltas sees the gap and asks for a snapshot.
        this.#log.error({ err: error }, 'telling of a commit failed');
      }
    }
    return result;
  }

  /** Throws when the database does not answer. */
  ping(): void {
    this.db.get(sql`SELECT 1`);
  }

  close(): void {
    this.#sqlite.close();
  }
}
