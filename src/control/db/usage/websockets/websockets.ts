/**
 * Facts and frames of WebSockets, beside the records of their requests. Each update replaces the one before. Runs only in the thread of
 * usage-desk.ts. The table needs no new version of the file, because older programs ignore it.
 */
import type {
  RecordedFrame,
  RecordedWebSocket,
  WebSocketFacts,
  WebSocketUpdate,
} from '../../../../plane/inspection.ts';
import type { Sqlite } from '../../sqlite.ts';
import { idBytes } from '../record-ids.ts';

export const WEBSOCKETS = `
CREATE TABLE IF NOT EXISTS websockets (
  detail INTEGER PRIMARY KEY,            -- n of details
  facts TEXT NOT NULL,                   -- JSON
  frames TEXT,                           -- JSON; NULL: not recorded
  payload BLOB NOT NULL                  -- the bytes of all frames
) STRICT;
CREATE TRIGGER IF NOT EXISTS websockets_gone AFTER DELETE ON details BEGIN
  DELETE FROM websockets WHERE detail = old.n;
END;
`;

/** Rows, and pages that are not full. */
const OWN_BYTES = 100;

/** An update as the thread gets it. */
export interface PackedWebSocket {
  readonly id: string;
  readonly orgId: string;
  /** JSON. */
  readonly facts: string;
  /** JSON; null: those that are stored stay. */
  readonly frames: string | null;
  readonly payload: Uint8Array<ArrayBuffer>;
}

/** A frame without its bytes. */
type FrameHead = Omit<RecordedFrame, 'bytes'> & { readonly length: number };

export function packWebSocket({ id, tunnelId: _tunnel, orgId, frames, ...facts }: WebSocketUpdate): PackedWebSocket {
  const heads = frames?.map(({ bytes, ...head }): FrameHead => ({ ...head, length: bytes.length }));
  const payload = new Uint8Array(frames?.reduce((sum, { bytes }) => sum + bytes.length, 0) ?? 0);
  let end = 0;
  for (const { bytes } of frames ?? []) {
    payload.set(bytes, end);
    end += bytes.length;
  }
  return {
    id,
    orgId,
    facts: JSON.stringify(facts),
    frames: heads === undefined ? null : JSON.stringify(heads),
    payload,
  };
}

export type StoreWebSockets = (updates: readonly PackedWebSocket[]) => void;

/** The returned function stores updates in one transaction; those without a record are left out. */
export function prepareWebSockets(sqlite: Sqlite): StoreWebSockets {
  const find = sqlite.prepare<[string, Buffer], { tunnel: number; id: Buffer; org: number; detail: number }>(
    `SELECT r.tunnel, r.id, r.org, r.detail FROM organizations o CROSS JOIN records r INDEXED BY records_org ON r.org = o.n
     WHERE o.id = ? AND r.id = ?`,
  );
  const weight = sqlite
    .prepare<[number], number>(
      `SELECT length(facts) + coalesce(length(frames), 0) + length(payload) + ${OWN_BYTES} FROM websockets WHERE detail = ?`,
    )
    .pluck();
  const put = sqlite.prepare(
    `INSERT INTO websockets (detail, facts, frames, payload) VALUES (?, ?, ?, ?) ON CONFLICT (detail) DO UPDATE SET
       facts = excluded.facts,
       payload = CASE WHEN excluded.frames IS NULL THEN payload ELSE excluded.payload END,
       frames = coalesce(excluded.frames, frames)`,
  );
  const weighRecord = sqlite.prepare('UPDATE records SET bytes = bytes + ? WHERE tunnel = ? AND id = ?');
  const weighOrganization = sqlite.prepare('UPDATE organizations SET bytes = max(bytes + ?, 0) WHERE n = ?');
  return (updates) =>
    sqlite
      .transaction(() => {
        for (const { id, orgId, facts, frames, payload } of updates) {
          const key = idBytes(id);
          const row = key === undefined ? undefined : find.get(orgId, key);
          if (row === undefined) continue;
          const before = weight.get(row.detail) ?? 0;
          put.run(row.detail, facts, frames, payload);
          const more = (weight.get(row.detail) ?? 0) - before;
          if (more === 0) continue;
          weighRecord.run(more, row.tunnel, row.id);
          weighOrganization.run(more, row.org);
        }
      })
      .immediate();
}

/** Undefined: nothing is known of it. */
export function webSocketOf(sqlite: Sqlite, detail: number): RecordedWebSocket | undefined {
  const row = sqlite
    .prepare<[number], { facts: string; frames: string | null; payload: Buffer }>(
      'SELECT facts, frames, payload FROM websockets WHERE detail = ?',
    )
    .get(detail);
  if (row === undefined) return undefined;
  let end = 0;
  const framed = ({ length, ...head }: FrameHead): RecordedFrame => {
    const start = end;
    end += length;
    return { ...head, bytes: row.payload.subarray(start, end) };
  };
  const frames = row.frames === null ? null : (JSON.parse(row.frames) as FrameHead[]).map(framed);
  return { ...(JSON.parse(row.facts) as WebSocketFacts), frames };
}

/** The same without frames. */
export function webSocketFacts(sqlite: Sqlite, detail: number): WebSocketFacts | undefined {
  const facts = sqlite.prepare<[number], string>('SELECT facts FROM websockets WHERE detail = ?').pluck().get(detail);
  return facts === undefined ? undefined : (JSON.parse(facts) as WebSocketFacts);
}
