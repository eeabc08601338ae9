/**
 * What usage-store.ts asks the thread, and what the thread answers. Plain cloneable data; the bytes of a batch are handed over, not copied.
 */
import type { InspectedRequest, UnrecordedCount } from '../../../plane/inspection.ts';
import type { MinFree } from '../disk/floor.ts';
import type {
  Keeping,
  KnownTunnel,
  RecordFilter,
  RecordHead,
  RecordItem,
  RecordPage,
  SweepReport,
  UnrecordedFilter,
  UnrecordedRequests,
} from './records.ts';
import type { PackedWebSocket } from './websockets/websockets.ts';

/** One record; its bytes lie behind those of the one before it, in this order. */
export interface PackedRecord extends RecordItem {
  readonly orgId: string;
  readonly requestHead: number;
  /** -1: there is none. */
  readonly responseHead: number;
  readonly requestBody: number;
  readonly responseBody: number;
  readonly requestCut: boolean;
  readonly responseCut: boolean;
  /** JSON. */
  readonly trace: string;
}

/** What goes into one transaction. */
export interface Piece {
  readonly records: readonly PackedRecord[];
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly unrecorded: readonly UnrecordedCount[];
  /** Minutes since the epoch: where `unrecorded` is counted. */
  readonly minute: number;
}

export interface UsageSetup {
  readonly dataDir: string;
  /** What the file may take; beyond it the organization with most records loses its oldest. */
  readonly maxBytes: number;
  /** So much of the disk stays free for the main database; no such level when it is left out. */
  readonly minFree?: MinFree;
}

/** Each question with its answer. */
export interface Calls {
  store(piece: Piece): void;
  storeWebSockets(updates: readonly PackedWebSocket[]): void;
  list(orgId: string, filter: RecordFilter): RecordPage;
  find(orgId: string, id: string): InspectedRequest | undefined;
  heads(orgId: string, ids: readonly string[]): readonly RecordHead[];
  unrecorded(orgId: string, filter: UnrecordedFilter): readonly UnrecordedRequests[];
  forgetTunnel(orgId: string, tunnelId: string): void;
  forgetOrganization(orgId: string): void;
  organizations(): readonly string[];
  tunnels(after: string | null): readonly KnownTunnel[];
  sweep(keeping: readonly Keeping[]): SweepReport;
  /** Deletes all records: the main database needs the room. */
  giveWay(): void;
  close(): void;
}

export type CallName = keyof Calls;

export interface Question {
  readonly ref: number;
  readonly name: CallName;
  readonly args: readonly unknown[];
}

/** `asked`: the question can't be answered, the message says why. `fault`: ours. The others as in LossReason. */
export type FaultKind = 'room' | 'disk' | 'file' | 'asked' | 'fault';

export type Answer =
  | { readonly ref: number; readonly ok: true; readonly value: unknown; readonly heldMs: number }
  | { readonly ref: number; readonly ok: false; readonly kind: FaultKind; readonly message: string };

/** Something to be logged; has no `ref`. */
export interface Notice {
  readonly notice: string;
  readonly level: 'error' | 'warn' | 'info';
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A question that can't be answered as it was asked. */
export class Unanswerable extends Error {}
