/**
 * A server with much in its tables: how long it takes to start, to list what one organization has, and to tell the edge of a change.
 * On a server of its own, filled by big-database.ts while it is down.
 */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Bench } from '../bench.ts';
import { AUDIT_EVENTS, type BigDatabase, fillDatabase, TUNNELS } from '../big-database.ts';
import { stringIn } from '../api.ts';
import { ApiClient } from '../api-client.ts';
import { culvertBuild, type CulvertServer, startServer } from '../culvert.ts';
import { residentKb } from '../proc.ts';
import { say } from '../report/progress.ts';
import { number } from '../report/tables.ts';
import { median, percentile } from '../results.ts';
import { Visitor } from '../visitor.ts';

const NAME = 'big-database';
const SERVER = 'server-big-database';
const OWNER = 'admin@localhost';
const STARTS = 5;
const CALLS = 200;
/** Each is a creation and a deletion. */
const CHANGES = 50;
const CHANGE_DEADLINE_MS = 5_000;
/** A list is asked for as a dashboard does it: now and then, so that one does not wait for the other. */
const BETWEEN_CALLS_MS = 5;

/** Measures and keeps the figures under `big-database`; the text is the table for the report. */
export async function measureBigDatabase(bench: Bench): Promise<string> {
  const { processes, options } = bench;
  const server = await startServer(processes, culvertBuild(options), { name: SERVER });
  await processes.stop(SERVER);
  const from = performance.now();
  const big = fillDatabase(join(server.folder, 'data'), OWNER, () => undefined);
  say(`${NAME}: filled in ${number((performance.now() - from) / 1e3, 1)} s`);

  const lines = [
    `${NAME}: ${number(TUNNELS, 0)} tunnels and ${number(AUDIT_EVENTS, 0)} audit events, 20 organizations`,
  ];
  const keep = (key: string, value: number, text: string): void => {
    bench.results.addSingle(NAME, key, value);
    say(`${NAME} ${text}`);
    lines.push(`  ${text}`);
  };
  const starts: number[] = [];
  for (let i = 0; i < STARTS; i++) {
    if (i > 0) await processes.stop(SERVER);
    starts.push(await startAgain(bench, server));
  }
  keep(
    'startMs',
    middle(starts),
    `start until /ready: median ${ms(middle(starts))}, longest ${ms(Math.max(...starts))}`,
  );
  const pid = processes.pid(SERVER);
  keep('startMb', residentKb(pid) / 1024, `memory then: ${number(residentKb(pid) / 1024, 0)} MB`);

  const api = new ApiClient(server.apiPort);
  await api.logIn(OWNER, server.password);
  await measureLists(bench, { api, big, keep });
  await measureChanges(api, server.httpPort, keep);
  keep('endMb', residentKb(pid) / 1024, `memory at the end: ${number(residentKb(pid) / 1024, 0)} MB`);
  api.close();
  await processes.stop(SERVER);
  return lines.join('\n');
}

type Keep = (key: string, value: number, text: string) => void;

/** Milliseconds from the start of the process to its first 200 of /ready. */
async function startAgain({ processes }: Bench, server: CulvertServer): Promise<number> {
  const from = performance.now();
  processes.start(SERVER, [...server.command, 'serve', '--config', server.configFile]);
  for (;;) {
    const ready = await fetch(`http://127.0.0.1:${server.apiPort}/ready`).catch(() => undefined);
    await ready?.arrayBuffer();
    if (ready?.status === 200) return performance.now() - from;
    // Throws when it has ended.
    processes.pid(SERVER);
    await pause(2);
  }
}

async function measureLists(
  bench: Bench,
  { api, big, keep }: { api: ApiClient; big: BigDatabase; keep: Keep },
): Promise<void> {
  const lists = [
    { key: 'tunnels1000', org: big.largest, path: '/tunnels', what: 'GET /tunnels with 1,000' },
    { key: 'tunnels500', org: big.half, path: '/tunnels', what: 'GET /tunnels with 500' },
    { key: 'tokens1000', org: big.largest, path: '/tokens', what: 'GET /tokens with 1,000' },
    { key: 'events', org: big.largest, path: '/events?limit=100', what: 'GET /events with 100 of 5,000' },
  ];
  for (const { key, org, path, what } of lists) {
    await api.switchTo(org);
    const times: number[] = [];
    let bytes = 0;
    for (let i = 0; i < CALLS; i++) {
      const from = performance.now();
      bytes = (await api.call('GET', path)).length;
      times.push(performance.now() - from);
      await pause(BETWEEN_CALLS_MS);
    }
    const [first = Number.NaN] = times;
    const [p50, p99] = [middle(times), percentile(times, 0.99)];
    const size = `${number(bytes / 1e3, 0)} KB`;
    keep(key, p50, `${what}: median ${ms(p50)}, p99 ${ms(p99)}, the first ${ms(first)}; ${size}`);
    bench.results.addSingle(NAME, `${key}P99`, p99);
  }
  await api.switchTo(big.half);
}

/** From the request that makes or deletes a tunnel to the first answer of the edge that knows, over a connection that asks all the time. */
async function measureChanges(api: ApiClient, httpPort: number, keep: Keep): Promise<void> {
  const times: number[] = [];
  for (let i = 0; i < CHANGES; i++) {
    const label = `change-${i}`;
    const visitor = await Visitor.connect(httpPort, `${label}.localhost`);
    let id = '';
    times.push(
      await untilSeen(visitor, 'tunnel_offline', async () => {
        const body = await api.call('POST', '/tunnels', { localPort: 3000, subdomain: label });
        id = stringIn(JSON.parse(body), 'id');
      }),
    );
    times.push(
      await untilSeen(visitor, 'tunnel_not_found', async () => void (await api.call('DELETE', `/tunnels/${id}`))),
    );
    visitor.close();
  }
  const p99 = percentile(times, 0.99);
  keep('changeP99', p99, `a change of a route until the edge shows it: median ${ms(middle(times))}, p99 ${ms(p99)}`);
}

/** Milliseconds until the edge answers with this code, from when `change` was begun. */
async function untilSeen(visitor: Visitor, code: string, change: () => Promise<void>): Promise<number> {
  const from = performance.now();
  const seen = async (): Promise<number> => {
    for (;;) {
      const said = await visitor.ask();
      const took = performance.now() - from;
      if (said === code) return took;
      if (took > CHANGE_DEADLINE_MS) throw new Error(`the edge says ${said} and not ${code}`);
    }
  };
  const [took] = await Promise.all([seen(), change()]);
  return took;
}

function middle(values: readonly number[]): number {
  return median(values) ?? Number.NaN;
}

function ms(value: number): string {
  return `${number(value, 1)} ms`;
}
