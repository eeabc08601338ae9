/**
 * The command line of the benchmark.
 */
import { parseArgs } from 'node:util';
import { STORMS, type StormName } from './storms/names.ts';
import { SUBJECTS, type SubjectName } from './subject.ts';

const SCENARIOS = [
  'small',
  'tls',
  'h2',
  'h2-many',
  'h2-one',
  'h2-64k',
  'h2-bulk',
  'h2-upload',
  'upload',
  'h2-first-byte',
  'h2-page',
  'h2-idle',
  'one',
  '64k',
  'close',
  'close-tls',
  'bulk',
  'fair',
  'events',
  'memory',
  'threads-memory',
  'storms',
  'restart',
  'log-ins',
  'policy',
  'rewrite',
  'gate-storm',
  'bandwidth',
  'big-database',
  'records',
  'search',
  'inspector',
  'dashboard-live',
  'relay',
  'relay-reno',
  'relay-packets',
  'datagrams',
  'dashboard',
  'far',
  'link',
  'link-reno',
] as const;
export type ScenarioName = (typeof SCENARIOS)[number];

export interface Options {
  readonly rounds: number;
  readonly seconds: number;
  /** Of the scenario `storms`: fewer and longer rounds. */
  readonly stormRounds: number;
  readonly stormSeconds: number;
  /** Empty: all. */
  readonly storms: readonly StormName[];
  readonly only: readonly ScenarioName[];
  /** Empty: all. */
  readonly subjects: readonly SubjectName[];
  readonly json: string | undefined;
  readonly bulkBytes: number;
  readonly idleVisitors: number;
  readonly agents: number;
  /** Recorded requests in the file of the scenario about them. */
  readonly records: number;
  readonly quick: boolean;
  readonly perf: boolean;
  readonly build: boolean;
  readonly install: boolean;
  /** What to run as Culvert: a binary, a bundle or a source file. */
  readonly culvert: string | undefined;
  /** `server.data_threads` of Culvert; undefined: its default. */
  readonly dataThreads: number | undefined;
  /** Build and threads of the subject `culvert-other`. */
  readonly other: string | undefined;
  readonly otherThreads: number | undefined;
}

const USAGE = `npm run bench -- [options]

  --rounds N       rounds, in which every subject gets every load once (5; storms 2)
  --seconds S      length of one load (3; storms 8)
  --only a,b       scenarios: ${SCENARIOS.join(', ')}
  --subjects a,b   subjects: ${SUBJECTS.join(', ')}
  --storm a,b      storms of the scenario storms: ${STORMS.join(', ')}
  --bulk-gb N      length of the download of bulk (1): about 2 for each second of the download
  --json FILE      write all samples to a file
  --quick          1 round of 1 s, small download, fewer idle visitors, agents and records: to see that it works
  --perf           where the processor time of server and agent goes (perf); with --only of small, 64k, close
  --culvert FILE   binary, bundle or source to measure (a fresh dist/culvert.mjs, dist/culvert or src/main.ts)
  --data-threads N server.data_threads of Culvert: 0 or 1 (its default)
  --other FILE     another build, measured round by round beside Culvert as culvert-other
  --other-threads N  server.data_threads of culvert-other; without --other it is the same build
  --no-build       do not run "npm run build" first
  --no-install     do not install missing programs from Debian
`;

/** Reads the arguments. A string is a text for the user: the help, or what is wrong. */
export function readOptions(args: readonly string[]): Options | { readonly text: string; readonly code: 0 | 2 } {
  const fail = (text: string): { text: string; code: 2 } => ({ text: `bench: ${text}\n\n${USAGE}`, code: 2 });
  let values: ReturnType<typeof parse>;
  try {
    values = parse(args);
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error));
  }
  if (values.help) return { text: USAGE, code: 0 };
  const rounds = Number(values.rounds ?? (values.quick ? 1 : 5));
  const seconds = Number(values.seconds ?? (values.quick ? 1 : 3));
  if (!Number.isInteger(rounds) || rounds < 1) return fail('--rounds must be a number from 1');
  // wrk counts whole seconds.
  if (!Number.isInteger(seconds) || seconds < 1) return fail('--seconds must be a whole number from 1');
  const bulkGb = Number(values['bulk-gb'] ?? (values.quick ? 0.25 : 1));
  if (!(bulkGb > 0 && bulkGb <= 100)) return fail('--bulk-gb must be a number up to 100');
  const threads = [values['data-threads'], values['other-threads']].map((text) =>
    text === undefined ? text : Number(text),
  );
  if (threads.some((count) => count !== undefined && ![0, 1].includes(count)))
    return fail('--data-threads and --other-threads must be 0 or 1');
  const storms = list(values.storm);
  const calm = storms.find((name) => !isStorm(name));
  if (calm !== undefined) return fail(`no storm is named ${calm}`);
  const only = list(values.only);
  const unknown = only.find((name) => !isScenario(name));
  if (unknown !== undefined) return fail(`no scenario is named ${unknown}`);
  const subjects = list(values.subjects);
  const stranger = subjects.find((name) => !isSubject(name));
  if (stranger !== undefined) return fail(`no subject is named ${stranger}`);
  return {
    rounds,
    seconds,
    stormRounds: Number(values.rounds ?? (values.quick ? 1 : 2)),
    stormSeconds: Number(values.seconds ?? (values.quick ? 2 : 8)),
    storms: storms.filter(isStorm),
    only: only.length === 0 ? SCENARIOS : only.filter(isScenario),
    subjects: subjects.filter(isSubject),
    json: values.json,
    bulkBytes: Math.round(bulkGb * 2 ** 30),
    idleVisitors: values.quick ? 2_000 : 10_000,
    agents: values.quick ? 200 : 1_000,
    records: values.quick ? 50_000 : 1_000_000,
    quick: values.quick ?? false,
    perf: values.perf ?? false,
    build: !(values['no-build'] ?? false),
    install: !(values['no-install'] ?? false),
    culvert: values.culvert,
    dataThreads: threads[0],
    other: values.other,
    otherThreads: threads[1],
  };
}

function parse(args: readonly string[]) {
  return parseArgs({
    args: [...args],
    options: {
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      only: { type: 'string' },
      subjects: { type: 'string' },
      json: { type: 'string' },
      culvert: { type: 'string' },
      other: { type: 'string' },
      'data-threads': { type: 'string' },
      'other-threads': { type: 'string' },
      storm: { type: 'string' },
      'bulk-gb': { type: 'string' },
      quick: { type: 'boolean' },
      perf: { type: 'boolean' },
      'no-build': { type: 'boolean' },
      'no-install': { type: 'boolean' },
      help: { type: 'boolean' },
    },
  }).values;
}

function list(text: string | undefined): string[] {
  return (text ?? '').split(',').filter((part) => part !== '');
}

function isScenario(name: string): name is ScenarioName {
  return SCENARIOS.some((each) => each === name);
}

function isStorm(name: string): name is StormName {
  return STORMS.some((each) => each === name);
}

function isSubject(name: string): name is SubjectName {
  return SUBJECTS.some((each) => each === name);
}
