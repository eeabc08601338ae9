/**
 * Records that are complete, on their way to the control plane: one batch at a time, the next 50 ms after its first record or when the last one
 * is stored. Nothing is sent twice and nothing waits for long: what finds no place is counted. With the records goes how many requests of each
 * tunnel were not recorded, and what has passed through upgraded connections. Fed by recorder.ts.
 */
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { within } from '../../base/limits/within.ts';
import type { InspectionBatch, UnrecordedCount } from '../../plane/inspection.ts';
import type { Link } from '../../plane/link.ts';
import type { TunnelRecords } from './tunnel-records.ts';
import type { Draft } from './draft.ts';
import type { WebSocketRecord } from './websocket/websocket-record.ts';

export interface QueueOptions {
  /** Records that may wait for their batch. */
  readonly maxWaiting?: number;
  /** Of one batch: records, bytes of heads and bodies (at least one record goes), tunnels of which something was not recorded. */
  readonly maxRecords?: number;
  readonly maxBytes?: number;
  readonly maxCounts?: number;
  /** From the first record to its batch, and between two tellings of what was not recorded. */
  readonly gatherMs?: number;
  readonly tellMs?: number;
  /** An answer that has not come by then is taken for lost, and the records with it. */
  readonly answerMs?: number;
}

const USUAL: Required<QueueOptions> = {
  maxWaiting: 10_000,
  maxRecords: 500,
  maxBytes: 4 << 20,
  maxCounts: 1_000,
  gatherMs: 50,
  tellMs: 1_000,
  answerMs: 30_000,
};

/** That part of a batch's bytes is left to updates of WebSockets while some wait: no rush of records may hold them up. */
const UPDATES_SHARE = 1 / 4;

interface Counted {
  readonly of: TunnelRecords;
  readonly count: number;
}

/** What one batch is made of. */
interface Taken {
  readonly drafts: readonly Draft[];
  readonly websockets: readonly WebSocketRecord[];
  readonly counts: readonly Counted[];
}

export class RecordQueue {
  readonly #options: Required<QueueOptions>;
  readonly #link: Pick<Link, 'inspect'>;
  readonly #log: Logger;
  #waiting: Draft[] = [];
  /** Those with something untold: at most as many as there are tunnels. */
  readonly #untold = new Set<TunnelRecords>();
  /** Those with something to tell: at most those that are open, and as many that have ended as records may wait. */
  readonly #websockets = new Set<WebSocketRecord>();
  #sending: Promise<void> | null = null;
  #timer: NodeJS.Timeout | undefined;
  #next: NodeJS.Immediate | undefined;
  #toldMs = Number.NEGATIVE_INFINITY;
  /** A caller waits for all there is. */
  #isUrgent = false;
  #underWay = 0;
  #isClosed = false;
  #recorded = 0;
  /** Of records, of counts and of changes: how many there were, and how many of them are settled, in order. */
  #added = 0;
  #settled = 0;
  #missed = 0;
  #told = 0;
  #changes = 0;
  #toldChanges = 0;

  constructor(deps: { link: Pick<Link, 'inspect'>; log: Logger }, options: QueueOptions = {}) {
    this.#options = { ...USUAL, ...options };
    this.#link = deps.link;
    this.#log = deps.log;
  }

  /** Records that the control plane has taken. */
  get recorded(): number {
    return this.#recorded;
  }

  /** Records that are complete and not settled: they wait, or their batch is under way. */
  get waiting(): number {
    return this.#waiting.length + this.#underWay;
  }

