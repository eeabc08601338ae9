/**
 * What is wrong with the database for the rest of the process's life: it is damaged, or its file is gone from its place. Said once, with what to
 * do, however many requests meet it; they get `unavailable`. Called by db/tx.ts and file-watch.ts.
 */
import { dirname, join } from 'node:path';
import { AppError, messageOf } from '../../../base/errors.ts';
import type { Logger } from '../../../base/log.ts';
import { RecentMap } from '../../../base/limits/recent-map.ts';
import { faultCode } from './fault.ts';
import type { Sqlite, Statement } from '../sqlite.ts';

/** Also as the start of an extended code, e.g. SQLITE_CORRUPT_INDEX. */
const DAMAGED = /^SQLITE_(CORRUPT|NOTADB)(_|$)/;

/** As a health check shows it; `detail` names the file, for operators alone. */
export interface DatabaseFault {
  readonly kind: 'damaged' | 'gone';
  readonly detail: string;
}

export class DatabaseFaults {
  readonly #file: string;
  readonly #log: Logger;
  #known: DatabaseFault | undefined;

  /** `file`: of the database. */
  constructor({ file, log }: { file: string; log: Logger }) {
    this.#file = file;
    this.#log = log;
  }

  /** Undefined while nothing is known to be wrong. */
  get known(): DatabaseFault | undefined {
    return this.#known;
  }

  /** The failure as callers see it, when it is of damage; the first one is logged. Undefined for every other. */
  asDamage(error: unknown): AppError | undefined {
    const code = faultCode(error);
    if (code === undefined || !DAMAGED.test(code)) return undefined;
    if (this.#known === undefined) this.#know({ kind: 'damaged', detail: this.#damage(messageOf(error)) }, { code });
    return new AppError('unavailable', 'The database of the server is damaged. The operator must restore it.', {
      cause: error,
      isLogged: true,
    });
  }

  /** The file is not where it was. `copy`: where what the server has was saved; null when that failed. */
  gone(what: 'deleted' | 'replaced', copy: string | null): void {
    if (this.#known?.kind === 'gone') return;
    const kept = copy === null ? 'Its data could not be saved.' : `Its data is saved in ${copy}.`;
    const rest = `${this.#file}-wal and ${this.#file}-shm`;
    const next =
      what === 'deleted'
        ? `Stop the server, move ${copy ?? 'your last backup'} to ${this.#file}, delete ${rest}, then start the server.`
        : `Stop the server, choose one of the two for ${this.#file}, delete ${rest}, then start the server.`;
    const detail = `${this.#file} was ${what} while the server is running: changes return 503. ${kept} ${next}`;
    this.#know({ kind: 'gone', detail }, { file: this.#file });
  }

  /** Throws what changes are answered with once the file is gone: whatever is stored from then on ends with the process. */
  refuseGone(): void {
    if (this.#known?.kind !== 'gone') return;
    throw new AppError('unavailable', 'The database file of the server is missing. The operator must restore it.', {
      isLogged: true,
    });
  }

  #damage(why: string): string {
    const snapshots = join(dirname(this.#file), 'snapshots');
    return (
      `${this.#file} is damaged (${why}): requests that read the damaged part return 503. Stop the server and keep a copy of the file. ` +
      `sqlite3 ${this.#file} 'PRAGMA integrity_check' shows the extent of the damage. ` +
      `Then replace it with your last culvert backup or the newest file in ${snapshots}.`
    );
  }

  #know(fault: DatabaseFault, fields: object): void {
    this.#known = fault;
    this.#log.error(fields, fault.detail);
  }
}

/**
 * A statement as drizzle uses it, which tells of damage where it is met: reads are all over the services. Several of these may stand on one of
 * SQLite's, so each says at each use in which form it wants its rows.
 */
class Guarded implements Pick<Statement, 'run' | 'get' | 'all'> {
  readonly #statement: Statement;
  readonly #faults: DatabaseFaults;
  #isRaw = false;

  constructor(statement: Statement, faults: DatabaseFaults) {
    this.#statement = statement;
    this.#faults = faults;
  }

  run(...params: unknown[]) {
    return this.#try((statement) => statement.run(...params));
  }

  get(...params: unknown[]) {
    return this.#try((statement) => statement.get(...params));
  }

  all(...params: unknown[]) {
    return this.#try((statement) => statement.all(...params));
  }

  raw(): this {
    this.#isRaw = true;
    return this;
  }

  #try<T>(work: (statement: Statement) => T): T {
    try {
      if (this.#statement.reader) this.#statement.raw(this.#isRaw);
      return work(this.#statement);
    } catch (error) {
      throw this.#faults.asDamage(error) ?? error;
    }
  }
}

/** Compiled statements that are kept: to compile one costs as much as to run it. Some 10 KB each. */
const KEPT_STATEMENTS = 300;

/** The same database, whose statements throw `unavailable` for damage. For drizzle, which prepares and runs and does nothing else with it. */
export function guarded(sqlite: Sqlite, faults: DatabaseFaults): Sqlite {
  const kept = new RecentMap<string, Statement>({ max: KEPT_STATEMENTS });
  const prepare = (text: string) => {
    try {
      let statement = kept.get(text);
      if (statement === undefined) kept.set(text, (statement = sqlite.prepare(text)));
      return new Guarded(statement, faults);
    } catch (error) {
      throw faults.asDamage(error) ?? error;
    }
  };
  return Object.create(sqlite, { prepare: { value: prepare } }) as Sqlite;
}
