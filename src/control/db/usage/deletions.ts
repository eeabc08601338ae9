/**
 * What goes out of the file: records that are too old, that were forgotten, and the oldest when there is no room. In the thread alone
 * (usage-desk.ts). In slices: each one transaction that ends by the clock, so that readers and new records wait for one at most.
 */
import type { Sqlite } from '../sqlite.ts';
import { UNRECORDED_BYTES } from './form.ts';
import { firstIdAt, idTime, LAST_ID } from './record-ids.ts';
import type { Keeping } from './records.ts';

const MINUTE_MS = 60_000;
/** Read ahead of what is deleted. */
const BATCH = 50;
/** The commit comes behind the work of a slice and is not seen from inside: so much at first, less where commits take long. */
const FIRST_WORK_MS = 5;
const MAX_WORK_MS = 7;
/** A slice that held the file for longer is followed by a shorter one; the bound that is kept is 50 ms. */
const LONG_MS = 20;
/** Free pages are given back to the disk when they are this share of the file and this many. */
const FREE_SHARE = 0.25;
const FREE_PAGES = 2_048;
const VACUUM_PAGES = 64;

interface Row {
  readonly tunnel: number;
  readonly id: Buffer;
  readonly org: number;
  readonly detail: number;
  readonly bytes: number;
}

interface Bounds {
  /** By performance.now(). */
  readonly until: number;
  /** Records. */
  readonly most?: number;
}

/** A sweep under way. */
export interface Pass {
  readonly keeping: readonly Keeping[];
  /** Organizations before this one are done. */
  next: number;
}

export interface Slice {
  readonly deleted: number;
  /** There is nothing more of the kind that was asked for. */
  readonly done: boolean;
}

export class Deletions {
  readonly #sqlite: Sqlite;
  readonly #maxBytes: number;
  readonly #statements: ReturnType<typeof prepare>;
  readonly #pageBytes: number;
  #workMs = FIRST_WORK_MS;

  constructor(sqlite: Sqlite, maxBytes: number) {
    this.#sqlite = sqlite;
    this.#maxBytes = maxBytes;
    this.#statements = prepare(sqlite);
    this.#pageBytes = Number(sqlite.pragma('page_size', { simple: true }));
  }

  /** What is in use, bytes; free pages do not count. */
  get usedBytes(): number {
    return (this.#pages('page_count') - this.#pages('freelist_count')) * this.#pageBytes;
  }

  get isOver(): boolean {
    return this.usedBytes > this.#maxBytes;
  }

  /** Deletes what was forgotten or is older than kept, for one slice; when there is none, gives free pages back to the disk. */
  sweep(pass: Pass): Slice {
    const slice = this.#slice((until) => {
      const forgotten = this.#forgotten(until);
      if (!forgotten.done) return forgotten;
      const old = this.#old(pass, until);
      return { deleted: forgotten.deleted + old.deleted, done: old.done };
    });
    return slice.done ? { deleted: slice.deleted, done: this.#giveBack() } : slice;
  }