  add(draft: Draft): void {
    if (this.#isClosed || this.#waiting.length >= this.#options.maxWaiting) return draft.drop('queue');
    this.#waiting.push(draft);
    this.#added++;
    this.#schedule();
  }

  /** There is something to tell of an upgraded connection. The end of one is given up where records would be. */
  change(websocket: WebSocketRecord): void {
    if (this.#websockets.has(websocket)) return;
    if (this.#isClosed || (!websocket.isOpen && this.#websockets.size >= this.#options.maxWaiting))
      return websocket.giveUp();
    this.#websockets.add(websocket);
    this.#changes++;
    this.#schedule();
  }

  /** A request of this tunnel was not recorded. */
  miss(of: TunnelRecords): void {
    of.untold++;
    this.#missed++;
    this.#untold.add(of);
    if (this.#timer === undefined) this.#schedule();
  }

  /** Resolves when all that was added until now is settled, or after `timeoutMs`. Never rejects. */
  async flush(timeoutMs: number): Promise<void> {
    const records = this.#added;
    const misses = this.#missed;
    const untilMs = performance.now() + timeoutMs;
    const changes = this.#changes;
    const isOver = (): boolean => this.#settled >= records && this.#told >= misses && this.#toldChanges >= changes;
    while (!isOver() && !this.#isClosed) {
      this.#isUrgent = true;
      this.#start();
      if (this.#sending === null || !(await within(this.#sending, untilMs - performance.now(), { holdsProcess: true })))
        return;
    }
  }

  /** Sends nothing more; `flush` first. What waits is given up. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    clearImmediate(this.#next);
    for (const draft of this.#waiting.splice(0)) draft.drop('queue');
    for (const websocket of this.#websockets) websocket.giveUp();
    this.#websockets.clear();
  }

  #schedule(): void {
    if (this.#sending !== null || this.#isClosed) return;
    if (this.#waiting.length >= this.#options.maxRecords) this.#next ??= setImmediate(() => this.#start());
    else this.#timer ??= setTimeout(() => this.#start(), this.#options.gatherMs).unref();
  }

  #start(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#next);
    this.#timer = this.#next = undefined;
    if (this.#sending !== null || this.#isClosed) return;
    const drafts = this.#takeDrafts();
    const websockets = this.#takeWebSockets(drafts);
    const counts = this.#takeCounts();
    if (drafts.length === 0 && websockets.length === 0 && counts.length === 0) return this.#rest();
    this.#underWay = drafts.length;
    this.#sending = this.#deliver({ drafts, websockets, counts }).finally(() => {
      this.#sending = null;
      this.#underWay = 0;
      this.#rest();
    });
  }

  #rest(): void {
    if (this.#waiting.length > 0 || this.#untold.size > 0 || this.#websockets.size > 0) this.#schedule();
  }

  #takeDrafts(): Draft[] {
    const { maxRecords } = this.#options;
    const maxBytes = this.#options.maxBytes * (this.#websockets.size > 0 ? 1 - UPDATES_SHARE : 1);
    let count = 0;
    for (let bytes = 0; count < Math.min(maxRecords, this.#waiting.length); count++) {
      bytes += (this.#waiting[count] as Draft).keptBytes;
      if (count > 0 && bytes > maxBytes) break;
    }
    return this.#waiting.splice(0, count);
  }

  /** None may come before the record that it is of. One goes with each batch, however long it is. */
  #takeWebSockets(drafts: readonly Draft[]): WebSocketRecord[] {
    const { maxRecords, maxBytes } = this.#options;
    const taken: WebSocketRecord[] = [];
    if (this.#websockets.size === 0) return taken;
    const held = new Set<string>();
    for (const draft of this.#waiting) if (draft.isSwitched) held.add(draft.id);
    let bytes = drafts.reduce((sum, { keptBytes }) => sum + keptBytes, 0);
    for (const websocket of this.#websockets) {
      if (held.has(websocket.id)) continue;
      bytes += websocket.untoldBytes;
      if (taken.length > 0 && bytes > maxBytes) break;
      this.#websockets.delete(websocket);
      if (taken.push(websocket) >= maxRecords) break;
    }
    return taken;
  }

  #takeCounts(): Counted[] {
    const now = performance.now();
    if (this.#untold.size === 0 || (!this.#isUrgent && now - this.#toldMs < this.#options.tellMs)) return [];
    this.#isUrgent = false;
    this.#toldMs = now;
    const counts: Counted[] = [];
    for (const of of this.#untold) {
      if (counts.length === this.#options.maxCounts) break;
      counts.push({ of, count: of.untold });
      of.untold = 0;
      this.#untold.delete(of);
    }
    return counts;
  }

  async #deliver({ drafts, websockets, counts }: Taken): Promise<void> {
    let frames: readonly number[] = [];
    try {
      const batch = batchOf({ drafts, websockets, counts });
      frames = (batch.websockets ?? []).map((update) => update.frames?.length ?? -1);
      if (!(await within(this.#link.inspect(batch), this.#options.answerMs))) throw new Error('no response');
      for (const draft of drafts) draft.release();
      this.#recorded += drafts.length;
    } catch (error) {
      const lost = { records: drafts.length, websockets: websockets.length, error: messageOf(error) };
      this.#log.error(lost, 'request records were lost');
      for (const { of, count } of counts) this.#putBack(of, count);
      for (const draft of drafts) draft.drop('lost');
    }
    for (const [i, websocket] of websockets.entries()) websocket.told(frames[i] ?? -1);
    this.#settled += drafts.length;
    this.#toldChanges += websockets.length;
    for (const { count } of counts) this.#told += count;
  }

  #putBack(of: TunnelRecords, count: number): void {
    of.untold += count;
    this.#missed += count;
    this.#untold.add(of);
  }
}

/** All bytes of a batch lie in one buffer: it costs one allocation, and one copy where it goes to another thread. */
function batchOf({ drafts, websockets, counts }: Taken): InspectionBatch {
  const bytes = drafts.reduce((sum, { keptBytes }) => sum + keptBytes, 0);
  const out = Buffer.allocUnsafeSlow(websockets.reduce((sum, { untoldBytes }) => sum + untoldBytes, bytes));
  let at = 0;
  const records = drafts.map((draft) => {
    const { keptBytes } = draft;
    const record = draft.record(out, at);
    at += keptBytes;
    draft.letGo();
    return record;
  });
  const unrecorded = counts.map(unrecordedOf);
  if (websockets.length === 0) return { records, unrecorded };
  const updates = websockets.map((websocket) => {
    const { untoldBytes } = websocket;
    const update = websocket.update(out, at);
    at += untoldBytes;
    return update;
  });
  return { records, unrecorded, websockets: updates };
}

function unrecordedOf({ of: { tunnelId, orgId }, count }: Counted): UnrecordedCount {
  return { tunnelId, orgId, count };
}
