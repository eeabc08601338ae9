/**
 * Lists of records. In the thread alone (usage-desk.ts). They go over the records in stretches, each a bounded piece of the index, until the page
 * is full or its time is up: no question holds the thread for longer, however rare what it looks for. That goes for lists without a filter too:
 * what was forgotten lies between the others until it is swept.
 */
import type { Sqlite } from '../sqlite.ts';
import { Unanswerable } from './questions.ts';
import { firstIdAt, idBytes, idText, LAST_ID } from './record-ids.ts';
import { MAX_LIST, type RecordFilter, type RecordItem, type RecordPage } from './records.ts';

/** Less than half of what a caller may have to wait in all. */
const BUDGET_MS = 20;
/** Records of a stretch: so many at first where a filter tells them apart, else a page; then as many as take this long, for a cold disk reads fewer. */
const FIRST_STRETCH = 500;
const STRETCH_MS = 4;
const MAX_STRETCH = 50_000;
/** An id may have been made this much before or after its record's head came. */
const SLACK_MS = 5_000;
const NO_ID = Buffer.alloc(0);

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
  readonly outcome: RecordItem['outcome'];
  readonly code: string | null;
}

/** Where records are looked for, and what they must be. */
interface Search {
  /** Whose: number of a tunnel, or of an organization. */
  readonly owner: number;
  readonly byTunnel: boolean;
  readonly limit: number;
  /** Records of the first stretch. */
  readonly stretch: number;
  /** Ids from `from` on, before `before`. */
  readonly from: Buffer;
  readonly before: Buffer;
  readonly conditions: readonly string[];
  readonly values: Readonly<Record<string, unknown>>;
}

const COLUMNS = `r.id AS id, t.id AS tunnel, r.at AS at, r.method AS method, r.target AS target, r.status AS status, r.latency_ms AS latency_ms,
  r.request_size AS request_size, r.response_size AS response_size, r.remote_ip AS remote_ip, r.replay_of AS replay_of, r.outcome AS outcome, r.code AS code`;

/** `i` is what the owner's records are found by: the table itself, or the index of organizations, which knows status and method too. */
const SOURCE = {
  tunnel: `records r CROSS JOIN tunnels t ON t.n = r.tunnel WHERE r.tunnel = @owner AND r.id < @before AND r.id >= @from`,
  organization: `records i INDEXED BY records_org CROSS JOIN tunnels t ON t.n = i.tunnel CROSS JOIN records r ON r.tunnel = i.tunnel AND r.id = i.id
    WHERE i.org = @owner AND i.id < @before AND i.id >= @from`,
};

export interface Looking extends RecordFilter {
  /** For looking; no stretch begins after it. */
  readonly budgetMs?: number;
}

/** Throws `Unanswerable`. An organization or a tunnel without records has an empty list. */
export function list(sqlite: Sqlite, orgId: string, filter: Looking): RecordPage {
  const search = makeSearch(sqlite, orgId, filter);
  if (search === undefined) return { items: [], stoppedAt: null };
  if (filter.replayOf !== undefined) return { items: replays(sqlite, search, filter.replayOf), stoppedAt: null };
  return lookThrough(sqlite, search, filter.budgetMs ?? BUDGET_MS);
}

function makeSearch(sqlite: Sqlite, orgId: string, filter: RecordFilter): Search | undefined {
  const { limit, tunnelId, method, status, pathContains, since, until, outcome } = filter;
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIST) throw new Unanswerable(`limit: 1 to ${MAX_LIST}`);
  const before = filter.before === undefined ? LAST_ID : idBytes(filter.before);
  if (before === undefined) throw new Unanswerable('before: not the id of a record');
  const owner = ownerOf(sqlite, orgId, tunnelId);
  if (owner === undefined) return undefined;
  const last = until === undefined ? LAST_ID : firstIdAt(until + SLACK_MS);
  const conditions: string[] = ['t.id IS NOT NULL'];
  if (since !== undefined) conditions.push('r.at >= @since');
  if (until !== undefined) conditions.push('r.at < @until');
  const index = tunnelId === undefined ? 'i' : 'r';
  // Methods are case-sensitive; nearly all are capitals, and people write them in lower case.
  if (method !== undefined) conditions.push(`${index}.method IN (@method, upper(@method))`);
  if (status !== undefined) conditions.push(`${index}.status BETWEEN @lowest AND @highest`);
  if (outcome !== undefined) conditions.push('r.outcome = @outcome');
  if (pathContains !== undefined) conditions.push(`r.target LIKE @path ESCAPE '\\'`);
  return {
    owner,
    byTunnel: tunnelId !== undefined,
    limit,
    stretch: conditions.length > 1 ? FIRST_STRETCH : limit,
    from: since === undefined ? NO_ID : firstIdAt(since - SLACK_MS),
    before: Buffer.compare(before, last) < 0 ? before : last,
    conditions,
    values: {
      since,
      until,
      method,
      outcome,
      lowest: status?.from,
      highest: status?.to,
      path: pathContains === undefined ? undefined : `%${pathContains.replaceAll(/[\\%_]/g, (sign) => `\\${sign}`)}%`,
    },
  };
}

