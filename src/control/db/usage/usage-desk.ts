/**
 * Answers the questions that the thread of `usage.db` is asked, one after the other, in the order in which they come; sweeping goes on between
 * them, slice by slice, and rests for as long as it has worked. Called by usage-worker.ts.
 */
import { codeOf, messageOf } from '../../../base/errors.ts';
import type { Sqlite } from '../sqlite.ts';
import { Deletions, type Pass } from './deletions.ts';
import { find, heads, unrecorded } from './find.ts';
import { forgetOrganization, forgetTunnel, organizations, tunnels } from './holdings.ts';
import { type Insert, prepareInsert } from './insert.ts';
import { Listing } from './list.ts';
import {
  type Answer,
  type CallName,
  type Calls,
  type FaultKind,
  type Notice,
  type Question,
  Unanswerable,
  type UsageSetup,
} from './questions.ts';
import type { Keeping, RecordFilter, SweepReport } from './records.ts';
import { faultKind, UsageFile } from './usage-file.ts';
import { UsageRoom } from './usage-room.ts';
import { prepareWebSockets, type StoreWebSockets } from './websockets/websockets.ts';

/** A sweep ends after this, and the next one goes on. */
const SWEEP_MS = 10_000;
/** What is deleted in one go behind new records, when there is no room. */
const ROOM_MS = 20;
/** The file may be over its bound by this much before new records are refused: deleting keeps pace with storing, but not with everything. */
const ROOM_SLACK = 16 * 1024 * 1024;
const NO_ROOM = 'NO_ROOM';
/** How often all records may be deleted for want of room. */
const GIVE_WAY_EVERY_MS = 10_000;
/** All others write, and wait while the log is folded back. */
const READS: ReadonlySet<CallName> = new Set(['list', 'find', 'heads', 'unrecorded', 'organizations', 'tunnels']);

/** Worked at bit by bit, between other questions. */
type SteppedCall = 'sweep' | 'list';

interface Opened {
  readonly sqlite: Sqlite;
  readonly insert: Insert;
  readonly storeWebSockets: StoreWebSockets;
  readonly deletions: Deletions;
}

export class UsageDesk {
  readonly #maxBytes: number;
  readonly #file: UsageFile;
  readonly #room: UsageRoom;
  readonly #post: (message: Answer | Notice) => void;
  readonly #calls: Omit<Calls, SteppedCall>;
  #opened: Opened | undefined;
  #sweeping = false;
  #makingRoom = false;
  #gaveWayAt = -Infinity;

