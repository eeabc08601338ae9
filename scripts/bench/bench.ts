/**
 * One benchmark run: the processes, the tools, the subjects that are up, and the rounds. run.ts decides what is run and
 * prints; scenarios say how one measurement is done.
 */
import type { Load } from './load.ts';
import type { Options } from './options.ts';
import type { Certificate } from './peers.ts';
import type { Processes } from './processes.ts';
import { say } from './report/progress.ts';
import { number } from './report/tables.ts';
import type { Results } from './results.ts';
import type { Scenario, Subject, SubjectName } from './subject.ts';
import type { Tools } from './tools.ts';

export interface Bench {
  readonly options: Options;
  readonly processes: Processes;
  readonly tools: Tools;
  readonly load: Load;
  readonly results: Results;
  readonly certificate: Certificate;
}

export type Subjects = ReadonlyMap<SubjectName, Subject>;

/**
 * Runs the code that compilers and caches warm up on; not measured. Culvert gets every request load once, because its code
 * is compiled while it runs; one second of small requests is enough for the others.
 */
export async function warmUp(bench: Bench, scenarios: readonly Scenario[], subjects: Subjects): Promise<void> {
  for (const subject of subjects.values()) {
    say(`warming up ${subject.name}`);
    await bench.load.requests(subject, { path: '/small', connections: 64, seconds: 1 });
    if (!subject.name.startsWith('culvert')) continue;
    const loads = scenarios.filter(({ unit, subjects: names }) => unit === 'request' && names.includes(subject.name));
    for (const scenario of loads) await scenario.measure(subject);
  }
}

/**
 * Runs all scenarios on all subjects, round by round: within a round the subjects of a scenario follow each other at once,
 * so that a ratio compares neighbours in time. The order of subjects turns with the rounds.
 */
export async function runRounds(bench: Bench, scenarios: readonly Scenario[], subjects: Subjects): Promise<void> {
  const { rounds } = bench.options;
  for (let round = 0; round < rounds; round++) {
    for (const scenario of scenarios) {
      const present = scenario.subjects.flatMap((name) => subjects.get(name) ?? []);
      for (let turn = 0; turn < present.length; turn++) {
        const subject = present[(turn + round) % present.length];
        if (subject !== undefined) await runOne(bench, scenario, { subject, round });
      }
    }
  }
}

async function runOne(
  bench: Bench,
  scenario: Scenario,
  { subject, round }: { readonly subject: Subject; readonly round: number },
): Promise<void> {
  const where = `round ${round + 1}/${bench.options.rounds} ${scenario.name} ${subject.name}`;
  const [main] = scenario.columns;
  try {
    const sample = await scenario.measure(subject);
    bench.results.add(scenario.name, subject.name, { round, sample });
    say(`${where}: ${number(sample.values[main.key], main.digits)} ${main.head}`);
  } catch (error) {
    // One subject that fails must not cost the measurements of the others; the table lacks its sample.
    say(`${where}: FAILED: ${bench.processes.survive(error)}`);
  }
}
