/**
 * Memory of a separate data thread: the whole process after the same load, with and without it, or of Culvert and another build (`--other`). Each is
 * started fresh, so that no earlier load has left a larger heap.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Bench } from '../bench.ts';
import { type CulvertBuild, culvertBuild, otherBuild, startAgent, startServer } from '../culvert.ts';
import { startOrigin } from '../peers.ts';
import { residentKb } from '../proc.ts';
import { say } from '../report/progress.ts';
import { number } from '../report/tables.ts';
import { median } from '../results.ts';

const NAME = 'threads-memory';
const SERVER = 'server-threads';
const AGENT = 'agent-threads';
const CONNECTIONS = 64;
/** Until freed pages have gone back. */
const SETTLE_MS = 3_000;

/** Measures and keeps the figures under `threads-memory`; the text is the table for the report. */
export async function measureThreadsMemory(bench: Bench): Promise<string> {
  const { processes, tools, options, results } = bench;
  const origin = await startOrigin(processes, tools, { name: 'origin-threads', address: '127.0.0.1' });
  const build = culvertBuild(options);
  const other = otherBuild(options) ?? { ...build, dataThreads: 0 };
  const rounds: { readonly own: Megabytes; readonly others: Megabytes }[] = [];
  for (let i = 1; i <= options.rounds; i++) {
    const own = await measure(bench, build, origin.port);
    const others = await measure(bench, other, origin.port);
    rounds.push({ own, others });
    say(`${NAME} ${i}/${options.rounds}: ${number(own.loaded, 0)} and ${number(others.loaded, 0)} MB`);
  }
  await processes.stopAll();
  const of = (value: (round: (typeof rounds)[number]) => number): number => median(rounds.map(value)) ?? Number.NaN;
  const more = of(({ own, others }) => own.loaded - others.loaded);
  results.addSingle(NAME, 'moreMb', more);
  const mb = (value: (round: (typeof rounds)[number]) => number): string => `${number(of(value), 0)} MB`;
  return [
    `${NAME}: resident memory of the server's process, data_threads ${build.dataThreads ?? 'as it has them'} and ${words(other, build)}`,
    `  after the start ${mb(({ own }) => own.started)} and ${mb(({ others }) => others.started)}, ` +
      `after ${options.seconds} s of small GET ${mb(({ own }) => own.loaded)} and ${mb(({ others }) => others.loaded)}: ${number(more, 1)} MB more`,
  ].join('\n');
}

interface Megabytes {
  readonly started: number;
  readonly loaded: number;
}

async function measure(
  { processes, load, options }: Bench,
  build: CulvertBuild,
  originPort: number,
): Promise<Megabytes> {
  const server = await startServer(processes, build, { name: SERVER });
  const subject = await startAgent(processes, server, { originPort, name: AGENT });
  const started = await settled(processes.pid(SERVER));
  await load.requests(subject, { path: '/small', connections: CONNECTIONS, seconds: options.seconds });
  const loaded = await settled(processes.pid(SERVER));
  await processes.stop(AGENT);
  await processes.stop(SERVER);
  return { started, loaded };
}

async function settled(pid: number): Promise<number> {
  await pause(SETTLE_MS);
  return residentKb(pid) / 1_024;
}

function words({ command, dataThreads }: CulvertBuild, own: CulvertBuild): string {
  const threads = `data_threads ${dataThreads ?? 'as it has them'}`;
  return command.join(' ') === own.command.join(' ') ? threads : `${threads} of ${command.join(' ')}`;
}