/** The number of the organization, or of its tunnel when one is named. */
export function ownerOf(sqlite: Sqlite, orgId: string, tunnelId: string | undefined): number | undefined {
  const row =
    tunnelId === undefined
      ? sqlite.prepare('SELECT n FROM organizations WHERE id = ?').get(orgId)
      : sqlite
          .prepare('SELECT t.n FROM tunnels t JOIN organizations o ON o.n = t.org WHERE o.id = ? AND t.id = ?')
          .get(orgId, tunnelId);
  return (row as { n: number } | undefined)?.n;
}

/** What fits between the ends of one stretch. */
function read(sqlite: Sqlite, search: Search): RecordItem[] {
  const source = search.byTunnel ? SOURCE.tunnel : SOURCE.organization;
  const order = search.byTunnel ? 'r.id' : 'i.id';
  const sql = `SELECT ${COLUMNS} FROM ${source} AND ${search.conditions.join(' AND ')} ORDER BY ${order} DESC LIMIT @limit`;
  const { owner, limit, from, before } = search;
  return (sqlite.prepare(sql).all(used(sql, { ...search.values, owner, limit, from, before })) as Row[]).map(itemOf);
}

function lookThrough(sqlite: Sqlite, search: Search, budgetMs: number): RecordPage {
  const index = search.byTunnel ? 'records WHERE tunnel = @owner' : 'records INDEXED BY records_org WHERE org = @owner';
  const endOf = sqlite
    .prepare(`SELECT id FROM ${index} AND id < @before AND id >= @from ORDER BY id DESC LIMIT 1 OFFSET @stretch`)
    .pluck();
  const { owner, from } = search;
  const items: RecordItem[] = [];
  const start = performance.now();
  let before = search.before;
  let { stretch } = search;
  for (let now = start; ; ) {
    const end = endOf.get({ owner, from, before, stretch: stretch - 1 }) as Buffer | undefined;
    items.push(...read(sqlite, { ...search, before, from: end ?? from, limit: search.limit - items.length }));
    if (items.length === search.limit || end === undefined) return { items, stoppedAt: null };
    const then = now;
    now = performance.now();
    if (now - start >= budgetMs) return { items, stoppedAt: idText(end) };
    before = end;
    const fitting = (stretch * STRETCH_MS) / Math.max(now - then, 0.01);
    stretch = Math.max(1, Math.min(Math.floor(fitting), stretch * 4, MAX_STRETCH));
  }
}

/** Few: by an index of their own. */
function replays(sqlite: Sqlite, search: Search, of: string): RecordItem[] {
  const replayOf = idBytes(of);
  if (replayOf === undefined) return [];
  const owner = search.byTunnel ? 'r.tunnel' : 'r.org';
  const conditions = search.conditions.map((condition) => condition.replace(/^i\./, 'r.'));
  const sql = `SELECT ${COLUMNS} FROM records r INDEXED BY records_replays CROSS JOIN tunnels t ON t.n = r.tunnel
    WHERE r.replay_of = @replayOf AND ${owner} = @owner AND r.id < @before AND r.id >= @from AND ${conditions.join(' AND ')}
    ORDER BY r.id DESC LIMIT @limit`;
  const values = { ...search.values, replayOf, owner: search.owner, from: search.from, before: search.before };
  return (sqlite.prepare(sql).all(used(sql, { ...values, limit: search.limit })) as Row[]).map(itemOf);
}

/** SQLite wants a value for each name in the statement, and for no other. */
function used(sql: string, values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([name]) => sql.includes(`@${name}`)));
}

function itemOf(row: Row): RecordItem {
  return {
    id: idText(row.id),
    tunnelId: row.tunnel,
    at: row.at,
    method: row.method,
    target: row.target,
    status: row.status,
    latencyMs: row.latency_ms,
    requestSize: row.request_size,
    responseSize: row.response_size,
    remoteIp: row.remote_ip,
    replayOf: row.replay_of === null ? null : idText(row.replay_of),
    outcome: row.outcome,
    code: row.code,
  };
}
