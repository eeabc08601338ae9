/**
 * The goals of the data path: what must hold and what is wanted, beside what was measured. Each is a ratio within one run or
 * a cost per unit, so that it means the same on another machine.
 */
import type { Results } from '../results.ts';
import { align, number } from './tables.ts';

interface Target {
  readonly what: string;
  /** `least`: the value must be at least this; `most`: at most. */
  readonly sense: 'least' | 'most';
  readonly must: number;
  readonly goal: number;
  readonly digits: number;
  readonly unit: string;
  readonly value: (results: Results) => number | undefined;
}

const CULVERT = ['server', 'agent'];

const TARGETS: readonly Target[] = [
  target('small GET: req/s against nginx', ['least', 0.7, 0.85], (r) => r.ratio('small', ['culvert', 'nginx'], 'rps')),
  target('small GET: req/s against ssh -R', ['least', 2, 3], (r) => r.ratio('small', ['culvert', 'ssh'], 'rps')),
  { ...target('small GET: server + agent processor time', ['most', 18, 15.5], smallCpu), unit: 'us', digits: 1 },
  target('small GET: p99 against nginx', ['most', 2, 1.2], (r) => r.ratio('small', ['culvert', 'nginx'], 'p99')),
  target('https small GET: req/s against nginx TLS', ['least', 0.8, 0.93], (r) =>
    r.ratio('tls', ['culvert-tls', 'nginx-tls'], 'rps'),
  ),
  target('one connection: p50 against nginx', ['most', 1.5, 1.25], (r) => r.ratio('one', ['culvert', 'nginx'], 'p50')),
  target('64 KB GET: req/s against nginx', ['least', 0.38, 0.48], (r) => r.ratio('64k', ['culvert', 'nginx'], 'rps')),
  target('64 KB GET: req/s against ssh -R', ['least', 6, 9], (r) => r.ratio('64k', ['culvert', 'ssh'], 'rps')),
  target('bulk: GB/s against ssh -R', ['least', 1, 1.1], (r) => r.ratio('bulk', ['culvert', 'ssh'], 'gbps')),
  target('bulk: GB/s against nginx', ['least', 0.45, 0.55], (r) => r.ratio('bulk', ['culvert', 'nginx'], 'gbps')),
  {
    ...target('bulk: server + agent processor time', ['most', 1.15, 1.15], (r) =>
      r.cpuPerUnit('bulk', 'culvert', CULVERT),
    ),
    unit: 's/GB',
  },
  target('connection per request, http: against nginx', ['least', 0.75, 0.85], (r) =>
    r.ratio('close', ['culvert', 'nginx'], 'rps'),
  ),
  target('connection per request, https: against nginx TLS', ['least', 0.5, 0.6], (r) =>
    r.ratio('close-tls', ['culvert-tls', 'nginx-tls'], 'rps'),
  ),
  target('p99 of small requests beside a download, times alone', ['most', 5, 5], (r) =>
    r.median('fair', 'culvert', 'times'),
  ),
  ...(['small', '64k', 'bulk'] as const).flatMap(againstOther),
  target("storms: visitors' p99 against quiet, the worst of them", ['most', 1.25, 1.25], (r) =>
    r.single('storms', 'p99Times'),
  ),
  {
    ...target('storms: those with a worst request beyond max(30 ms, 2 x quiet)', ['most', 0, 0], (r) =>
      r.single('storms', 'slow'),
    ),
    unit: '',
    digits: 0,
  },
  { ...target('storms: requests lost', ['most', 0, 0], (r) => r.single('storms', 'lost')), unit: '', digits: 0 },
  { ...target('restart: requests failed', ['most', 0, 0], (r) => r.single('restart', 'failed')), unit: '', digits: 0 },
  {
    ...target('restart: the last agent is back after the new process runs', ['most', 300, 300], (r) =>
      r.single('restart', 'backMs'),
    ),
    unit: 'ms',
    digits: 0,
  },
  {
    ...target('a data thread: memory of the process more', ['most', 40, 40], (r) =>
      r.single('threads-memory', 'moreMb'),
    ),
    unit: 'MB',
    digits: 1,
  },
  target('log-ins: rate against argon2id alone', ['least', 0.8, 0.9], (r) => r.single('log-ins', 'share')),
  {
    ...target('dashboard: a stranger can type', ['most', 1_000, 800], (r) => r.single('dashboard', 'stranger')),
    unit: 'ms',
    digits: 0,
  },
  {
    ...target('dashboard: the overview with its answers', ['most', 1_000, 800], (r) => r.single('dashboard', 'member')),
    unit: 'ms',
    digits: 0,
  },
  {
    ...target('frames of the live list at 200 requests/s', ['least', 58, 59], (r) => r.single('dashboard-live', 'fps')),
    unit: 'a second',
    digits: 1,
  },
  {
    ...target('growth of its heap once it is full', ['most', 2, 1], (r) => r.single('dashboard-live', 'heapGrowthMb')),
    unit: 'MB',
    digits: 1,
  },
  target('small GET in a storm of log-ins, against without', ['least', 0.9, 0.97], (r) => r.single('log-ins', 'kept')),
  target('policy and cached password: processor time against none', ['most', 1.3, 1.15], (r) =>
    r.single('policy', 'gate'),
  ),
  target('policy with JWT: processor time against none', ['most', 1.3, 1.2], (r) => r.single('policy', 'jwt')),
  target('small GET while requests are recorded, against without, one tunnel', ['least', 0.9, 0.95], (r) =>
    r.single('inspector', 'one'),
  ),
  target('the same, 20 tunnels', ['least', 0.9, 0.95], (r) => r.single('inspector', 'many')),
  target('small GET in a storm of wrong passwords elsewhere, against without', ['least', 0.9, 0.95], (r) =>
    r.single('gate-storm', 'kept'),
  ),
  { ...target('first byte of an event, p99', ['most', 5, 5], eventDelay), unit: 'ms' },
  {
    ...target('memory per idle visitor', ['most', 8, 5], (r) => r.single('memory', 'visitorKb')),
    unit: 'KB',
    digits: 1,
  },
  { ...target('memory per agent', ['most', 60, 42], (r) => r.single('memory', 'agentKb')), unit: 'KB', digits: 1 },
  { ...wanted('start with 10,000 tunnels until /ready', 2_000, 'startMs'), digits: 0 },
  wanted('GET /tunnels of 1,000, median', 20, 'tunnels1000'),
  wanted('GET /tunnels of 500, median', 20, 'tunnels500'),
  wanted('GET /tokens of 1,000, median', 20, 'tokens1000'),
  wanted('a change of a route until the edge shows it, p99', 50, 'changeP99'),
  ofRecords('list of the newest of a million recorded requests, p99', 'newest'),
  ofRecords('list of a tunnel of them, p99', 'tunnel'),
  ofRecords('list of a tunnel of them by path and status, p99', 'rare'),
  ofRecords('one of them, p99', 'detail'),
  ofRecords('longest slice of their sweep', 'sweepHold'),
  {
    ...target('idle processor time, all visitors', ['most', 0.5, 0.05], (r) => r.single('memory', 'idlePercent')),
    unit: '%',
  },
];