  /** Deletes the oldest records of the organization that holds most until the file is within its bound, for one slice. */
  makeRoom(): Slice {
    return this.#slice((until) => {
      const forgotten = this.#forgotten(until);
      let { deleted } = forgotten;
      if (!forgotten.done) return { deleted, done: !this.isOver };
      while (this.isOver) {
        const most = this.#statements.largest.get();
        if (most === undefined) break;
        const slice = this.#ofOrganization(most.n, LAST_ID, { until, most: BATCH });
        deleted += slice.deleted;
        if (performance.now() >= until) return { deleted, done: !this.isOver };
      }
      return { deleted, done: true };
    });
  }

  #pages(name: 'page_count' | 'freelist_count'): number {
    return Number(this.#sqlite.pragma(name, { simple: true }));
  }

  #slice(work: (until: number) => Slice): Slice {
    const start = performance.now();
    const slice = this.#sqlite.transaction(() => work(start + this.#workMs)).immediate();
    const heldMs = performance.now() - start;
    this.#workMs = heldMs > LONG_MS ? Math.max(this.#workMs / 2, 1) : Math.min(this.#workMs * 1.2, MAX_WORK_MS);
    return slice;
  }

  #forgotten(until: number): Slice {
    const { forgottenOrganization, forgottenTunnel, ofTunnel, dropTunnel, dropTunnels, dropOrganization } =
      this.#statements;
    let deleted = 0;
    for (let org = forgottenOrganization.get(); org !== undefined; org = forgottenOrganization.get()) {
      const slice = this.#ofOrganization(org.n, LAST_ID, { until });
      deleted += slice.deleted;
      if (!slice.done) return { deleted, done: false };
      dropTunnels.run(org.n);
      dropOrganization.run(org.n);
    }
    for (let tunnel = forgottenTunnel.get(); tunnel !== undefined; tunnel = forgottenTunnel.get()) {
      const { n } = tunnel;
      const slice = this.#rows(() => ofTunnel.all(n, BATCH), { until });
      deleted += slice.deleted;
      if (!slice.done) return { deleted, done: false };
      dropTunnel.run(n);
    }
    return { deleted, done: true };
  }

  #old(pass: Pass, until: number): Slice {
    let deleted = 0;
    for (let kept = pass.keeping[pass.next]; kept !== undefined; kept = pass.keeping[++pass.next]) {
      if (performance.now() >= until) return { deleted, done: false };
      const org = this.#statements.organization.get(kept.orgId);
      if (org === undefined) continue;
      const slice = this.#ofOrganization(org.n, firstIdAt(kept.since), { until });
      deleted += slice.deleted;
      if (!slice.done) return { deleted, done: false };
    }
    return { deleted, done: true };
  }

  /** The oldest of an organization that are older than `before`, `most` at most, and the counts of what was not recorded in their time. */
  #ofOrganization(org: number, before: Buffer, { until, most = Infinity }: Bounds): Slice {
    const { ofOrganization, oldest, weigh, dropUnrecorded, empty } = this.#statements;
    const slice = this.#rows(() => ofOrganization.all(org, before, BATCH), { until, most });
    if (!slice.done && performance.now() >= until) return slice;
    // Counts are kept for as long as the records beside which they stand.
    const left = oldest.get(org)?.id;
    const upTo = left === undefined || Buffer.compare(left, before) > 0 ? before : left;
    for (;;) {
      const { changes } = dropUnrecorded.run(org, Math.floor(idTime(upTo) / MINUTE_MS), BATCH);
      weigh.run(changes * UNRECORDED_BYTES, org);
      if (changes < BATCH) break;
      if (performance.now() >= until) return { deleted: slice.deleted, done: false };
    }
    if (left === undefined && upTo === LAST_ID) empty.run(org);
    return slice;
  }

  #rows(next: () => readonly Row[], { until, most = Infinity }: Bounds): Slice {
    const { dropRecord, dropDetail, weigh } = this.#statements;
    let deleted = 0;
    for (;;) {
      const rows = next();
      let bytes = 0;
      let isOver = false;
      for (const row of rows) {
        dropRecord.run(row.tunnel, row.id);
        dropDetail.run(row.detail);
        bytes += row.bytes;
        deleted += 1;
        // At least one: a clock that jumps must not make slices that do nothing.
        isOver = performance.now() >= until || deleted >= most;
        if (isOver) break;
      }
      // All of one organization.
      if (rows[0] !== undefined) weigh.run(bytes, rows[0].org);
      if (isOver || rows.length < BATCH) return { deleted, done: !isOver };
    }
  }

  /** True: there is nothing to give back. Pages are moved to the front of the file little by little. */
  #giveBack(): boolean {
    const until = performance.now() + this.#workMs;
    for (let before = Infinity; ; ) {
      const free = this.#pages('freelist_count');
      const isWorth = free >= FREE_PAGES && free >= this.#pages('page_count') * FREE_SHARE;
      if (!isWorth || free >= before) return true;
      if (performance.now() >= until) return false;
      before = free;
      this.#sqlite.exec(`PRAGMA incremental_vacuum(${VACUUM_PAGES})`);
    }
  }
}

function prepare(sqlite: Sqlite) {
  return {
    organization: sqlite.prepare<[string], { n: number }>('SELECT n FROM organizations WHERE id = ?'),
    largest: sqlite.prepare<[], { n: number }>(
      'SELECT n FROM organizations WHERE bytes > 0 ORDER BY bytes DESC LIMIT 1',
    ),
    forgottenOrganization: sqlite.prepare<[], { n: number }>('SELECT n FROM organizations WHERE id IS NULL LIMIT 1'),
    forgottenTunnel: sqlite.prepare<[], { n: number }>('SELECT n FROM tunnels WHERE id IS NULL LIMIT 1'),
    ofTunnel: sqlite.prepare<[number, number], Row>(
      'SELECT tunnel, id, org, detail, bytes FROM records WHERE tunnel = ? ORDER BY id LIMIT ?',
    ),
    ofOrganization: sqlite.prepare<[number, Buffer, number], Row>(
      'SELECT tunnel, id, org, detail, bytes FROM records INDEXED BY records_org WHERE org = ? AND id < ? ORDER BY id LIMIT ?',
    ),
    oldest: sqlite.prepare<[number], { id: Buffer }>(
      'SELECT id FROM records INDEXED BY records_org WHERE org = ? ORDER BY id LIMIT 1',
    ),
    dropRecord: sqlite.prepare('DELETE FROM records WHERE tunnel = ? AND id = ?'),
    dropDetail: sqlite.prepare('DELETE FROM details WHERE n = ?'),
    dropUnrecorded: sqlite.prepare(
      `DELETE FROM unrecorded WHERE (org, minute, tunnel) IN
       (SELECT org, minute, tunnel FROM unrecorded WHERE org = ? AND minute < ? ORDER BY minute LIMIT ?)`,
    ),
    dropTunnel: sqlite.prepare('DELETE FROM tunnels WHERE n = ?'),
    dropTunnels: sqlite.prepare('DELETE FROM tunnels WHERE org = ?'),
    dropOrganization: sqlite.prepare('DELETE FROM organizations WHERE n = ?'),
    weigh: sqlite.prepare('UPDATE organizations SET bytes = max(bytes - ?, 0) WHERE n = ?'),
    // Nothing is left that it could be counted for.
    empty: sqlite.prepare('UPDATE organizations SET bytes = 0 WHERE n = ?'),
  };
}
