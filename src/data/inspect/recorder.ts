/**
 * Decides which requests are recorded, and keeps the count of those that are not. One per node, in the edge's context; null there while the
 * inspector is off. What it is asked per request is answered by comparing numbers; a request that is not recorded costs no memory.
 */
import type { Logger } from '../../base/log.ts';
import type { InspectorStats } from '../../plane/edge-stats.ts';
import type { Link } from '../../plane/link.ts';
import type { RouteEntry } from '../routing/entry.ts';
import { Allowance } from '../../base/limits/allowance.ts';
import { TunnelRecords } from './tunnel-records.ts';
import { Draft, type DraftOwner, type DropReason, NO_DROPS, OWN_BYTES } from './draft.ts';
import { RecordMemory } from './memory.ts';
import { RecordIds } from './record-ids.ts';
import type { WebSocketRecord } from './websocket/websocket-record.ts';
import { OrgShares } from './org-shares.ts';
import { type QueueOptions, RecordQueue } from './record-queue.ts';

/** A node's settings of the inspector. */
export interface InspectorSettings {
  /** Of each body, in the record. */
  readonly maxBodyBytes: number;
  /** Requests that are recorded per second, of a tunnel and of the node; 0: no limit. */
  readonly maxPerSecondPerTunnel: number;
  readonly maxPerSecond: number;
  /** What records take from their beginning until they are stored. */
  readonly maxMemoryMb: number;
  /** Frames of WebSockets are recorded where their tunnel says nothing. */
  readonly websocketFrames: boolean;
}

/** A request that the control plane sends, as far as its record goes. */
export interface SentRecord {
  /** Known before the request is sent. */
  readonly id: string;
  readonly replayOf: string | null;
}

/** How long a quiet tunnel, or node, saves up what it may record: that much may come at once. */
const TUNNEL_BURST_SECONDS = 10;
const NODE_BURST_SECONDS = 4;
/** So many organizations together are recorded as fast as a node may; one alone at that part of it. */
const ORGS_AT_FULL_RATE = 2;
/** Frames of WebSockets may have that part of the memory: they stay for as long as their connection does. */
const FRAMES_SHARE = 4;
const MEGABYTE = 1 << 20;
/** A fault is said once in so long, with the count since. */
const SAY_AGAIN_MS = 60_000;
/** The longest wait for records to be stored, at the end of the node. */
const FLUSH_MS = 500;
const LAST_FLUSH_MS = 2_000;

/** The counts of a node that records nothing. */
export const NO_RECORDS: InspectorStats = { recorded: 0, dropped: NO_DROPS, waiting: 0, heldBytes: 0 };

export class Recorder implements DraftOwner {
  readonly maxBodyBytes: number;
  readonly websocketFrames: boolean;
  readonly #settings: InspectorSettings;
  readonly #log: Logger;
  readonly #memory: RecordMemory;
  readonly #frameMemory: RecordMemory;
  readonly #queue: RecordQueue;
  readonly #allowance: Allowance;
  readonly #orgs: OrgShares;
  readonly #dropped: Record<DropReason, number> = { ...NO_DROPS };
  #faults = 0;
  readonly #ids = new RecordIds();
  #saidMs = Number.NEGATIVE_INFINITY;

