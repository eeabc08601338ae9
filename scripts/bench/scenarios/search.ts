/**
 * Searches of a million recorded requests, through the API of a server of its own: the time of each response, the number of responses and the time
 * until a day is searched, and the waiting time of other requests meanwhile. Also the other pages of the dashboard on the same data.
 */
import { existsSync, rmSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLog } from '../../../src/base/log.ts';
import { UsageStore } from '../../../src/control/db/usage/usage-store.ts';
import { stringIn } from '../api.ts';
import { ApiClient } from '../api-client.ts';
import type { Bench } from '../bench.ts';
import { fillDatabase } from '../big-database.ts';
import { culvertBuild, startServer } from '../culvert.ts';
import { say } from '../report/progress.ts';
import { align, number } from '../report/tables.ts';
import { median, percentile } from '../results.ts';
import { fillCharts } from '../search/charts.ts';
import { type Owner, SearchRecords, traceIdOf, WORDS } from '../search/records.ts';

const NAME = 'search';
const SERVER = 'server-search';
const OWNER = 'admin@localhost';
const TUNNELS = 10;
const DAY = 24 * 3_600_000;
/** Records are spread over so long; the day that is searched begins this long ago. */
const SPREAD = 7 * DAY;
const SEARCHED = 4 * DAY;
const BATCH = 1_000;
/** Of each search: at least so many responses are timed. */
const RESPONSES = 200;
const BETWEEN_MS = 5;
/** Most items of one search: a common word is not read to the end of its day. */
const MAX_FOUND = 2_000;
/** Of each other request. */
const CALLS = 200;

type Keep = (key: string, value: number) => void;

/** Measures and keeps the figures under `search`; the text is the table for the report. */
export async function measureSearch(bench: Bench): Promise<string> {
  const { processes, options } = bench;
  const { records: count } = options;
  const more = '[inspector]\nmax_stored_mb = 20000\n';
  const server = await startServer(processes, culvertBuild(options), { name: SERVER, more });
  const setup = new ApiClient(server.apiPort);
  await setup.logIn(OWNER, server.password);
  const owner = await makeOwner(setup);
  setup.close();
  await processes.stop(SERVER);
  const newest = Date.now();
  const dataDir = join(server.folder, 'data');
  fillDatabase(dataDir, OWNER, (rows) => fillCharts(rows, owner));
  await fill(dataDir, owner, { count, newest });
  processes.start(SERVER, [...server.command, 'serve', '--config', server.configFile]);
  await processes.waitForPort(SERVER, server.apiPort);

  const keep: Keep = (key, value) => bench.results.addSingle(NAME, key, value);
  const [api, beside, other] = [0, 1, 2].map(() => new ApiClient(server.apiPort)) as [ApiClient, ApiClient, ApiClient];
  for (const client of [api, beside, other]) {
    await client.logIn(OWNER, server.password);
    await client.switchTo(owner.orgId);
  }
  const load = loadavg()[0] ?? Number.NaN;
  const searches = await measureSearches(api, { owner, count, newest, keep });
  const pages = await measurePages(api, { owner, newest, keep });
  const others = await measureBeside({ api, beside, other }, { newest, keep });
  for (const client of [api, beside, other]) client.close();
  await processes.stop(SERVER);
  const head = `${NAME}: ${number(count, 0)} recorded requests of one organization, ${TUNNELS} tunnels, 7 days; filter: one day; load ${number(load, 1)} to ${number(loadavg()[0] ?? Number.NaN, 1)}`;
  return [head, ...[searches, pages, others].flatMap((rows) => align(rows).map((line) => `  ${line}`))].join('\n');
}

async function makeOwner(api: ApiClient): Promise<Owner> {
  const account = JSON.parse(await api.call('GET', '/auth/me')) as { readonly active_org: unknown };
  const tunnelIds: string[] = [];
  for (let i = 0; i < TUNNELS; i++) {
    const tunnel = await api.call('POST', '/tunnels', { localPort: 3000, subdomain: `search-${i}` });
    tunnelIds.push(stringIn(JSON.parse(tunnel), 'id'));
  }
  return { orgId: stringIn(account.active_org, 'id'), tunnelIds };
}

