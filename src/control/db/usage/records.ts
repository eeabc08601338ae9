/**
 * The store of recorded requests as the rest of the control plane sees it: `usage.db`, in a thread of its own. Made by
 * core/core.ts; used by the link, the inspector and the jobs. The organization is an argument of every query.
 * The file is expendable: docs/decisions/0012-usage-file.md.
 */
import type { InspectedRequest, InspectionBatch, Trace, WebSocketFacts } from '../../../plane/inspection.ts';

/** What a list shows of a record: heads, bodies and trace are not read for it. */
export type RecordItem = Pick<
  InspectedRequest,
  | 'id'
  | 'tunnelId'
  | 'at'
  | 'method'
  | 'target'
  | 'status'
  | 'latencyMs'
  | 'requestSize'
  | 'responseSize'
  | 'remoteIp'
  | 'replayOf'
> &
  Pick<Trace, 'outcome' | 'code'> & {
    /** Left out: it is no WebSocket, or nothing is known of it yet. */
    readonly websocket?: WebSocketFacts;
  };

/** Both ends belong to it: 404 is 404 to 404, a class of status 500 to 599. */
export interface StatusRange {
  readonly from: number;
  readonly to: number;
}

export interface HeaderMatch {
  readonly name: string;
  readonly value?: string | undefined;
}

export const MAX_LIST = 500;

export interface RecordFilter {
  /** 1 to MAX_LIST. */
  readonly limit: number;
  readonly tunnelId?: string | undefined;
  /** Older than this record, which need not be there any more: the next page. */
  readonly before?: string | undefined;
  /** As it was sent, or a standard method in any case. */
  readonly method?: string | undefined;
  readonly status?: StatusRange | undefined;
  /** Stands somewhere in the request target; ASCII case does not count. */
  readonly pathContains?: string | undefined;
  /** When the head came, milliseconds since the epoch: from `since` on, before `until`. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  readonly outcome?: Trace['outcome'] | undefined;
  /** Of `latencyMs`; both ends belong to it. */
  readonly minLatencyMs?: number | undefined;
  readonly maxLatencyMs?: number | undefined;
  /** The visitor's address, or a network (`203.0.113.0/24`). */
  readonly address?: string | undefined;
  /** A header of request or response with this name, and this text in its value; ASCII case does not count. */
  readonly header?: HeaderMatch | undefined;
  /** Stands in what was recorded of one of the bodies, decoded; ASCII case does not count. */
  readonly bodyContains?: string | undefined;
  /** Trace id of the request's `traceparent`: 32 hexadecimal digits. */
  readonly traceId?: string | undefined;
  /** Replays of this record. */
  readonly replayOf?: string | undefined;
}

export interface RecordPage {
  /** Newest first. */
  readonly items: readonly RecordItem[];
  /**
   * Null: there are `limit` items, or no more that fit. Else the time for looking ran out: everything from this record on has been looked
   * at, and `before` of this id goes on. So end filters for what is rare, and any list in whose way much lies that was forgotten.
   */
  readonly stoppedAt: string | null;
}

/** Of `heads` in one go: each is read for itself. */
export const MAX_HEADS = 50;

/** A request's head and what the edge decided about it, without bodies. */
export interface RecordHead extends Pick<InspectedRequest, 'id' | 'requestHead'> {
  /** Null: it lies behind bodies that are too long to be read over for it. */
  readonly trace: Trace | null;
}

export interface UnrecordedFilter {
  readonly tunnelId?: string | undefined;
  /** Milliseconds since the epoch, in whole minutes: the one that `since` falls in counts. */
  readonly since: number;
  readonly until: number;
}

/** Requests of a tunnel that were not recorded, or whose record was lost. */
export interface UnrecordedRequests {
  readonly tunnelId: string;
  readonly count: number;
  /** Start of the last minute in which there was one, milliseconds since the epoch. */
  readonly lastAt: number;
}

/** What an organization keeps: records from `since` on, milliseconds since the epoch. */
export interface Keeping {
  readonly orgId: string;
  readonly since: number;
}

export interface SweepReport {
  readonly deleted: number;
  /** The longest that one slice held the file, milliseconds. */
  readonly longestHoldMs: number;
  /** False: there is more that has to go; the next pass goes on. */
  readonly done: boolean;
}

/** Of `tunnels` in one go. */
export const TUNNELS_PAGE = 1_000;

export interface KnownTunnel {
  readonly orgId: string;
  readonly tunnelId: string;
}

/**
 * `queue`: more waited than may. `room`: the file was over its bound, and what came was more than could be deleted meanwhile. `disk`: it is full or
 * fails. `file`: locked by another program, or damaged again and again. `thread`: it ended, or took too long.
 */
export const LOSS_REASONS = ['queue', 'room', 'disk', 'file', 'thread'] as const;
export type LossReason = (typeof LOSS_REASONS)[number];

/** Since the process started. */
export interface RecordStats {
  readonly stored: number;
  /** Records that were given up, by reason. */
  readonly lost: Readonly<Record<LossReason, number>>;
  readonly waitingBatches: number;
  readonly waitingBytes: number;
  readonly waitingReads: number;
  readonly refusedReads: number;
  /** Why nothing is stored now; undefined: the last batch was. */
  readonly trouble: LossReason | undefined;
  /** Times that the thread ended unasked. */
  readonly threadEnds: number;
  /** The longest that anything has held the file, milliseconds. */
  readonly longestHoldMs: number;
}

export interface RecordStore {
  /** Resolves once the batch is stored, or given up with the loss counted. Never rejects. */
  store(batch: InspectionBatch): Promise<void>;
  /**
   * Newest first. A tunnel of another organization has none.
   * Throws `rate_limited` (this organization reads too much at once) and `unavailable` (too many readers, or the file can't be read now).
   */
  list(orgId: string, filter: RecordFilter): Promise<RecordPage>;
  /** One record with everything. Undefined: the organization has none of this id; also for what is no id. Throws as `list`. */
  find(orgId: string, id: string): Promise<InspectedRequest | undefined>;
  /** Of these records, MAX_HEADS at most; one that the organization does not have is left out. Throws as `list`. */
  heads(orgId: string, ids: readonly string[]): Promise<readonly RecordHead[]>;
  /** Tunnels of the organization with requests that were not recorded, the most first. Throws as `list`. */
  unrecorded(orgId: string, filter: UnrecordedFilter): Promise<readonly UnrecordedRequests[]>;
  /** What was recorded of the tunnel until now is not found any more once it resolves; its room comes free little by little. Throws as `list`. */
  forgetTunnel(orgId: string, tunnelId: string): Promise<void>;
  /** The same for all tunnels of the organization. */
  forgetOrganization(orgId: string): Promise<void>;
  /** Organizations that have records. For the sweep. */
  organizations(): Promise<readonly string[]>;
  /** Tunnels that have records, TUNNELS_PAGE at most, by id, behind `after`. For the sweep. */
  tunnels(after: string | null): Promise<readonly KnownTunnel[]>;
  /**
   * Deletes what is older than its organization keeps, and the rest of what was forgotten, in slices between which reads and new records go
   * first. Ends after some seconds with what it has done. An organization that is not named keeps all.
   */
  sweep(keeping: readonly Keeping[]): Promise<SweepReport>;
  /** Deletes all records, beside the thread and at most once in ten seconds: the disk has no room for the main database. */
  giveWay(): void;
  stats(): RecordStats;
  /** Stores what waits, within two seconds, and ends the thread. May be called twice; what comes afterwards is lost, or refused. */
  close(): Promise<void>;
}
