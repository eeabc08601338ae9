/**
 * Lists of records. In the thread alone (usage-desk.ts). They go over the records in stretches, each a bounded piece of the index, until the page
 * is full or its time is up: no question holds the thread for longer, however rare what it looks for. That goes for lists without a filter too:
 * what was forgotten lies between the others until it is swept.
 */
import type { Sqlite } from '../sqlite.ts';
import { Unanswerable } from './questions.ts';
import { firstIdAt, idBytes, idText, LAST_ID } from './record-ids.ts';
import { MAX_LIST, type RecordFilter, type RecordItem, type RecordPage } from './records.ts';
import { webSocketFacts } from './websockets/websockets.ts';
import { type ContentFilter, type ContentRow, contentFilter } from './search/content.ts';

/** Less than half of what a caller may have to wait in all. */
const BUDGET_MS = 20;
/** Where heads and bodies are read: in goes of BUDGET_MS, between which others are answered. */
const CONTENT_BUDGET_MS = 80;
/** Records of a stretch: so many at first where a filter tells them apart, else a page; then as many as take this long, for a cold disk reads fewer. */
const FIRST_STRETCH = 500;
/** Bodies may have 64 KB each. */
const FIRST_CONTENT_STRETCH = 50;
const MAX_CONTENT_STRETCH = 1_000;
const STRETCH_MS = 4;
const MAX_STRETCH = 50_000;
/** Status of an upgrade. */
const SWITCHING = 101;
/** An id may have been made this much before or after its record's head came. */
const SLACK_MS = 5_000;
const NO_ID = Buffer.alloc(0);

interface Row extends ContentRow {
  readonly id: Buffer;
  readonly tunnel: string;
  readonly at: number;
  readonly method: string;
  readonly target: string;
  readonly status: number;
  readonly latency_ms: number;
  readonly request_size: number;
  readonly response_size: number;
  readonly replay_of: Buffer | null;
  readonly outcome: RecordItem['outcome'];
  readonly code: string | null;
  readonly detail: number;
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
  /** Undefined: only what the index and the records themselves say. */
  readonly content: ContentFilter | undefined;
}

const COLUMNS = `r.id AS id, t.id AS tunnel, r.at AS at, r.method AS method, r.target AS target, r.status AS status, r.latency_ms AS latency_ms,
  r.request_size AS request_size, r.response_size AS response_size, r.remote_ip AS remote_ip, r.replay_of AS replay_of, r.outcome AS outcome, r.code AS code, r.detail AS detail`;

/** `i` is what the owner's records are found by: the table itself, or the index of organizations, which knows status and method too. */
const SOURCE = {
  tunnel: `records r CROSS JOIN tunnels t ON t.n = r.tunnel WHERE r.tunnel = @owner AND r.id < @before AND r.id >= @from`,
  organization: `records i INDEXED BY records_org CROSS JOIN tunnels t ON t.n = i.tunnel CROSS JOIN records r ON r.tunnel = i.tunnel AND r.id = i.id
    WHERE i.org = @owner AND i.id < @before AND i.id >= @from`,
};

/** What has heads and bodies of a record; behind the source. */
const DETAILS = 'CROSS JOIN details d ON d.n = r.detail';

export interface Looking extends RecordFilter {
  /** For looking; no stretch begins after it. */
  readonly budgetMs?: number;
}

/** A list under way. An organization or a tunnel without records has an empty one. */
export class Listing {
  readonly sqlite: Sqlite;
  readonly #pages: Generator<undefined, RecordPage>;

  /** Throws `Unanswerable`. */
  constructor(sqlite: Sqlite, orgId: string, filter: Looking) {
    this.sqlite = sqlite;
    this.#pages = pagesOf(sqlite, makeSearch(sqlite, orgId, filter), filter);
  }

  /** Looks for some 20 ms at most; undefined: the next call goes on. */
  step(): RecordPage | undefined {
    return this.#pages.next().value;
  }
}

/** The whole list in one go. Throws `Unanswerable`. */
export function list(sqlite: Sqlite, orgId: string, filter: Looking): RecordPage {
  const listing = new Listing(sqlite, orgId, filter);
  for (;;) {
    const page = listing.step();
    if (page !== undefined) return page;
  }
}

function* pagesOf(sqlite: Sqlite, search: Search | undefined, filter: Looking): Generator<undefined, RecordPage> {
  if (search === undefined) return { items: [], stoppedAt: null };
  if (filter.replayOf !== undefined) return pageOf(replays(sqlite, search, filter.replayOf));
  const usual = search.content === undefined ? BUDGET_MS : CONTENT_BUDGET_MS;
  return yield* lookThrough(sqlite, search, filter.budgetMs ?? usual);
}

