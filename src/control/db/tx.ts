/**
 * The way to the tables: `inTx` for writes, `db` for reads. Made by core/core.ts, handed to every service.
 * Messages to others (the data plane, above all) are sent in `tx.onCommit`: never before the commit, and not at
 * all when it fails. Users whose sessions or memberships changed are reported to watchers, which may have to end open connections.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { eq, sql } from 'drizzle-orm';
import { type BetterSQLite3Database, drizzle } from 'drizzle-orm/better-sqlite3';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { codeOf } from '../../base/errors.ts';
import { within } from '../../base/limits/within.ts';
import { DatabaseFaults, type DatabaseFault, guarded } from './disk/database-faults.ts';
import { asDiskFault, isFull, isLocked, locked, unconfirmed } from './disk/fault.ts';
import type { DurableLog } from './disk/durable-log.ts';
import { type Event, type Handler, Handlers } from './events.ts';
import { watchFile } from './disk/file-watch.ts';
import { copyDatabase, type OpenStore } from './open.ts';
import type { Sqlite } from './sqlite.ts';
import * as schema from './schema.ts';

/** An answer waits this long for the disk: then its client gets a retry, and the server counts it as slow. */
const DISK_MS = 2_000;
/** How often a slow disk is said. */
const SAY_MS = 60_000;
const LOCK_LOOK_MS = 20;

export type Db = BetterSQLite3Database<typeof schema>;

export interface Tx {
  readonly db: Db;
  /** The instant of the transaction, milliseconds: one for all its rows. */
  readonly now: number;
  /** Runs after the commit, in order; not at all when the transaction fails. */
  onCommit(tell: () => void): void;
  /** A session of this person has ended, or what they may do in an organization has changed: `watchPeople` hears of it after the commit. */
  personChanged(userId: string): void;
  /** Runs the handlers of the event in this transaction, in order; returns their counts. Throws what one of them throws. */
  emit<P, C extends object>(event: Event<P, C>, payload: NoInfer<P>): C;
}

/** `damaged` and `gone` are for good. `failed`: writes find no room, or the disk fails. `slow`: the disk has not confirmed one for seconds. `locked`: by another program. */
export interface DatabaseState {
  readonly kind: 'ok' | 'failed' | 'slow' | 'locked' | DatabaseFault['kind'];
  /** Milliseconds; 0 when that is not known. */
  readonly forMs: number;
  /** What to do, with the file, for operators alone. */
  readonly detail?: string;
}

export interface StoreDeps {
  readonly clock: Clock;
  readonly log: Logger;
  /** Milliseconds that an answer waits for the disk. */
  readonly diskMs?: number;
  /** Called for each write that found no room on the disk. */
  readonly onFull?: () => void;
}

export interface TxOptions {
  /** Nothing waits for this to be on the disk: a power cut may take it (a crash of the process does not). Counters, claims, log-ins. */
  readonly relaxed?: boolean;
}

/** What the disk is tried with: more than one sign-up writes, so that what works for this works for that. */
const TRIAL = 'x'.repeat(32 * 1024);

export class Store {
  readonly db: Db;
  readonly clock: Clock;
  readonly #sqlite: Sqlite;
  readonly #durableLog: DurableLog;
  readonly #log: Logger;
  readonly #faults: DatabaseFaults;
  readonly #diskMs: number;
  readonly #onFull: () => void;
  readonly #watchers: Array<(userId: string) => void> = [];
  #handlers = new Handlers<Tx>([]);
  /** A transaction has failed because of the disk, and no trial has worked since. */
  #diskFailed = false;
  #failedSince = 0;
  /** Another program has the write lock: since when, and whether that was seen twice; by `monotonic`. */
  #locked: { readonly since: number; readonly twice: boolean } | undefined;
  /** The last look found the write lock taken: further looks don't wait for it on the thread. */
  #isLockBusy = false;
  /** Since when the disk has not confirmed what it was given, and when that was said last; by `monotonic`. */
  #slowSince: number | undefined;
  #saidSlow = Number.NEGATIVE_INFINITY;