  constructor(
    settings: InspectorSettings,
    deps: { readonly link: Pick<Link, 'inspect'>; readonly log: Logger; readonly queue?: QueueOptions },
  ) {
    this.maxBodyBytes = settings.maxBodyBytes;
    this.websocketFrames = settings.websocketFrames;
    this.#settings = settings;
    this.#log = deps.log;
    this.#memory = new RecordMemory(settings.maxMemoryMb * MEGABYTE);
    this.#frameMemory = new RecordMemory((settings.maxMemoryMb * MEGABYTE) / FRAMES_SHARE);
    this.#queue = new RecordQueue(deps, deps.queue);
    const { maxPerSecond } = settings;
    this.#allowance = new Allowance(
      { perSecond: maxPerSecond, burst: NODE_BURST_SECONDS * maxPerSecond },
      performance.now(),
    );
    const perOrg = Math.ceil(maxPerSecond / ORGS_AT_FULL_RATE);
    this.#orgs = new OrgShares({ perSecond: perOrg, burst: NODE_BURST_SECONDS * perOrg });
  }

  /** The record of a request for `entry`; null: it is not recorded. `nowMs`: monotonic, may be coarse. `sent`: the control plane sends it, and it needs no allowance. */
  begin(entry: RouteEntry, nowMs: number, sent: SentRecord | null): Draft | null {
    if (!entry.inspected || entry.route.protocol === 'tcp') return null;
    try {
      const tunnel = (entry.records ??= this.#tunnelRecords(entry, nowMs));
      if (!this.#memory.has(tunnel.org, OWN_BYTES)) return this.#missed(tunnel, 'memory');
      if (sent !== null) return new Draft(this, { id: sent.id, tunnel, replayOf: sent.replayOf });
      if (!tunnel.allowance.hasOne(nowMs)) return this.#missed(tunnel, 'tunnel_rate');
      if (!tunnel.org.allowance.hasOne(nowMs)) return this.#missed(tunnel, 'org_rate');
      if (!this.#allowance.hasOne(nowMs)) return this.#missed(tunnel, 'node_rate');
      tunnel.allowance.spend();
      tunnel.org.allowance.spend();
      this.#allowance.spend();
      return new Draft(this, { id: this.#ids.next(), tunnel, replayOf: null });
    } catch (error) {
      this.failed(error);
      return null;
    }
  }

  /** Resolves once what was recorded until now is stored or given up, and after half a second at the latest. */
  flush(): Promise<void> {
    return this.#queue.flush(FLUSH_MS);
  }

  /** Tells what is left. */
  async close(): Promise<void> {
    await this.#queue.flush(LAST_FLUSH_MS);
    const { waiting } = this.#queue;
    if (waiting > 0) this.#log.warn({ waiting }, 'could not store the last request records');
    this.#queue.close();
  }

  stats(): InspectorStats {
    return {
      recorded: this.#queue.recorded,
      dropped: { ...this.#dropped },
      waiting: this.#queue.waiting,
      heldBytes: this.#memory.heldBytes,
    };
  }

  // ------------------------------------------------------------------ from its drafts and WebSockets (DraftOwner)

  take({ org }: TunnelRecords, bytes: number): boolean {
    return this.#memory.take(org, bytes);
  }

  give({ org }: TunnelRecords, bytes: number): void {
    this.#memory.give(org, bytes);
  }

  takeFrames({ org }: TunnelRecords, bytes: number): boolean {
    if (!this.#frameMemory.has(org.frames, bytes) || !this.#memory.take(org, bytes)) return false;
    return this.#frameMemory.take(org.frames, bytes);
  }

  giveFrames({ org }: TunnelRecords, bytes: number): void {
    this.#memory.give(org, bytes);
    this.#frameMemory.give(org.frames, bytes);
  }

  changed(websocket: WebSocketRecord): void {
    this.#queue.change(websocket);
  }

  finished(draft: Draft): void {
    this.#queue.add(draft);
  }

  dropped(of: TunnelRecords, reason: DropReason): void {
    this.#dropped[reason]++;
    this.#queue.miss(of);
  }

  failed(error: unknown): void {
    this.#faults++;
    const now = performance.now();
    if (now - this.#saidMs < SAY_AGAIN_MS) return;
    this.#saidMs = now;
    this.#log.error({ err: error, faults: this.#faults }, 'could not record a request');
    this.#faults = 0;
  }

  #missed(tunnel: TunnelRecords, reason: DropReason): null {
    this.dropped(tunnel, reason);
    return null;
  }

  #tunnelRecords(entry: RouteEntry, nowMs: number): TunnelRecords {
    const perSecond = this.#settings.maxPerSecondPerTunnel;
    const allowance = new Allowance({ perSecond, burst: TUNNEL_BURST_SECONDS * perSecond }, nowMs);
    return new TunnelRecords(entry, { allowance, org: this.#orgs.of(entry.route.orgId, nowMs) });
  }
}