  constructor({ dataDir, maxBytes, minFree = 0 }: UsageSetup, post: (message: Answer | Notice) => void) {
    this.#maxBytes = maxBytes;
    this.#post = post;
    this.#file = new UsageFile(dataDir, post);
    this.#room = new UsageRoom(dataDir, minFree);
    this.#calls = {
      store: (piece) => this.#store(piece.bytes.byteLength, ({ insert }) => insert(piece)),
      storeWebSockets: (updates) => {
        const bytes = updates.reduce((sum, { payload }) => sum + payload.byteLength, 0);
        this.#store(bytes, ({ storeWebSockets }) => storeWebSockets(updates));
      },
      find: (orgId, id) => this.#with(({ sqlite }) => find(sqlite, orgId, id)),
      heads: (orgId, ids) => this.#with(({ sqlite }) => heads(sqlite, orgId, ids)),
      unrecorded: (orgId, filter) => this.#with(({ sqlite }) => unrecorded(sqlite, orgId, filter)),
      forgetTunnel: (orgId, tunnelId) => this.#with(({ sqlite }) => forgetTunnel(sqlite, orgId, tunnelId)),
      forgetOrganization: (orgId) => this.#with(({ sqlite }) => forgetOrganization(sqlite, orgId)),
      organizations: () => this.#with(({ sqlite }) => organizations(sqlite)),
      tunnels: (after) => this.#with(({ sqlite }) => tunnels(sqlite, after)),
      giveWay: () => this.#giveWay(),
      close: () => this.#file.close(),
    };
  }

  ask({ ref, name, args }: Question): void {
    if (name === 'list') this.#list(ref, args as Parameters<Calls['list']>);
    else if (READS.has(name)) this.#answer({ ref, name, args });
    else if (name === 'sweep') this.#whenWritable(() => this.#sweep(ref, args[0] as readonly Keeping[]));
    else this.#whenWritable(() => this.#answer({ ref, name, args }));
  }

  /** At once, or when the log has been folded back; in the order in which it is called. */
  #whenWritable(work: () => void): void {
    const { folding } = this.#file;
    if (folding === undefined) work();
    else void folding.then(() => this.#whenWritable(work));
  }

  #answer({ ref, name, args }: Question): void {
    const start = performance.now();
    try {
      const value = (this.#calls[name as keyof Omit<Calls, SteppedCall>] as (...given: readonly unknown[]) => unknown)(
        ...args,
      );
      if (!READS.has(name)) this.#file.written();
      this.#post({ ref, ok: true, value, heldMs: performance.now() - start });
    } catch (error) {
      this.#post({ ref, ok: false, kind: kindOf(error), message: messageOf(error) });
    }
  }

  /** Runs it on the open file; once more on a new one when the file turns out to be damaged. */
  #with<T>(work: (on: Opened) => T): T {
    try {
      return work(this.#open());
    } catch (error) {
      if (!this.#file.setAsideIfDamaged(error)) throw error;
      return work(this.#open());
    }
  }

  #open(): Opened {
    const sqlite = this.#file.open();
    if (this.#opened?.sqlite !== sqlite) {
      const storing = { insert: prepareInsert(sqlite), storeWebSockets: prepareWebSockets(sqlite) };
      this.#opened = { sqlite, ...storing, deletions: new Deletions(sqlite, this.#maxBytes) };
    }
    return this.#opened;
  }

  #store(bytes: number, work: (on: Opened) => void): void {
    if (!this.#room.take(bytes)) {
      if (this.#room.isCritical) this.#giveWay();
      throw Object.assign(new Error(this.#room.shortage), { code: 'ENOSPC' });
    }
    this.#file.checkLog();
    if (this.#with(({ deletions }) => deletions.usedBytes > this.#maxBytes + ROOM_SLACK)) {
      this.#makeRoom();
      throw Object.assign(new Error('the file is over its bound'), { code: NO_ROOM });
    }
    this.#with(work);
    this.#makeRoom();
  }

  /** To delete a part of the records would need room for the log of that. */
  #giveWay(): void {
    if (performance.now() - this.#gaveWayAt < GIVE_WAY_EVERY_MS) return;
    this.#gaveWayAt = performance.now();
    this.#opened = undefined;
    this.#file.remove();
  }

  /** Deletes slice by slice until the file is within its bound. */
  #makeRoom(): void {
    if (this.#makingRoom) return;
    const start = performance.now();
    try {
      while (performance.now() - start < ROOM_MS && this.#file.folding === undefined) {
        const isDone = this.#with(({ deletions }) => !deletions.isOver || deletions.makeRoom().done);
        this.#file.written();
        if (isDone) return;
      }
    } catch (error) {
      const notice = 'could not free space for request records';
      this.#post({ notice, level: 'warn', fields: { reason: messageOf(error) } });
      return;
    }
    this.#makingRoom = true;
    setTimeout(() => {
      this.#makingRoom = false;
      this.#whenWritable(() => this.#makeRoom());
    }, performance.now() - start);
  }

  /** A list that looks into bodies takes longer than others may wait. */
  #list(ref: number, [orgId, filter]: readonly [string, RecordFilter]): void {
    let listing: Listing | undefined;
    let longestHoldMs = 0;
    const step = (): void => {
      const began = performance.now();
      try {
        const page = this.#with(({ sqlite }) => {
          // Another file than before: there is nothing left to go on with.
          if (listing?.sqlite !== sqlite) listing = new Listing(sqlite, orgId, filter);
          return listing.step();
        });
        longestHoldMs = Math.max(longestHoldMs, performance.now() - began);
        if (page === undefined) setImmediate(step);
        else this.#post({ ref, ok: true, value: page, heldMs: longestHoldMs });
      } catch (error) {
        this.#post({ ref, ok: false, kind: kindOf(error), message: messageOf(error) });
      }
    };
    step();
  }

  #sweep(ref: number, keeping: readonly Keeping[]): void {
    if (this.#sweeping) {
      this.#post({ ref, ok: false, kind: 'fault', message: 'a sweep is under way' });
      return;
    }
    this.#sweeping = true;
    // Over its bound without anything new: the setting was lowered.
    this.#makeRoom();
    const pass: Pass = { keeping, next: 0 };
    const start = performance.now();
    let deleted = 0;
    let longestHoldMs = 0;
    const step = (): void => {
      const began = performance.now();
      try {
        const slice = this.#with(({ deletions }) => deletions.sweep(pass));
        this.#file.written();
        const now = performance.now();
        deleted += slice.deleted;
        longestHoldMs = Math.max(longestHoldMs, now - began);
        if (!slice.done && now - start < SWEEP_MS) {
          setTimeout(() => this.#whenWritable(step), now - began);
          return;
        }
        const report: SweepReport = { deleted, longestHoldMs, done: slice.done };
        this.#post({ ref, ok: true, value: report, heldMs: longestHoldMs });
      } catch (error) {
        this.#post({ ref, ok: false, kind: kindOf(error), message: messageOf(error) });
      }
      this.#sweeping = false;
    };
    step();
  }
}

function kindOf(error: unknown): FaultKind {
  if (error instanceof Unanswerable) return 'asked';
  return codeOf(error) === NO_ROOM ? 'room' : faultKind(error);
}