  constructor({ sqlite, durableLog }: OpenStore, deps: StoreDeps) {
    this.#diskMs = deps.diskMs ?? DISK_MS;
    this.#onFull = deps.onFull ?? (() => undefined);
    this.#sqlite = sqlite;
    this.#durableLog = durableLog;
    this.#log = deps.log;
    this.clock = deps.clock;
    this.#faults = new DatabaseFaults({ file: sqlite.name, log: deps.log });
    this.db = drizzle(guarded(sqlite, this.#faults), { schema });
  }

  /**
   * Calls `look` for each user whose session has ended, or whose place in an organization has changed, once per transaction and after its
   * commit: for what was opened in their name and stays open. For as long as the store is.
   */
  watchPeople(look: (userId: string) => void): void {
    this.#watchers.push(look);
  }

  /** Sets all handlers of events, in their order. To be called once, before the first event. */
  handleEvents(handlers: ReadonlyArray<Handler<Tx>>): void {
    this.#handlers = new Handlers(handlers);
  }

  /**
   * Runs `work` in one transaction and commits what it did; throws what `work` throws, with nothing stored and nothing told. What is committed survives
   * a crash of the process at once, and a power cut once `durable` has resolved: what must not be lost is answered behind that.
   * A disk that takes nothing, and a file that another program has locked, are `unavailable`. Synchronous on purpose: an await inside would hold the
   * write lock over a turn of the loop.
   */
  inTx<T>(work: (tx: Tx) => T extends PromiseLike<unknown> ? never : T, options: TxOptions = {}): T {
    if (this.#sqlite.inTransaction) throw new Error('a transaction inside a transaction');
    if (options.relaxed !== true) this.#faults.refuseGone();
    const told: Array<() => void> = [];
    const people = new Set<string>();
    const handlers = this.#handlers;
    const tx: Tx = {
      db: this.db,
      now: this.clock.now(),
      onCommit: (tell) => void told.push(tell),
      personChanged: (userId) => void people.add(userId),
      // `this`: a copy of the transaction at another instant has its own `now`.
      emit(event, payload) {
        return handlers.emit(this, event, payload);
      },
    };
    let result: T;
    try {
      this.#sqlite.exec('BEGIN IMMEDIATE');
      try {
        result = work(tx);
        this.#sqlite.exec('COMMIT');
        this.#durableLog.committed(options.relaxed === true);
      } catch (error) {
        if (this.#sqlite.inTransaction) this.#sqlite.exec('ROLLBACK');
        throw error;
      }
    } catch (error) {
      const fault = asDiskFault(error);
      if (fault !== undefined) this.#failed();
      if (isLocked(error)) this.#locked ??= { since: this.clock.monotonic(), twice: false };
      if (isFull(error)) this.#onFull();
      throw fault ?? this.#faults.asDamage(error) ?? error;
    }
    this.#durableLog.fold().catch((error: unknown) => {
      if (this.#faults.known?.kind === 'gone' || this.#faults.asDamage(error) !== undefined) return;
      this.#log.error({ err: error }, 'could not checkpoint the write-ahead log of the database: retrying');
    });
    for (const userId of people) for (const look of this.#watchers) told.push(() => look(userId));
    for (const tell of told) {
      try {
        tell();
      } catch (error) {
        // The rows are stored: the caller must not believe otherwise. A reader of deltas sees the gap and asks for a snapshot.
        this.#log.error({ err: error }, 'a commit handler failed');
      }
    }
    return result;
  }

  /** Commits that are to be waited for, since the start: what was done between two looks has made some when this differs. */
  get commits(): number {
    return this.#durableLog.commits;
  }

  /**
   * Resolves once all that is committed now would survive a power cut. Many wait for one turn of the disk.
   * @param patienceMs how long at most; two seconds when not given. From then on the disk counts as slow in any case.
   * @throws AppError `unavailable` when the disk says no, or nothing for so long: the change may be stored all the same.
   */
  async durable(patienceMs = this.#diskMs): Promise<void> {
    const since = this.clock.monotonic();
    const confirmed = this.#durableLog.durable().then(() => this.#confirmed());
    try {
      if (await within(confirmed, this.#diskMs)) return;
      this.#slow(since);
      if (patienceMs > this.#diskMs && (await within(confirmed, patienceMs - this.#diskMs))) return;
    } catch (error) {
      this.#failed();
      if (isFull(error)) this.#onFull();
      throw asDiskFault(error) ?? unconfirmed(error);
    }
    throw unconfirmed();
  }

  /**
   * Resolves when the write lock can be had. For what can wait: `inTx` itself holds the thread and gives up at once.
   * @throws AppError `unavailable` when another program has had it for two seconds.
   */
  async writable(): Promise<void> {
    const since = this.clock.monotonic();
    const end = performance.now() + this.#diskMs;
    // Usually no other program holds the lock, and to change SQLite's timeout and change it back takes as long as to look.
    if (!this.#isLockBusy && this.#tryLock()) return;
    this.#isLockBusy = true;
    while (!this.#canLock()) {
      if (performance.now() > end) {
        const ms = Math.round(this.clock.monotonic() - since);
        this.#log.error(
          { ms },
          'another program has locked the database: changes return 503 until it releases the lock',
        );
        this.#locked = { since, twice: true };
        throw locked();
      }
      await sleep(LOCK_LOOK_MS);
    }
    this.#isLockBusy = false;
  }

  #canLock(): boolean {
    this.#sqlite.pragma('busy_timeout = 0');
    try {
      return this.#tryLock();
    } finally {
      this.#sqlite.pragma('busy_timeout = 50');
    }
  }

  #tryLock(): boolean {
    try {
      this.#sqlite.exec('BEGIN IMMEDIATE');
      this.#sqlite.exec('ROLLBACK');
      return true;
    } catch (error) {
      // Whatever else is wrong, the request finds out by itself.
      return codeOf(error)?.startsWith('SQLITE_BUSY') !== true;
    }
  }

  #confirmed(): void {
    if (this.#slowSince === undefined) return;
    this.#log.info({ ms: Math.round(this.clock.monotonic() - this.#slowSince) }, 'the disk responds again');
    this.#slowSince = undefined;
  }

  #slow(since: number): void {
    this.#slowSince ??= since;
    const now = this.clock.monotonic();
    if (now - this.#saidSlow < SAY_MS) return;
    this.#saidSlow = now;
    this.#log.error(
      { ms: Math.round(now - this.#slowSince) },
      'the disk of data_dir has not confirmed a write for seconds: changes return 503 until it does',
    );
  }

  /** Finds out whether the database answers and takes writes, for `state`; called every few seconds. Never throws. */
  look(): void {
    const now = this.clock.monotonic();
    const { since = now } = this.#locked ?? {};
    const twice = this.#locked !== undefined;
    try {
      this.db.get(sql`SELECT 1`);
      this.#locked = this.#canLock() ? undefined : { since, twice };
      if (this.#locked === undefined && this.#slowSince === undefined) this.checkDisk();
    } catch {
      // Damage is known by itself, and a trial that failed is in `state`; what can't even be read is here.
      if (this.fault === undefined) this.#failed();
    }
  }

  /** Whether the database answers and takes writes, as far as is known: nothing is tried. */
  get state(): DatabaseState {
    const since = (at: number): number => Math.round(this.clock.monotonic() - at);
    if (this.fault !== undefined) return { ...this.fault, forMs: 0 };
    if (this.#slowSince !== undefined) return { kind: 'slow', forMs: since(this.#slowSince) };
    if (this.#locked?.twice === true) return { kind: 'locked', forMs: since(this.#locked.since) };
    if (this.#diskFailed && this.#locked === undefined) return { kind: 'failed', forMs: since(this.#failedSince) };
    return { kind: 'ok', forMs: 0 };
  }

  #failed(): void {
    if (!this.#diskFailed) this.#failedSince = this.clock.monotonic();
    this.#diskFailed = true;
  }

  /**
   * Throws `unavailable` while nothing can be stored. For whatever is answered before it is done; costs nothing while writes work: only after
   * one that failed is the disk tried, with rows that are gone at once.
   */
  checkDisk(): void {
    this.#faults.refuseGone();
    if (this.#slowSince !== undefined) throw unconfirmed();
    if (!this.#diskFailed) return;
    const row = { id: TRIAL, expiresAt: 0 };
    this.inTx((tx) => tx.db.insert(schema.spentOnce).values(row).onConflictDoNothing().run(), { relaxed: true });
    this.inTx((tx) => tx.db.delete(schema.spentOnce).where(eq(schema.spentOnce.id, TRIAL)).run(), { relaxed: true });
    this.#diskFailed = false;
    this.#log.info({}, 'the disk accepts writes again');
  }

  /** What is wrong with the database until it is restored and the server started again; undefined while nothing is known to be. */
  get fault(): DatabaseFault | undefined {
    return this.#faults.known;
  }

  /**
   * Looks every few seconds whether the file of the database is where it was; returns the stop. Once it is not, changes are `unavailable`, and what
   * the server has is saved beside it: what was stored since the file went would end with the process.
   */
  watchFile(options: { lookMs?: number } = {}): () => void {
    const onGone = (what: 'deleted' | 'replaced'): void => this.#faults.gone(what, this.#rescue());
    return watchFile({ ...options, file: this.#sqlite.name, onGone });
  }

  #rescue(): string | null {
    const stamp = new Date(this.clock.now()).toISOString().replaceAll(/[:.-]/g, '');
    const copy = `${this.#sqlite.name}.rescued-${stamp}`;
    try {
      copyDatabase(this.#sqlite, copy);
      return copy;
    } catch (error) {
      this.#log.error({ err: error, copy }, 'could not save the database to a copy');
      return null;
    }
  }

  close(): void {
    this.#durableLog.close();
  }
}
