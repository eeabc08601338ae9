/** The audit log as it grows, of all organizations: what came behind the last look. */
import type { Db } from '../../db/tx.ts';
import { type ExportItem, itemOfAudit } from './export-items.ts';
import { auditBehind, lastAuditId } from './rows.ts';

/** Of one look, some milliseconds: a large change has thousands. */
const MAX_EVENTS = 500;

export class AuditTail {
  readonly #db: Db;
  #cursor: string;

  /** `cursor`: id of the last event that is done with; left out: all that are there. */
  constructor(db: Db, cursor = lastAuditId(db)) {
    this.#db = db;
    this.#cursor = cursor;
  }

  /** Id of the last event that was given. */
  get cursor(): string {
    return this.#cursor;
  }

  next(): ReturnType<typeof auditBehind> {
    const found = auditBehind(this.#db, this.#cursor, MAX_EVENTS);
    this.#cursor = found.at(-1)?.id ?? this.#cursor;
    return found;
  }

  /** For the operator: with all that is known of who did it. */
  nextItems(): readonly ExportItem[] {
    return this.next().flatMap((row) => itemOfAudit(row, ['audit']) ?? []);
  }
}
