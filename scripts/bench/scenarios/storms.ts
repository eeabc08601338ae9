/**
 * What a neighbour, an attacker, an operator or a slow disk costs the visitors of another tenant: 200 of them with kept connections at a fixed pace, in
 * each storm, and beside a process that burns as much processor time as the storm did. Storm and quiet alternate. Limits: storms/table.ts.
 */
import type { Bench } from '../bench.ts';
import { say } from '../report/progress.ts';
import { number } from '../report/tables.ts';
import { median } from '../results.ts';
import { callStorms, DELETIONS, deletionStorms } from '../storms/calls.ts';
import { diskStorms } from '../storms/disk.ts';
import { STORMS } from '../storms/names.ts';
import { readStorms } from '../storms/reads.ts';
import { INTERVAL_MS, measureQuiet, measureStorm, visitFor, VISITORS } from '../storms/rounds.ts';
import { startAgain } from '../storms/start.ts';
import type { Storm } from '../storms/storm.ts';
import { judge, plainRow, stormRow, stormTable, type Verdict } from '../storms/table.ts';
import { tokenStorms } from '../storms/tokens.ts';
import { makeFixture, type Fixture } from '../storms/fixture.ts';

const NAME = 'storms';

/** Measures and keeps the figures under `storms`; the text is the table for the report. */
export async function measureStorms(bench: Bench): Promise<string> {
  const { options, processes, results } = bench;
  const fixture = await makeFixture(bench, { deletions: DELETIONS * options.stormRounds });
  const isWanted = (name: (typeof STORMS)[number]): boolean =>
    options.storms.length === 0 || options.storms.includes(name);
  // Code is compiled while it runs: not measured.
  await visitFor(fixture, options.stormSeconds);
  const before = await measureQuiet(fixture);
  const rows = [plainRow('no storm, at the start', before.visited, before.others)];
  const notes: string[] = [];
  const verdicts: Verdict[] = [];
  for (const storm of stormsOf(fixture).filter(({ name }) => isWanted(name))) {
    try {
      const rounds = await measureStorm(fixture, storm, before.rates);
      const verdict = judge(rounds);
      verdicts.push(verdict);
      rows.push(stormRow(storm.name, rounds, verdict));
      notes.push(`  ${storm.name}: ${storm.title}: ${rounds.map(({ did }) => did).join('; ')}`);
      for (const key of ['p99Times', 'worstMs', 'lost'] as const)
        results.addSingle(NAME, `${storm.name}.${key}`, verdict[key]);
    } catch (error) {
      const text = `${storm.name} FAILED: ${processes.survive(error)}`;
      say(`${NAME} ${text}`);
      notes.push(`  ! ${text}`);
    }
  }
  const after = await measureQuiet(fixture);
  rows.push(plainRow('no storm, at the end', after.visited, after.others));
  if (isWanted('start')) notes.push(await measureStart(fixture));
  await processes.stopAll();
  keepWorst(bench, verdicts);
  const pace = `${VISITORS} kept visitors of another tenant, ${number(VISITORS * (1_000 / INTERVAL_MS), 0)} requests/s`;
  const head = `${NAME}: ${pace}; ms from when each was due; quiet: beside a process that burns as many processors`;
  return [head, ...stormTable(rows), ...notes].join('\n');
}

/** In the order of STORMS. */
function stormsOf(fixture: Fixture): Storm[] {
  const all = [deletionStorms, callStorms, readStorms, tokenStorms, diskStorms].flatMap((make) => make(fixture));
  return STORMS.flatMap((name) => all.filter((storm) => storm.name === name));
}

function keepWorst({ results }: Bench, verdicts: readonly Verdict[]): void {
  if (verdicts.length === 0) return;
  results.addSingle(NAME, 'p99Times', Math.max(...verdicts.map(({ p99Times }) => p99Times)));
  results.addSingle(NAME, 'slow', verdicts.filter(({ isSlow }) => isSlow).length);
  results.addSingle(
    NAME,
    'lost',
    verdicts.reduce((sum, { lost }) => sum + lost, 0),
  );
}

async function measureStart(fixture: Fixture): Promise<string> {
  const { options, results } = fixture.bench;
  const starts: Awaited<ReturnType<typeof startAgain>>[] = [];
  for (let i = 0; i < options.stormRounds; i++) starts.push(await startAgain(fixture));
  const visited = starts.map(({ visitedMs }) => visitedMs);
  results.addSingle(NAME, 'start.visitedMs', median(visited) ?? Number.NaN);
  const list = (times: readonly number[]): string => times.map((ms) => number(ms, 0)).join(' and ');
  const ready = list(starts.map(({ readyMs }) => readyMs));
  return `  start: with 10,000 tunnels and more: /ready after ${ready} ms, first visitor after ${list(visited)} ms, agent's retry included`;
}