/** Through the store that the server has, while the server is down. */
async function fill(
  dataDir: string,
  owner: Owner,
  of: { readonly count: number; readonly newest: number },
): Promise<void> {
  const file = join(dataDir, 'usage.db');
  if (existsSync(file)) rmSync(file);
  const store = new UsageStore({ dataDir, maxBytes: 2 ** 36, clock: systemClock, log: silentLog });
  const made = new SearchRecords(owner);
  const began = performance.now();
  try {
    for (let from = 0; from < of.count; from += BATCH) {
      const at = (n: number): number => Math.floor(of.newest - SPREAD + ((n + 1) / of.count) * SPREAD);
      const records = Array.from({ length: BATCH }, (_, i) => made.record(from + i, at(from + i)));
      await store.store({ records, unrecorded: [] });
      if (from % 200_000 === 0) say(`${NAME}: ${number(from, 0)} stored`);
    }
    const lost = Object.values(store.stats().lost).reduce((sum, each) => sum + each, 0);
    if (lost > 0) throw new Error(`${lost} records were not stored`);
  } finally {
    await store.close();
  }
  say(`${NAME}: filled in ${number((performance.now() - began) / 1e3, 0)} s`);
}

interface Searching {
  readonly owner: Owner;
  readonly count: number;
  readonly newest: number;
  readonly keep: Keep;
}

function dayOf(newest: number): string {
  const since = new Date(newest - SEARCHED).toISOString();
  const until = new Date(newest - SEARCHED + DAY).toISOString();
  return `since=${since}&until=${until}`;
}

async function measureSearches(api: ApiClient, { owner, count, newest, keep }: Searching): Promise<string[][]> {
  const day = dayOf(newest);
  const middle = Math.floor(count * (1 - (SEARCHED - DAY / 2) / SPREAD));
  const filters: ReadonlyArray<readonly [string, string, string]> = [
    ['rare', 'body: a rare word', `body=${WORDS.rare}`],
    ['common', 'body: a common word', `body=${WORDS.common}`],
    ['missing', 'body: a word that is nowhere', `body=${WORDS.missing}`],
    ['tunnel', 'body, one tunnel', `body=${WORDS.rare}&tunnel_id=${owner.tunnelIds[0]}`],
    ['status', 'body, status 5xx', `body=${WORDS.missing}&status=5xx`],
    ['path', 'body, path and method', `body=${WORDS.missing}&path=stripe&method=POST`],
    ['header', 'a header value that is nowhere', 'header=accept:no-such-type'],
    ['address', 'one address', 'address=198.51.7.7'],
    ['network', 'a network', 'address=198.51.7.0/24'],
    ['trace', 'a trace id', `trace_id=${traceIdOf(middle)}`],
    ['duration', 'a duration that no request has', 'min_latency_ms=5000'],
    ['plain', 'no search: the first pages of the day', ''],
  ];
  const rows = [['', 'first p50', 'p95', 'p99', 'next p50', 'p95', 'p99', 'found', 'responses', 'day, s']];
  for (const [key, what, filter] of filters) {
    const done = await searchDays(api, `/inspector?${day}&${filter}`);
    const all = [...done.first, ...done.next];
    keep(`${key}P99`, percentile(all, 0.99));
    keep(`${key}Responses`, done.pages);
    keep(`${key}Seconds`, done.seconds);
    const figures = [done.first, done.next].flatMap((times) =>
      [0.5, 0.95, 0.99].map((part) => number(percentile(times, part), 0)),
    );
    rows.push([what, ...figures, number(done.found, 0), number(done.pages, 0), number(done.seconds, 2)]);
    say(rows.at(-1)?.join(' | ') ?? '');
  }
  return rows;
}

interface Done {
  readonly first: number[];
  readonly next: number[];
  /** Medians of a whole search: responses, items and the time of the responses together. */
  readonly pages: number;
  readonly found: number;
  readonly seconds: number;
}

/** The search from its first page to its last, again and again until enough responses were timed. Times in milliseconds. */
async function searchDays(api: ApiClient, path: string): Promise<Done> {
  const [first, next]: [number[], number[]] = [[], []];
  const [pages, found, seconds]: [number[], number[], number[]] = [[], [], []];
  while (first.length + next.length < RESPONSES) {
    let [page, items, spent] = [0, 0, 0];
    for (let at: string | undefined = path; at !== undefined && items < MAX_FOUND; page++) {
      const from = performance.now();
      const { text, headers } = await api.send('GET', at);
      const took = performance.now() - from;
      (page === 0 ? first : next).push(took);
      spent += took / 1e3;
      items += (JSON.parse(text) as readonly unknown[]).length;
      const query = /^<\?([^>]*)>/.exec(String(headers['link'] ?? ''))?.[1];
      at = query === undefined ? undefined : `/inspector?${query}`;
      await pause(BETWEEN_MS);
    }
    pages.push(page);
    found.push(items);
    seconds.push(spent);
  }
  const middle = (values: readonly number[]): number => median(values) ?? Number.NaN;
  return { first, next, pages: middle(pages), found: middle(found), seconds: middle(seconds) };
}

