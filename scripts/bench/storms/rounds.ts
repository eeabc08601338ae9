/** One storm, measured: visitors in the storm, then the same visitors beside a process that burns what the storm has just burned, in each round. */
import { setTimeout as pause } from 'node:timers/promises';
import { processTree, readStat } from '../proc.ts';
import { say } from '../report/progress.ts';
import { number } from '../report/tables.ts';
import { burn, ratesDuring, type Share, sharesOf, type ThreadRates, total } from './burning.ts';
import type { Storm } from './storm.ts';
import { visit, type Visited, WARM_SECONDS } from './visitors.ts';
import { SERVER, type Fixture } from './fixture.ts';

export const VISITORS = 200;
/** Between two requests of one visitor: 1,600 requests a second in all. */
export const INTERVAL_MS = 125;
const SETTLE_MS = 500;

export interface Round {
  readonly storm: Visited;
  readonly quiet: Visited;
  /** Processors that burned beside the quiet visitors: as many as the storm took. */
  readonly burnt: number;
  /** The most of the machine's time that unrelated processes took, 0 to 1: a round to be doubted. */
  readonly others: number;
  /** Result of the storm, in words. */
  readonly did: string;
}

/** The visitors alone, and what the server's threads use for them. */
export async function measureQuiet(
  fixture: Fixture,
): Promise<{ readonly rates: ThreadRates; readonly visited: Visited; readonly others: number }> {
  const { result, others } = await watchOthers(fixture, () =>
    ratesDuring(serverPids(fixture), () => visitFor(fixture, fixture.bench.options.stormSeconds)),
  );
  return { rates: result.rates, visited: result.result, others };
}

/** `idle`: what the server's threads use without a storm. */
export async function measureStorm(fixture: Fixture, storm: Storm, idle: ThreadRates): Promise<Round[]> {
  const { options } = fixture.bench;
  const count = Math.min(options.stormRounds, storm.rounds ?? options.stormRounds);
  const seconds = storm.seconds ?? options.stormSeconds;
  const rounds: Round[] = [];
  try {
    await storm.prepare?.();
    for (let i = 1; i <= count; i++) {
      const stormy = await watchOthers(fixture, () => inStorm(fixture, storm, { seconds, idle }));
      const { visited, did, shares } = stormy.result;
      await pause(SETTLE_MS + (storm.settleMs ?? 0));
      const calm = await watchOthers(fixture, () =>
        beside(fixture, seconds, () => burn(fixture.bench, shares, seconds)),
      );
      const [quiet, burnt] = calm.result;
      rounds.push({ storm: visited, quiet, burnt, others: Math.max(stormy.others, calm.others), did });
      say(
        `storms ${storm.name} ${i}/${count}: ${figures(visited)}, ${visited.lost} lost; ` +
          `quiet ${figures(quiet)}, ${number(total(shares), 2)} processors; ${did}`,
      );
    }
  } finally {
    await storm.finish?.();
  }
  return rounds;
}

interface Stormy {
  readonly visited: Visited;
  readonly did: string;
  readonly shares: readonly Share[];
}

async function inStorm(
  fixture: Fixture,
  storm: Storm,
  { seconds, idle }: { readonly seconds: number; readonly idle: ThreadRates },
): Promise<Stormy> {
  const clients = clientSeconds();
  const from = performance.now();
  const { rates, result } = await ratesDuring(serverPids(fixture), () =>
    beside(fixture, seconds, () => storm.run(seconds)),
  );
  const [visited, did] = result;
  // A storm may outlast its window: its work is spread over all of its time.
  const elapsed = Math.max(seconds, (performance.now() - from) / 1_000 - WARM_SECONDS);
  return { visited, did, shares: sharesOf(rates, idle, (clientSeconds() - clients - visited.cpu) / elapsed) };
}

async function watchOthers<T>(
  { bench, visited }: Fixture,
  action: () => Promise<T>,
): Promise<{ readonly result: T; readonly others: number }> {
  const results: T[] = [];
  const { others } = await bench.load.around(visited, async () => {
    results.push(await action());
    return { values: {}, units: 1 };
  });
  const [result] = results;
  return { result: result as T, others };
}

/** Begins `action` as soon as the visitors are warm. */
function beside<T>(fixture: Fixture, seconds: number, action: () => Promise<T>): Promise<[Visited, T]> {
  return Promise.all([visitFor(fixture, seconds), pause(WARM_SECONDS * 1_000).then(action)]);
}

export function visitFor({ bench, server, host }: Fixture, seconds: number): Promise<Visited> {
  const crowd = { port: server.httpPort, host, connections: VISITORS, intervalMs: INTERVAL_MS, seconds };
  return visit(bench, crowd, { elsewhere: true });
}

function figures({ p50Ms, p99Ms, worstMs, worstAt, lateMs }: Visited): string {
  const worst = `worst ${number(worstMs, 1)} at ${number(worstAt, 1)} s (late ${number(lateMs, 1)})`;
  return `p50 ${number(p50Ms, 2)}, p99 ${number(p99Ms, 2)}, ${worst}`;
}

function serverPids({ bench }: Fixture): number[] {
  return processTree(bench.processes.pid(SERVER));
}

/** Processor time of programs that have ended. */
function clientSeconds(): number {
  return readStat('self')?.childSeconds ?? 0;
}
