/**
 * A million recorded requests: how fast they are stored, and how long lists, one record and slices of the sweep take while more come. On the store
 * itself, in this process, as the control plane has it; through the API come the check of the session and the JSON.
 */
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLog } from '../../../src/base/log.ts';
import type { RecordFilter } from '../../../src/control/db/usage/records.ts';
import { UsageStore } from '../../../src/control/db/usage/usage-store.ts';
import type { Bench } from '../bench.ts';
import { makeOwners, makeRecord, type Owners } from '../recorded.ts';
import { say } from '../report/progress.ts';
import { number } from '../report/tables.ts';
import { median } from '../results.ts';

const NAME = 'records';
const DAY = 24 * 3_600_000;
/** What is filled in is spread over so long; a tenth of it goes in the sweep. */
const SPREAD = 10 * DAY;
const BATCH = 1_000;
/** What a node records per second at most, in batches of a twentieth of that: the load beside which is measured. */
const LOAD_BATCH = 50;
const LOAD_EVERY_MS = 50;
const CALLS = 100;
const BETWEEN_CALLS_MS = 5;

type Keep = (key: string, value: number, text: string) => void;

/** Measures and keeps the figures under `records`; the text is the table for the report. */
export async function measureRecords(bench: Bench): Promise<string> {
  const count = bench.options.records;
  const folder = mkdtempSync(join(tmpdir(), 'culvert-records-'));
  bench.processes.atEnd(() => rmSync(folder, { recursive: true, force: true }));
  const store = new UsageStore({ dataDir: folder, maxBytes: 2 ** 36, clock: systemClock, log: silentLog });
  const owners = makeOwners();
  const lines = [`${NAME}: ${number(count, 0)} recorded requests of 20 organizations`];
  const keep: Keep = (key, value, text) => {
    bench.results.addSingle(NAME, key, value);
    say(`${NAME} ${text}`);
    lines.push(`  ${text}`);
  };
  try {
    await fill(store, { owners, count, keep });
    const megabytes = sizeOf(folder) / 1e6;
    keep(
      'megabytes',
      megabytes,
      `on the disk: ${number(megabytes, 0)} MB, ${number((megabytes / count) * 1e3, 2)} KB each`,
    );
    const stop = startLoad(store, owners);
    await measureReads(store, { owners, count, keep });
    await measureSweep(store, owners, keep);
    await stop();
    const { lost, longestHoldMs } = store.stats();
    keep('longestHold', longestHoldMs, `the longest that anything held the thread: ${number(longestHoldMs, 1)} ms`);
    const gone = Object.values(lost).reduce((sum, each) => sum + each, 0);
    keep('lost', gone, `lost: ${number(gone, 0)}`);
  } finally {
    await store.close();
    rmSync(folder, { recursive: true });
  }
  return lines.join('\n');
}

async function fill(
  store: UsageStore,
  { owners, count, keep }: { readonly owners: Owners; readonly count: number; readonly keep: Keep },
): Promise<void> {
  const start = Date.now() - SPREAD;
  let storing = 0;
  for (let from = 0; from < count; from += BATCH) {
    const records = Array.from({ length: BATCH }, (_, i) =>
      makeRecord(owners, from + i, start + ((from + i) / count) * SPREAD),
    );
    const began = performance.now();
    await store.store({ records, unrecorded: [] });
    storing += performance.now() - began;
    if (from % 200_000 === 0) say(`${NAME}: ${number(from, 0)} stored`);
  }
  const rate = count / (storing / 1e3);
  keep('inserts', rate, `stored per second, in batches of ${number(BATCH, 0)}: ${number(rate, 0)}`);
}

function startLoad(store: UsageStore, owners: Owners): () => Promise<void> {
  let next = 0;
  let storing = Promise.resolve();
  const timer = setInterval(() => {
    const records = Array.from({ length: LOAD_BATCH }, () => makeRecord(owners, next++, Date.now()));
    storing = storing.then(() => store.store({ records, unrecorded: [] }));
  }, LOAD_EVERY_MS);
  return async () => {
    clearInterval(timer);
    await storing;
  };
}

async function measureReads(
  store: UsageStore,
  { owners, count, keep }: { readonly owners: Owners; readonly count: number; readonly keep: Keep },
): Promise<void> {
  const [orgId = ''] = owners.organizations;
  const tunnelId = owners.tunnels[0]?.[0] ?? '';
  const status = { from: 500, to: 599 };
  const middle = Date.now() - SPREAD / 2;
  const lists: ReadonlyArray<readonly [string, string, RecordFilter]> = [
    ['newest', 'the newest 100 of an organization', { limit: 100 }],
    ['newest500', 'the newest 500 of an organization', { limit: 500 }],
    ['tunnel', 'the newest 100 of a tunnel', { limit: 100, tunnelId }],
    ['since', '100 of a tunnel before some day', { limit: 100, tunnelId, until: middle }],
    ['filtered', 'of a tunnel by path and status, often', { limit: 100, tunnelId, pathContains: 'orders', status }],
    ['rare', 'of a tunnel by path and status, hardly ever', { limit: 100, tunnelId, pathContains: 'needle', status }],
    ['rareOrg', 'of an organization by path, hardly ever', { limit: 100, pathContains: 'needle' }],
  ];
  for (const [key, what, filter] of lists) {
    let found = '';
    const times = await timed(async () => {
      const { items, stoppedAt } = await store.list(orgId, filter);
      found = `${items.length} found${stoppedAt === null ? '' : ', and where it stopped'}`;
    });
    told(keep, key, { what: `list: ${what}`, times, found });
  }
  const { items } = await store.list(orgId, { limit: 500, until: middle });
  let i = 0;
  const times = await timed(async () => {
    await store.find(orgId, items[i++ % items.length]?.id ?? '');
  });
  told(keep, 'detail', { what: 'one record of days ago', times, found: `of ${number(count, 0)}` });
}

async function timed(call: () => Promise<void>): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < CALLS; i++) {
    const from = performance.now();
    await call();
    times.push(performance.now() - from);
    await pause(BETWEEN_CALLS_MS);
  }
  return times;
}

function told(
  keep: Keep,
  key: string,
  { what, times, found }: { readonly what: string; readonly times: readonly number[]; readonly found: string },
): void {
  const sorted = times.toSorted((a, b) => a - b);
  const p99 = sorted[Math.floor(sorted.length * 0.99) - 1] ?? Number.NaN;
  const ms = (value: number): string => `${number(value, 1)} ms`;
  const text = `median ${ms(median(times) ?? Number.NaN)}, p99 ${ms(p99)}, longest ${ms(sorted.at(-1) ?? Number.NaN)}`;
  keep(key, p99, `${what}: ${text}; ${found}`);
}

async function measureSweep(store: UsageStore, owners: Owners, keep: Keep): Promise<void> {
  const since = Date.now() - SPREAD * 0.9;
  const keeping = owners.organizations.map((orgId) => ({ orgId, since }));
  const from = performance.now();
  let deleted = 0;
  let longest = 0;
  for (let done = false; !done; ) {
    const report = await store.sweep(keeping);
    deleted += report.deleted;
    longest = Math.max(longest, report.longestHoldMs);
    done = report.done;
  }
  const seconds = (performance.now() - from) / 1e3;
  keep(
    'sweepHold',
    longest,
    `sweep of ${number(deleted, 0)}: longest slice ${number(longest, 1)} ms, ${number(deleted / seconds, 0)} per second`,
  );
}

function sizeOf(folder: string): number {
  return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}
