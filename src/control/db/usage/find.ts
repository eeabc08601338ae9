/** One record with everything, and the counts of what was not recorded. In the thread alone (usage-desk.ts). */
import type { InspectedRequest, Trace } from '../../../plane/inspection.ts';
import type { Sqlite } from '../sqlite.ts';
import { ownerOf } from './list.ts';
import { Unanswerable } from './questions.ts';
import { webSocketOf } from './websockets/websockets.ts';
import { idBytes, idText } from './record-ids.ts';
import { MAX_HEADS, type RecordHead, type UnrecordedFilter, type UnrecordedRequests } from './records.ts';

/** Status of an upgrade. */
const SWITCHING = 101;
const MINUTE_MS = 60_000;
/** A year of a thousand tunnels that are always over their allowance has half a billion rows. */
const COUNT_MS = 20;

interface Row {
  readonly id: Buffer;
  readonly tunnel: string;
  readonly at: number;
  readonly method: string;
  readonly target: string;
  readonly status: number;
  readonly latency_ms: number;
  readonly request_size: number;
  readonly response_size: number;
  readonly remote_ip: string;
  readonly replay_of: Buffer | null;
  readonly request_head: Buffer;
  readonly response_head: Buffer | null;
  readonly request_body: Buffer;
  readonly response_body: Buffer;
  readonly request_cut: number;
  readonly response_cut: number;
  readonly trace: string;
  readonly detail: number;
}

const ONE = `
SELECT r.id, t.id AS tunnel, r.at, r.method, r.target, r.status, r.latency_ms, r.request_size, r.response_size, r.remote_ip, r.replay_of,
  d.request_head, d.response_head, d.request_body, d.response_body, d.request_cut, d.response_cut, d.trace, d.n AS detail
FROM organizations o CROSS JOIN records r INDEXED BY records_org ON r.org = o.n CROSS JOIN tunnels t ON t.n = r.tunnel
  CROSS JOIN details d ON d.n = r.detail
WHERE o.id = ? AND r.id = ? AND t.id IS NOT NULL`;

export function find(sqlite: Sqlite, orgId: string, id: string): InspectedRequest | undefined {
  const key = idBytes(id);
  if (key === undefined) return undefined;
  const row = sqlite.prepare<[string, Buffer], Row>(ONE).get(orgId, key);
  if (row === undefined) return undefined;
  const websocket = row.status === SWITCHING ? webSocketOf(sqlite, row.detail) : undefined;
  return {
    id: idText(row.id),
    tunnelId: row.tunnel,
    orgId,
    at: row.at,
    method: row.method,
    target: row.target,
    status: row.status,
    latencyMs: row.latency_ms,
    requestSize: row.request_size,
    responseSize: row.response_size,
    remoteIp: row.remote_ip,
    requestHead: row.request_head,
    responseHead: row.response_head,
    requestBody: row.request_body,
    requestBodyTruncated: row.request_cut === 1,
    responseBody: row.response_body,
    responseBodyTruncated: row.response_cut === 1,
    replayOf: row.replay_of === null ? null : idText(row.replay_of),
    trace: JSON.parse(row.trace) as Trace,
    ...(websocket === undefined ? {} : { websocket }),
  };
}

/** The trace stands behind the bodies, and SQLite reads its way there. */
const MAX_READ_OVER = 65_536;
const HEAD = `
SELECT d.request_head, CASE WHEN r.bytes < ${MAX_READ_OVER} THEN d.trace END AS trace
FROM organizations o CROSS JOIN records r INDEXED BY records_org ON r.org = o.n CROSS JOIN tunnels t ON t.n = r.tunnel
  CROSS JOIN details d ON d.n = r.detail
WHERE o.id = ? AND r.id = ? AND t.id IS NOT NULL`;

/** Throws `Unanswerable` when there are more than can be read in one go. */
export function heads(sqlite: Sqlite, orgId: string, ids: readonly string[]): readonly RecordHead[] {
  if (ids.length > MAX_HEADS) throw new Unanswerable(`at most ${MAX_HEADS} records`);
  const one = sqlite.prepare<[string, Buffer], { request_head: Buffer; trace: string | null }>(HEAD);
  return ids.flatMap((id) => {
    const key = idBytes(id);
    const row = key === undefined ? undefined : one.get(orgId, key);
    if (row === undefined) return [];
    const trace = row.trace === null ? null : (JSON.parse(row.trace) as Trace);
    return [{ id, requestHead: row.request_head, trace }];
  });
}

/** Throws `Unanswerable` when there are more rows than can be added up in one go. */
export function unrecorded(sqlite: Sqlite, orgId: string, filter: UnrecordedFilter): readonly UnrecordedRequests[] {
  const org = ownerOf(sqlite, orgId, undefined);
  if (org === undefined) return [];
  const from = Math.floor(filter.since / MINUTE_MS);
  const to = Math.ceil(filter.until / MINUTE_MS);
  const only = filter.tunnelId === undefined ? undefined : ownerOf(sqlite, orgId, filter.tunnelId);
  if (filter.tunnelId !== undefined && only === undefined) return [];
  const rows = sqlite
    .prepare<[number, number, number], { minute: number; tunnel: number; count: number }>(
      'SELECT minute, tunnel, count FROM unrecorded WHERE org = ? AND minute >= ? AND minute < ?',
    )
    .iterate(org, from, to);
  const sums = new Map<number, { count: number; lastAt: number }>();
  const start = performance.now();
  let seen = 0;
  for (const { minute, tunnel, count } of rows) {
    if (++seen % 500 === 0 && performance.now() - start > COUNT_MS) {
      throw new Unanswerable('This time range has too many requests to count. Use a shorter one.');
    }
    if (only !== undefined && tunnel !== only) continue;
    const sum = sums.get(tunnel) ?? { count: 0, lastAt: 0 };
    sums.set(tunnel, { count: sum.count + count, lastAt: minute * MINUTE_MS });
  }
  const nameOf = sqlite.prepare<[number], { id: string | null }>('SELECT id FROM tunnels WHERE n = ?');
  return [...sums]
    .flatMap(([tunnel, sum]) => {
      const tunnelId = nameOf.get(tunnel)?.id ?? null;
      return tunnelId === null ? [] : [{ tunnelId, ...sum }];
    })
    .sort((a, b) => b.count - a.count);
}