/** Calls of other pages of the dashboard. */
async function measurePages(
  api: ApiClient,
  { owner, newest, keep }: { readonly owner: Owner; readonly newest: number; readonly keep: Keep },
): Promise<string[][]> {
  const since = new Date(newest - DAY).toISOString();
  const [tunnelId = ''] = owner.tunnelIds;
  const newestRecord = stringIn((JSON.parse(await api.call('GET', '/inspector?limit=1')) as unknown[])[0], 'id');
  const paths: Readonly<Record<string, string>> = {
    '/inspector?limit=200': '/inspector?limit=200',
    '/inspector?limit=500': '/inspector?limit=500',
    '/inspector, status 5xx': '/inspector?limit=200&status=5xx',
    '/inspector, path that is nowhere': '/inspector?limit=200&path=no-such-path',
    '/inspector, one tunnel, a day': `/inspector?limit=200&tunnel_id=${tunnelId}&since=${since}`,
    '/inspector/{id}': `/inspector/${newestRecord}`,
    '/inspector/unrecorded': '/inspector/unrecorded',
    '/inspector/har, 200 requests': '/inspector/har?limit=200',
    '/orgs/{id}/latency, 30d': `/orgs/${owner.orgId}/latency?range=30d`,
    '/orgs/{id}/latency, 1h': `/orgs/${owner.orgId}/latency?range=1h`,
    '/tunnels/{id}/latency, 30d': `/tunnels/${tunnelId}/latency?range=30d`,
    '/metrics': '/metrics',
    '/metrics/timeseries, 30d': '/metrics/timeseries?metric=requests&window=30d',
    '/metrics/prometheus': '/metrics/prometheus',
    '/attention': '/attention',
    '/tunnels': '/tunnels',
    '/connections': '/connections',
    '/events': '/events?limit=100',
  };
  const rows = [['', 'p50', 'p95', 'p99']];
  for (const [name, path] of Object.entries(paths)) {
    const times: number[] = [];
    for (let i = 0; i < CALLS; i++) times.push(await timeOf(api, path));
    rows.push(rowOf(`GET ${name}`, times));
    keep(`${name} P99`, percentile(times, 0.99));
  }
  return rows;
}

/** Milliseconds of one call, behind a pause. */
async function timeOf(api: ApiClient, path: string): Promise<number> {
  await pause(BETWEEN_MS);
  const from = performance.now();
  await api.call('GET', path);
  return performance.now() - from;
}

function rowOf(name: string, times: readonly number[]): string[] {
  const row = [name, ...[0.5, 0.95, 0.99].map((part) => number(percentile(times, part), 1))];
  say(`${NAME} ${row.join(' | ')}`);
  return row;
}

/** Times of a list of the main database and of the newest requests: alone, and beside one and two endless searches. */
async function measureBeside(
  { api, beside, other }: { readonly api: ApiClient; readonly beside: ApiClient; readonly other: ApiClient },
  { newest, keep }: { readonly newest: number; readonly keep: Keep },
): Promise<string[][]> {
  const search = `/inspector?${dayOf(newest)}&body=${WORDS.missing}`;
  const rows = [['', 'p50', 'p95', 'p99']];
  for (const [name, clients] of [
    ['alone', []],
    ['beside one search', [beside]],
    ['beside two searches', [beside, other]],
  ] as const) {
    const searching = new AbortController();
    const going = clients.map(async (client) => {
      while (!searching.signal.aborted) await client.call('GET', search);
    });
    for (const path of ['/tunnels', '/inspector?limit=100']) {
      const times: number[] = [];
      for (let i = 0; i < CALLS; i++) times.push(await timeOf(api, path));
      keep(`${path} ${name}`, percentile(times, 0.99));
      rows.push(rowOf(`GET ${path}, ${name}`, times));
    }
    searching.abort();
    await Promise.all(going);
  }
  return rows;
}