function makeSearch(sqlite: Sqlite, orgId: string, filter: RecordFilter): Search | undefined {
  const { limit, tunnelId, method, status, pathContains, since, until, outcome, minLatencyMs, maxLatencyMs } = filter;
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
  if (minLatencyMs !== undefined) conditions.push('r.latency_ms >= @minLatencyMs');
  if (maxLatencyMs !== undefined) conditions.push('r.latency_ms <= @maxLatencyMs');
  const content = contentFilter(filter);
  const isFiltered = conditions.length > 1;
  conditions.push(...(content?.conditions ?? []));
  return {
    owner,
    byTunnel: tunnelId !== undefined,
    limit,
    stretch: content !== undefined ? FIRST_CONTENT_STRETCH : isFiltered ? FIRST_STRETCH : limit,
    from: since === undefined ? NO_ID : firstIdAt(since - SLACK_MS),
    before: Buffer.compare(before, last) < 0 ? before : last,
    conditions,
    content,
    values: {
      ...content?.values,
      minLatencyMs,
      maxLatencyMs,
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

interface Found {
  readonly items: readonly RecordItem[];
  /** Its time was up at this record. */
  readonly stoppedAt?: Buffer;
}

/** A piece of the search: ids from `from` on, before `before`. */
type Stretch = Pick<Search, 'from' | 'before' | 'limit'>;

/**
 * Finds what fits in a stretch. `source` ends where the conditions begin. Prepared once per list: to prepare it takes as long as to look at a
 * hundred records.
 */
function reading(
  sqlite: Sqlite,
  search: Search,
  { source, order }: { readonly source: string; readonly order: string },
): (stretch: Stretch) => Found {
  const { owner, content, conditions, values } = search;
  const columns = [COLUMNS, ...(content?.columns ?? [])].join(', ');
  const readsDetails = [columns, ...conditions].some((part) => part.includes('d.'));
  const joined = readsDetails ? source.replace(' WHERE ', ` ${DETAILS} WHERE `) : source;
  const every = `SELECT ${columns} FROM ${joined} ${conditions.join(' AND ')} ORDER BY ${order} DESC`;
  const sql = content === undefined ? `${every} LIMIT @limit` : every;
  const statement = sqlite.prepare(sql);
  const given = used(sql, { ...values, owner });
  const itemsOf = (rows: readonly Row[]): RecordItem[] => rows.map((row) => itemOf(sqlite, row));
  return ({ from, before, limit }) => {
    const bound = { ...given, from, before };
    if (content === undefined) return { items: itemsOf(statement.all({ ...bound, limit }) as Row[]) };
    // The figures of WebSockets are read afterwards: SQLite answers nothing else while rows are stepped through.
    const { items, ...rest } = pick(statement.iterate(bound) as IterableIterator<Row>, content, limit);
    return { items: itemsOf(items), ...rest };
  };
}

/** Rows that SQLite lets pass, checked one by one: to decode a body may take a millisecond. */
function pick(
  rows: IterableIterator<Row>,
  content: ContentFilter,
  limit: number,
): { readonly items: readonly Row[]; readonly stoppedAt?: Buffer } {
  const until = performance.now() + BUDGET_MS;
  const items: Row[] = [];
  for (const row of rows) {
    if (content.fits(row)) items.push(row);
    if (items.length === limit) break;
    if (performance.now() >= until) return { items, stoppedAt: row.id };
  }
  return { items };
}

function* lookThrough(sqlite: Sqlite, search: Search, budgetMs: number): Generator<undefined, RecordPage> {
  const index = search.byTunnel ? 'records WHERE tunnel = @owner' : 'records INDEXED BY records_org WHERE org = @owner';
  const endOf = sqlite
    .prepare(`SELECT id FROM ${index} AND id < @before AND id >= @from ORDER BY id DESC LIMIT 1 OFFSET @stretch`)
    .pluck();
  const source = search.byTunnel ? SOURCE.tunnel : SOURCE.organization;
  const read = reading(sqlite, search, { source: `${source} AND`, order: search.byTunnel ? 'r.id' : 'i.id' });
  const { owner, from } = search;
  const most = search.content === undefined ? MAX_STRETCH : MAX_CONTENT_STRETCH;
  const items: RecordItem[] = [];
  const start = performance.now();
  let goStart = start;
  let before = search.before;
  let { stretch } = search;
  for (let now = start; ; ) {
    const end = endOf.get({ owner, from, before, stretch: stretch - 1 }) as Buffer | undefined;
    const found = read({ before, from: end ?? from, limit: search.limit - items.length });
    items.push(...found.items);
    const lookedTo = found.stoppedAt ?? end;
    if (items.length === search.limit || lookedTo === undefined) return { items, stoppedAt: null };
    const then = now;
    now = performance.now();
    if (now - start >= budgetMs) return { items, stoppedAt: idText(lookedTo) };
    before = lookedTo;
    const fitting = (stretch * STRETCH_MS) / Math.max(now - then, 0.01);
    stretch = Math.max(1, Math.min(Math.floor(fitting), stretch * 4, most));
    if (now - goStart < BUDGET_MS) continue;
    yield undefined;
    now = goStart = performance.now();
  }
}

/** Few: by an index of their own. */
function replays(sqlite: Sqlite, search: Search, of: string): Found {
  const replayOf = idBytes(of);
  if (replayOf === undefined) return { items: [] };
  const owner = search.byTunnel ? 'r.tunnel' : 'r.org';
  const conditions = search.conditions.map((condition) => condition.replace(/^i\./, 'r.'));
  const values = { ...search.values, replayOf };
  const source = `records r INDEXED BY records_replays CROSS JOIN tunnels t ON t.n = r.tunnel
    WHERE r.replay_of = @replayOf AND ${owner} = @owner AND r.id < @before AND r.id >= @from AND`;
  return reading(sqlite, { ...search, conditions, values }, { source, order: 'r.id' })(search);
}

function pageOf({ items, stoppedAt }: Found): RecordPage {
  return { items, stoppedAt: stoppedAt === undefined ? null : idText(stoppedAt) };
}

/** SQLite wants a value for each name in the statement, and for no other. */
function used(sql: string, values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([name]) => sql.includes(`@${name}`)));
}

function itemOf(sqlite: Sqlite, row: Row): RecordItem {
  const websocket = row.status === SWITCHING ? webSocketFacts(sqlite, row.detail) : undefined;
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
    ...(websocket === undefined ? {} : { websocket }),
  };
}
