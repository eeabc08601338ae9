/**
 * The way to the tables: `inTx` for writes, `db` for reads. Made by control/open.ts, handed to every service.
 * What must be told to somebody else (the data plane, above all) is told in `tx.onCommit`: never before the commit, and not at
 * all when it fails. Whom sessions and memberships were changed of is told to whoever watches people: what they hold open may have to end.
 */
import { eq, sql } from 'drizzle-orm';
import { type BetterSQLite3Database, drizzle } from 'drizzle-orm/better-sqlite3';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { asDiskFault } from './disk-fault.ts';
import type { Sqlite } from './open.ts';
import * as schema from './schema.ts';

export type Db = BetterSQLite3Database<typeof schema>;

export interface Tx {
  readonly db: Db;
  /** The instant of the transaction, milliseconds: one for all its rows. */
  readonly now: number;
  /** Runs after the commit, in order; not at all when the transaction fails. */
  onCommit(tell: () => void): void;
  /** A session of this person has ended, or what they may do in an organization has changed: `watchPeople` hears of it after the commit. */
  personChanged(userId: string): void;
}

export interface TxOptions {
  /** The last commits may be lost in a power cut (never in a crash of the process): counters, claims. Saves the wait for the disk. */
  readonly relaxed?: boolean;
}

/** What the disk is tried with: more than one sign-up writes, so that what works for this works for that. */
const TRIAL = 'x'.repeat(32 * 1024);

export class Store {
  readonly db: Db;
  readonly clock: Clock;
  readonly #sqlite: Sqlite;
  readonly #log: Logger;
  readonly #watchers: Array<(userId: string) => void> = [];
  /** A transaction has failed because of the disk, and no trial has worked since. */
  #diskFailed = false;

  constructor(sqlite: Sqlite, deps: { clock: Clock; log: Logger }) {
    this.#sqlite = sqlite;
    this.#log = deps.log;
    this.clock = deps.clock;
    this.db = drizzle(sqlite, { schema });
  }

  /**
   * Calls `look` for each person of whom a session has ended, or whose place in an organization has changed, once per transaction and after its
   * commit: for what was opened in their name and stays open. For as long as the store is.
   */
  watchPeople(look: (userId: string) => void): void {
    this.#watchers.push(look);
  }

  /**
   * Runs `work` in one transaction and commits what it did; throws what `work` throws, with nothing stored and nobody told.
   * A disk that takes nothing is `unavailable`. Synchronous on purpose: an await inside would hold the write lock over a turn of the loop.
   */
  inTx<T>(work: (tx: Tx) => T extends PromiseLike<unknown> ? never : T, options: TxOptions = {}): T {
    if (this.#sqlite.inTransaction) throw new Error('a transaction inside a transaction');
    const told: Array<() => void> = [];
    const people = new Set<string>();
    const tx: Tx = {
      db: this.db,
      now: this.clock.now(),
      onCommit: (tell) => void told.push(tell),
      personChanged: (userId) => void people.add(userId),
    };
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
    } catch (error) {
      const fault = asDiskFault(error);
      if (fault !== undefined) this.#diskFailed = true;
      throw fault ?? error;
    } finally {
      if (options.relaxed) this.#sqlite.pragma('synchronous = FULL');
    }
    for (const userId of people) for (const look of this.#watchers) told.push(() => look(userId));
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

  /** Throws when the database does not answer, or takes no writes. */
  ping(): void {
    this.db.get(sql`SELECT 1`);
    this.checkDisk();
  }

  /**
   * Throws `unavailable` while nothing can be stored. For whatever is answered before it is done; costs nothing while writes work: only after
   * one that failed is the disk tried, with rows that are gone at once.
   */
  checkDisk(): void {
    if (!this.#diskFailed) return;
    const row = { id: TRIAL, expiresAt: 0 };
    this.inTx((tx) => tx.db.insert(schema.spentOnce).values(row).onConflictDoNothing().run(), { relaxed: true });
    this.inTx((tx) => tx.db.delete(schema.spentOnce).where(eq(schema.spentOnce.id, TRIAL)).run(), { relaxed: true });
    this.#diskFailed = false;
    this.#log.info({}, 'the disk takes writes again');
  }

  close(): void {
    this.#sqlite.close();
  }
}
