/**
 * The store of records on its thread: what waits to be stored, who may read, and what becomes of both when the thread or the file fails. Made by
 * core/core.ts. The thread is started by the first record, or the first question when there is a file already.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../../../base/errors.ts';
import type { Clock } from '../../../base/clock.ts';
import type { Logger } from '../../../base/log.ts';
import { within } from '../../../base/limits/within.ts';
import type { InspectedRequest, InspectionBatch, UnrecordedCount, WebSocketUpdate } from '../../../plane/inspection.ts';
import { LostRecords } from './lost-records.ts';
import { batchBytes, cut, cutUpdates, pack } from './pack.ts';
import type { Calls, UsageSetup } from './questions.ts';
import { ReaderPlaces } from './reader-places.ts';
import type {
  Keeping,
  KnownTunnel,
  LossReason,
  RecordFilter,
  RecordHead,
  RecordPage,
  RecordStats,
  RecordStore,
  SweepReport,
  UnrecordedFilter,
  UnrecordedRequests,
} from './records.ts';
import { USAGE_FILE } from './usage-file.ts';
import { UsageFault, UsageThread } from './usage-thread.ts';
import { packWebSocket } from './websockets/websockets.ts';
import { given } from '../../../base/given.ts';

/** A node sends its next batch when the last one is stored: more than one waits only where there are several nodes. */
const MAX_BATCHES = 64;
/** One batch alone may be larger: bodies may have 64 MB each. */
const MAX_BYTES = 64 * 1024 * 1024;
/** The thread is not waited for longer: the record may be stored all the same, and is counted as lost. */
const STORE_MS = 10_000;
const READ_MS = 2_000;
const CLOSE_MS = 2_000;

/** Calls that begin with the organization that asks. */
type OwnCall = 'list' | 'find' | 'heads' | 'unrecorded' | 'forgetTunnel' | 'forgetOrganization';

export interface UsageDeps extends UsageSetup {
  readonly clock: Clock;
  readonly log: Logger;
}

export class UsageStore implements RecordStore {
  readonly #thread: UsageThread;
  readonly #places = new ReaderPlaces();
  readonly #lost = new LostRecords();
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #path: string;
  /** Resolves when all that was given so far is done with. */
  #tail: Promise<void> = Promise.resolve();
  #batches = 0;
  #bytes = 0;
  #stored = 0;
  #trouble: LossReason | undefined;
  #closed = false;

  constructor({ dataDir, maxBytes, minFree, clock, log }: UsageDeps) {
    const setup: UsageSetup = { dataDir, maxBytes, ...given({ minFree }) };
    this.#thread = new UsageThread(setup, log);
    this.#path = join(dataDir, USAGE_FILE);
    this.#clock = clock;
    this.#log = log;
  }