function target(
  what: string,
  [sense, must, goal]: readonly [Target['sense'], number, number],
  value: Target['value'],
): Target {
  return { what, sense, must, goal, digits: 2, unit: 'x', value };
}

/** At most 3 % slower than another build, and at most 3 % more processor time. */
function againstOther(scenario: 'small' | '64k' | 'bulk'): Target[] {
  const pair = ['culvert', 'culvert-other'] as const;
  const key = scenario === 'bulk' ? 'gbps' : 'rps';
  return [
    {
      ...target(`${scenario}: rate against the other build`, ['least', 0.97, 1], (r) => r.ratio(scenario, pair, key)),
      digits: 3,
    },
    {
      ...target(`${scenario}: processor time against it`, ['most', 1.03, 1], (r) => r.cpuRatio(scenario, pair)),
      digits: 3,
    },
  ];
}

/** A goal of the `big-database` scenario: at most so many milliseconds. */
function wanted(what: string, most: number, key: string): Target {
  return { ...target(what, ['most', most, most], (r) => r.single('big-database', key)), unit: 'ms', digits: 1 };
}

function ofRecords(what: string, key: string): Target {
  return { ...target(what, ['most', 50, 50], (r) => r.single('records', key)), unit: 'ms', digits: 1 };
}

function smallCpu(results: Results): number | undefined {
  const seconds = results.cpuPerUnit('small', 'culvert', CULVERT);
  return seconds === undefined ? undefined : seconds * 1e6;
}

function eventDelay(results: Results): number | undefined {
  const us = results.median('events', 'culvert', 'p99_us');
  return us === undefined ? undefined : us / 1e3;
}

/** The table of goals, with a mark for each: goal met, only the must, or missed. */
export function targetTable(results: Results): string {
  const missing = TARGETS.filter((each) => each.value(results) === undefined).map((each) => each.what);
  const rows = TARGETS.flatMap((each) => {
    const value = each.value(results);
    if (value === undefined) return [];
    const sign = each.sense === 'least' ? '>=' : '<=';
    const cells = [
      each.what,
      `${number(value, each.digits)} ${each.unit}`,
      `${sign} ${number(each.must, each.digits)}`,
      `${sign} ${number(each.goal, each.digits)}`,
      mark(each, value),
    ];
    return [cells];
  });
  const table = rows.length === 0 ? [] : align([['', 'measured', 'must', 'goal', ''], ...rows]);
  const rest = missing.length === 0 ? [] : [`not measured: ${missing.join('; ')}`];
  return ['goals', ...[...table, ...rest].map((line) => `  ${line}`)].join('\n');
}

function mark(each: Target, value: number): string {
  const meets = (bound: number): boolean => (each.sense === 'least' ? value >= bound : value <= bound);
  if (meets(each.goal)) return 'pass';
  return meets(each.must) ? 'pass (must), MISS (goal)' : 'MISS';
}
