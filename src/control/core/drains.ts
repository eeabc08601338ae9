/**
 * Large changes in slices: marked and answered in one transaction, carried out in many. The mark makes what it concerns gone at once
 * (db/gone.ts); each owner of a table then drains its rows, a bounded number per transaction, until all have none left. What fits into one
 * slice is done with the mark. A mark outlives a crash, so the next start goes on where this one ended.
 */
import type { Logger } from '../../base/log.ts';
import type { Store, Tx } from '../db/tx.ts';
import {
  insertPending,
  type NewPendingWork,
  nextPending,
  oldestOf,
  pendingCount,
  type PendingKind,
  type PendingWork,
  removePending,
} from './pending-rows.ts';

/**
 * Changes up to `limit` rows of the work and returns how many; 0: none is left. `tx.now` is the instant of the mark. Doing a slice twice, after a
 * crash, changes nothing more.
 */
export type Drain = (tx: Tx, work: PendingWork, limit: number) => number;

/** Rows that one transaction changes for its owner: some milliseconds. */
export const SLICE_ROWS = 40;

export interface DrainStats {
  /** Changes whose rows are not all done. */
  readonly waiting: number;
  /** How long ago the oldest of them was marked; 0 when there is none. */
  readonly oldestMs: number;
  /** Rows that were changed since the start. */
  readonly rows: number;
}

export class Drains {
  readonly #store: Store;
  readonly #log: Logger;
  readonly #steps = new Map<PendingKind, Drain[]>();
  /** Rows that a transaction may still change. */
  readonly #left = new WeakMap<Tx, number>();
  readonly #waiting: Array<() => void> = [];
  #timer: NodeJS.Timeout | undefined;
  #isRunning = false;
  #isClosed = false;
  #lastOrg = '';
  #rows = 0;

  constructor(deps: { store: Store; log: Logger }) {
    this.#store = deps.store;
    this.#log = deps.log;
  }

  /** Adds steps of a kind, in the order in which they are carried out. To be called before any work of it. */
  register(kind: PendingKind, ...steps: readonly Drain[]): void {
    this.#steps.set(kind, [...(this.#steps.get(kind) ?? []), ...steps]);
  }

  /**
   * Marks, and carries out what fits into this transaction, behind what the organization has waiting; the rest follows after the commit. To be
   * called once what is about to be gone was counted and announced.
   */
  begin(tx: Tx, work: NewPendingWork): void {
    insertPending(tx, work);
    const left = this.#left.get(tx) ?? SLICE_ROWS;
    const rows = this.#slice(tx, work.orgId, left);
    this.#left.set(tx, left - rows);
    tx.onCommit(() => this.wake());
  }

  /** Goes on with what is left, if anything is: after a start, and after a fault. */
  wake(): void {
    if (this.#isRunning || this.#isClosed || nextPending(this.#store.db, '') === undefined) return;
    this.#isRunning = true;
    this.#after(0);
  }

  stats(): DrainStats {
    const { db, clock } = this.#store;
    const { waiting, oldestAt } = pendingCount(db);
    return { waiting, oldestMs: oldestAt === null ? 0 : Math.max(0, clock.now() - oldestAt), rows: this.#rows };
  }

  /** Resolves when nothing is left, or it could not go on. */
  settled(): Promise<void> {
    if (!this.#isRunning) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Leaves the rest to the next start. May be called twice. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#rest();
  }

  #after(ms: number): void {
    this.#timer = setTimeout(() => this.#turn(), ms);
  }

  #turn(): void {
    const start = performance.now();
    let isMore: boolean;
    try {
      isMore = this.#next();
    } catch (error) {
      this.#log.error({ err: error }, 'a large change was interrupted: retrying');
      this.#rest();
      return;
    }
    // Half of the thread at most: requests come in between.
    if (isMore) this.#after(Math.ceil(performance.now() - start));
    else this.#rest();
  }

  #rest(): void {
    this.#isRunning = false;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** One slice of the organization whose turn it is. */
  #next(): boolean {
    if (nextPending(this.#store.db, this.#lastOrg) === undefined) return false;
    // Relaxed: what a power cut undoes is done again, for the mark is older.
    return this.#store.inTx(
      (tx) => {
        const work = nextPending(tx.db, this.#lastOrg);
        if (work === undefined) return false;
        this.#lastOrg = work.orgId;
        this.#slice(tx, work.orgId, SLICE_ROWS);
        return true;
      },
      { relaxed: true },
    );
  }

  /** Oldest work first: two changes of a plan must not overtake each other. Returns the rows that were changed, `limit` when there may be more. */
  #slice(tx: Tx, orgId: string, limit: number): number {
    let rows = 0;
    for (let work = oldestOf(tx.db, orgId); work !== undefined && rows < limit; work = oldestOf(tx.db, orgId)) {
      rows += this.#advance(tx, work, limit - rows);
      if (rows < limit) removePending(tx, work);
    }
    tx.onCommit(() => {
      this.#rows += rows;
    });
    return rows;
  }

  #advance(tx: Tx, work: PendingWork, limit: number): number {
    const steps = this.#steps.get(work.kind);
    if (steps === undefined) throw new Error(`nothing carries out ${work.kind}`);
    const at: Tx = { ...tx, now: work.at };
    let rows = 0;
    for (const step of steps) {
      if (rows >= limit) break;
      rows += step(at, work, limit - rows);
    }
    return rows;
  }
}