  async store(batch: InspectionBatch): Promise<void> {
    const bytes = batchBytes(batch);
    const isFull = this.#batches >= MAX_BATCHES || (this.#batches > 0 && this.#bytes + bytes > MAX_BYTES);
    if (isFull || this.#closed) {
      this.#lose(batch.records, isFull ? 'queue' : 'thread', 'the queue is full');
      this.#lost.keep(batch.unrecorded);
      return;
    }
    this.#batches += 1;
    this.#bytes += bytes;
    this.#tail = this.#tail.then(async () => {
      await this.#write(batch);
      this.#batches -= 1;
      this.#bytes -= bytes;
    });
    await this.#tail;
  }

  list(orgId: string, filter: RecordFilter): Promise<RecordPage> {
    return this.#read('list', [orgId, filter], { items: [], stoppedAt: null });
  }

  find(orgId: string, id: string): Promise<InspectedRequest | undefined> {
    return this.#read('find', [orgId, id], undefined);
  }

  heads(orgId: string, ids: readonly string[]): Promise<readonly RecordHead[]> {
    return this.#read('heads', [orgId, ids], []);
  }

  unrecorded(orgId: string, filter: UnrecordedFilter): Promise<readonly UnrecordedRequests[]> {
    return this.#read('unrecorded', [orgId, filter], []);
  }

  forgetTunnel(orgId: string, tunnelId: string): Promise<void> {
    return this.#read('forgetTunnel', [orgId, tunnelId], undefined);
  }

  forgetOrganization(orgId: string): Promise<void> {
    return this.#read('forgetOrganization', [orgId], undefined);
  }

  async organizations(): Promise<readonly string[]> {
    return this.#isEmpty() ? [] : this.#thread.ask('organizations', []);
  }

  async tunnels(after: string | null): Promise<readonly KnownTunnel[]> {
    return this.#isEmpty() ? [] : this.#thread.ask('tunnels', [after]);
  }

  giveWay(): void {
    if (this.#isEmpty()) return;
    this.#thread.ask('giveWay', []).catch((error: unknown) => {
      this.#log.error({ err: error }, 'could not delete recorded requests to make room for the database');
    });
  }

  async sweep(keeping: readonly Keeping[]): Promise<SweepReport> {
    if (this.#isEmpty()) return { deleted: 0, longestHoldMs: 0, done: true };
    return this.#thread.ask('sweep', [keeping]);
  }

  stats(): RecordStats {
    return {
      stored: this.#stored,
      lost: this.#lost.byReason,
      waitingBatches: this.#batches,
      waitingBytes: this.#bytes,
      waitingReads: this.#places.waiting,
      refusedReads: this.#places.refused,
      trouble: this.#trouble,
      threadEnds: this.#thread.ends,
      longestHoldMs: this.#thread.longestHoldMs,
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    const closed = this.#tail.then(() => (this.#thread.isRunning ? this.#thread.ask('close', []) : undefined));
    await answered(CLOSE_MS, closed).catch((error: unknown) =>
      this.#log.warn({ err: error }, 'the last request records may be lost'),
    );
    await this.#thread.end();
  }

  /** Nothing was ever recorded here: no thread is started to say so. */
  #isEmpty(): boolean {
    return !this.#thread.isRunning && !existsSync(this.#path);
  }

  async #write({ records, unrecorded, websockets = [] }: InspectionBatch): Promise<void> {
    let counts: readonly UnrecordedCount[] = [...this.#lost.take(), ...unrecorded];
    const pieces = cut(records);
    for (const piece of pieces.length > 0 || counts.length === 0 ? pieces : [[]]) {
      try {
        const packed = pack(piece, { unrecorded: counts, minute: Math.floor(this.#clock.now() / 60_000) });
        await answered(STORE_MS, this.#thread.ask('store', [packed], [packed.bytes.buffer]));
        this.#stored += piece.length;
        counts = [];
        if (this.#trouble !== undefined) this.#log.info({ lost: this.#lost.byReason }, 'recording of requests resumed');
        this.#trouble = undefined;
      } catch (error) {
        this.#lose(piece, lossReason(error), error);
      }
    }
    this.#lost.keep(counts);
    for (const piece of cutUpdates(websockets)) await this.#writeUpdates(piece);
  }

  async #writeUpdates(updates: readonly WebSocketUpdate[]): Promise<void> {
    try {
      const packed = updates.map(packWebSocket);
      const buffers = packed.map(({ payload }) => payload.buffer);
      await answered(STORE_MS, this.#thread.ask('storeWebSockets', [packed], buffers));
    } catch (error) {
      this.#lose([], lossReason(error), error);
    }
  }

  /** Says so once, until a batch is stored again. */
  #lose(records: readonly InspectedRequest[], reason: LossReason, why: unknown): void {
    this.#lost.lose(records, reason);
    if (this.#trouble === reason || this.#closed) return;
    this.#trouble = reason;
    this.#log.error({ reason, err: why }, "requests can't be recorded: their records are lost and only counted");
  }

  async #read<Name extends OwnCall>(
    name: Name,
    args: Parameters<Calls[Name]>,
    empty: ReturnType<Calls[Name]>,
  ): Promise<ReturnType<Calls[Name]>> {
    if (this.#isEmpty()) return empty;
    const giveBack = this.#places.take(args[0]);
    // The place is taken until the thread has answered, also when its caller gave up.
    const answer = this.#thread.ask(name, args).finally(giveBack);
    try {
      return await answered(READ_MS, answer);
    } catch (error) {
      if (!(error instanceof UsageFault)) throw error;
      if (error.kind === 'asked') throw new AppError('invalid_request', error.message, { cause: error });
      if (error.kind === 'fault') throw error;
      const message = 'Recorded requests cannot be read right now. Try again in a few seconds.';
      throw new AppError('unavailable', message, { cause: error, retryAfterSeconds: 5 });
    }
  }
}

function lossReason(error: unknown): LossReason {
  if (!(error instanceof UsageFault)) return 'thread';
  // A piece that the file can't take for a reason of ours is one more that the file did not take.
  return error.kind === 'asked' || error.kind === 'fault' ? 'file' : error.kind;
}

/** The answer of the thread. Rejects with a UsageFault when it takes longer; the work goes on all the same. */
async function answered<T>(ms: number, work: Promise<T>): Promise<T> {
  if (await within(work, ms, { holdsProcess: true })) return work;
  throw new UsageFault('thread', `no response within ${ms} ms`);
}
