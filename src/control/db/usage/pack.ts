/**
 * Batches as the thread gets them: the bytes of many records in one buffer that is handed over. A clone of each array by itself would take the
 * whole buffer that it lies in. Called by usage-store.ts.
 */
import type { InspectedRequest, InspectionBatch, WebSocketUpdate } from '../../../plane/inspection.ts';
import type { PackedRecord, Piece } from './questions.ts';

/** Of one transaction: about 5 ms, for which a reader may wait. */
const MAX_RECORDS = 100;
const MAX_BYTES = 512 * 1024;

/** The records in pieces, in order. */
export function cut(records: readonly InspectedRequest[]): InspectedRequest[][] {
  return cutBy(records, sizeOf);
}

/** Updates of WebSockets in pieces, in order. */
export function cutUpdates(updates: readonly WebSocketUpdate[]): WebSocketUpdate[][] {
  return cutBy(updates, frameBytes);
}

function cutBy<T>(all: readonly T[], bytesOf: (one: T) => number): T[][] {
  const pieces: T[][] = [];
  let piece: T[] = [];
  let bytes = 0;
  for (const one of all) {
    if (piece.length > 0 && (piece.length >= MAX_RECORDS || bytes + bytesOf(one) > MAX_BYTES)) {
      pieces.push(piece);
      piece = [];
      bytes = 0;
    }
    piece.push(one);
    bytes += bytesOf(one);
  }
  if (piece.length > 0) pieces.push(piece);
  return pieces;
}

function frameBytes({ frames }: WebSocketUpdate): number {
  return frames?.reduce((sum, { bytes }) => sum + bytes.length, 0) ?? 0;
}

/** Heads and bodies of a record, bytes. */
function sizeOf(record: InspectedRequest): number {
  return (
    record.requestHead.length +
    (record.responseHead?.length ?? 0) +
    record.requestBody.length +
    record.responseBody.length
  );
}

/** What a batch holds while it waits, about. */
export function batchBytes(batch: InspectionBatch): number {
  // Beside the bytes an object of some twenty fields.
  const updates = (batch.websockets ?? []).reduce((sum, update) => sum + frameBytes(update) + 1_000, 0);
  return batch.records.reduce((sum, record) => sum + sizeOf(record) + 1_000, updates);
}

export function pack(records: readonly InspectedRequest[], rest: Pick<Piece, 'unrecorded' | 'minute'>): Piece {
  const bytes = new Uint8Array(records.reduce((sum, record) => sum + sizeOf(record), 0));
  let end = 0;
  const put = (part: Uint8Array): number => {
    bytes.set(part, end);
    end += part.length;
    return part.length;
  };
  return { records: records.map((record) => packOne(record, put)), bytes, ...rest };
}

function packOne(record: InspectedRequest, put: (part: Uint8Array) => number): PackedRecord {
  return {
    id: record.id,
    tunnelId: record.tunnelId,
    orgId: record.orgId,
    at: record.at,
    method: record.method,
    target: record.target,
    status: record.status,
    latencyMs: record.latencyMs,
    requestSize: record.requestSize,
    responseSize: record.responseSize,
    remoteIp: record.remoteIp,
    replayOf: record.replayOf,
    outcome: record.trace.outcome,
    code: record.trace.code,
    requestHead: put(record.requestHead),
    responseHead: record.responseHead === null ? -1 : put(record.responseHead),
    requestBody: put(record.requestBody),
    responseBody: put(record.responseBody),
    requestCut: record.requestBodyTruncated,
    responseCut: record.responseBodyTruncated,
    trace: JSON.stringify(record.trace),
  };
}
