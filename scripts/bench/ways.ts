/** Small requests through several tunnels of one server, turn by turn in each round: what a setting costs against the first tunnel, which lacks it. */
import type { Bench } from './bench.ts';
import { say } from './report/progress.ts';
import { align, number } from './report/tables.ts';
import { median } from './results.ts';
import type { Sample, Subject } from './subject.ts';

export interface Way {
  /** Names its figure. */
  readonly key: string;
  readonly title: string;
  readonly subject: Subject;
  readonly host: string;
  readonly headers: readonly string[];
  /** Before its turn in a round. */
  begin(round: number): Promise<unknown>;
}

const WARM_SECONDS = 2;

/** Measures and keeps the ratios of processor time under `name`; the text is the table for the report. Throws when a request was refused. */
export async function measureWays(
  { load, options, results, processes }: Bench,
  of: { readonly name: string; readonly server: string; readonly connections: number; readonly ways: readonly Way[] },
): Promise<string> {
  const { name, ways, connections } = of;
  const measure = ({ subject, host, headers }: Way, seconds: number): Promise<Sample> =>
    load.requests(subject, { path: '/small', connections, seconds, host, headers });
  for (const way of ways) await measure(way, WARM_SECONDS); // a password is known from then on
  const rounds: ReadonlyMap<string, Sample>[] = [];
  for (let round = 0; round < options.rounds; round++) {
    for (const way of ways) await way.begin(round + 1);
    const samples = new Map<string, Sample>();
    for (let turn = 0; turn < ways.length; turn++) {
      const way = ways[(turn + round) % ways.length] as Way;
      const sample = await measure(way, options.seconds);
      if (sample.trouble !== undefined) throw new Error(`${way.title}: ${sample.trouble}`);
      samples.set(way.key, sample);
      say(`${name} ${round + 1}/${options.rounds} ${way.key}: ${number(costOf(sample), 1)} us/request`);
    }
    rounds.push(samples);
  }
  await processes.stopAll();
  const values = ({ key }: Way, value: (sample: Sample) => number): number[] =>
    rounds.map((samples) => value(samples.get(key) as Sample));
  const serverCost = ({ cpuSeconds, units }: Sample): number => ((cpuSeconds[of.server] ?? Number.NaN) / units) * 1e6;
  const plain = values(ways[0] as Way, costOf);
  const rows = ways.map((way) => {
    const ratio = median(values(way, costOf).map((cost, round) => cost / (plain[round] as number)));
    if (way !== ways[0]) results.addSingle(name, way.key, ratio ?? Number.NaN);
    return [
      way.title,
      number(median(values(way, (sample) => sample.values['rps'] ?? Number.NaN)), 0),
      number(median(values(way, serverCost)), 1),
      number(median(values(way, costOf)), 1),
      number(ratio, 2),
    ];
  });
  const head = ['', 'req/s', 'server us/request', 'with agent', 'x first'];
  return [
    `${name}: small GET, ${connections} kept connections, processor time`,
    ...align([head, ...rows]).map((line) => `  ${line}`),
  ].join('\n');
}

/** Microseconds of server and agent per request. */
function costOf({ cpuSeconds, units }: Sample): number {
  const between = Object.entries(cpuSeconds).filter(([name]) => name !== 'client' && name !== 'origin');
  return (between.reduce((sum, [, seconds]) => sum + seconds, 0) / units) * 1e6;
}
