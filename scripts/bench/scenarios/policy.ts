/**
 * What a traffic policy costs: processor time per request, server and agent together, of a tunnel with four actions and a Basic gate, and of
 * one with a JWT check among its four actions, against one without any. On a server of its own, turn by turn in each round.
 *
 * The gate and the JWT check are two tunnels: both read the field Authorization, and a request has one.
 */
import { ownerOf, tunnelId } from '../api.ts';
import type { Bench } from '../bench.ts';
import { culvertBuild, startAgent, startServer } from '../culvert.ts';
import { startOrigin } from '../peers.ts';
import { align, number } from '../report/tables.ts';
import { say } from '../report/progress.ts';
import { median } from '../results.ts';
import type { Sample, Subject } from '../subject.ts';

const NAME = 'policy';
const CONNECTIONS = 64;
const USER = 'preview';
const PASSWORD = 'correct horse battery staple';
/** As many as a policy may let pass in a minute. */
const MAX_RATE = 1_000_000;

const KINDS = ['none', 'gate', 'jwt'] as const;
type Kind = (typeof KINDS)[number];
const TITLES: Readonly<Record<Kind, string>> = {
  none: 'no policy',
  gate: 'four actions and a Basic gate',
  jwt: 'four actions, a JWT check among them',
};

/**
 * All of it passes: a refused request would be a cheap one. Each round has a limit of its own, which begins a new window: the requests of several
 * rounds could be more than one lets pass.
 */
function actionsOf(kind: Exclude<Kind, 'none'>, round: number): object[] {
  return [
    kind === 'jwt' ? { kind: 'jwt_validation' } : { kind: 'deny', path_prefix: '/admin' },
    { kind: 'ip_allow', networks: ['10.0.0.0/8', '192.168.0.0/16', '127.0.0.0/8'] },
    { kind: 'rate_limit', requests_per_minute: MAX_RATE - round, per_client_ip: true },
    { kind: 'header_set', name: 'X-Tenant', value: 'blue' },
  ];
}

interface Way {
  readonly kind: Kind;
  readonly subject: Subject;
  readonly host: string;
  readonly headers: readonly string[];
  /** Puts the policy of a round. */
  begin(round: number): Promise<unknown>;
}

/** Measures and keeps the ratios under `policy`; the text is the table for the report. */
export async function measurePolicy(bench: Bench): Promise<string> {
  const { load, options, results, processes } = bench;
  const ways = await startWays(bench);
  const measure = (way: Way, seconds: number): Promise<Sample> =>
    load.requests(way.subject, {
      path: '/small',
      connections: CONNECTIONS,
      seconds,
      host: way.host,
      headers: way.headers,
    });
  for (const way of ways) await measure(way, 2); // warm-up; the password is known from then on
  const rounds: ReadonlyMap<Kind, Sample>[] = [];
  for (let round = 0; round < options.rounds; round++) {
    for (const way of ways) await way.begin(round + 1);
    const samples = new Map<Kind, Sample>();
    for (let turn = 0; turn < ways.length; turn++) {
      const way = ways[(turn + round) % ways.length] as Way;
      const sample = await measure(way, options.seconds);
      if (sample.trouble !== undefined) throw new Error(`${TITLES[way.kind]}: ${sample.trouble}`);
      samples.set(way.kind, sample);
      say(`policy ${round + 1}/${options.rounds} ${way.kind}: ${number(costOf(sample), 1)} us/request`);
    }
    rounds.push(samples);
  }
  await processes.stopAll();
  const of = (kind: Kind, value: (sample: Sample) => number): number[] =>
    rounds.map((samples) => value(samples.get(kind) as Sample));
  const ratio = (kind: Kind): number | undefined => {
    const none = of('none', costOf);
    return median(of(kind, costOf).map((cost, round) => cost / (none[round] as number)));
  };
  for (const kind of KINDS) if (kind !== 'none') results.addSingle(NAME, kind, ratio(kind) ?? Number.NaN);
  const rows = KINDS.map((kind) => [
    TITLES[kind],
    number(median(of(kind, (sample) => sample.values['rps'] ?? Number.NaN)), 0),
    number(median(of(kind, serverCost)), 1),
    number(median(of(kind, costOf)), 1),
    number(ratio(kind), 2),
  ]);
  const head = ['', 'req/s', 'server us/request', 'with agent', 'x none'];
  return [
    `${NAME}: small GET, ${CONNECTIONS} kept connections, processor time`,
    ...align([head, ...rows]).map((line) => `  ${line}`),
  ].join('\n');
}

async function startWays(bench: Bench): Promise<readonly Way[]> {
  const { processes, tools, options } = bench;
  const origin = await startOrigin(processes, tools, { name: 'origin', address: '127.0.0.1' });
  const server = await startServer(processes, culvertBuild(options), { name: 'server-policy' });
  const owner = await ownerOf(server);
  const ways: Way[] = [];
  for (const kind of KINDS) {
    const subdomain = `policy-${kind}`;
    const name = `agent-${kind}`;
    const subject = await startAgent(processes, server, { originPort: origin.port, name, subdomain });
    const id = await tunnelId(owner, subdomain);
    let headers: string[] = [];
    if (kind === 'gate') {
      await owner.call('PUT', `/tunnels/${id}/auth`, { username: USER, password: PASSWORD });
      headers = [`Authorization: Basic ${Buffer.from(`${USER}:${PASSWORD}`).toString('base64')}`];
    } else if (kind === 'jwt') {
      headers = [`Authorization: Bearer ${owner.bearer}`];
    }
    const begin = async (round: number): Promise<unknown> =>
      kind === 'none' ? undefined : owner.call('PUT', `/tunnels/${id}/policy`, { actions: actionsOf(kind, round) });
    await begin(0);
    ways.push({ kind, subject, host: `${subdomain}.localhost`, headers, begin });
  }
  return ways;
}

/** Microseconds of server and agent per request. */
function costOf({ cpuSeconds, units }: Sample): number {
  const between = Object.entries(cpuSeconds).filter(([name]) => name !== 'client' && name !== 'origin');
  return (between.reduce((sum, [, seconds]) => sum + seconds, 0) / units) * 1e6;
}

function serverCost({ cpuSeconds, units }: Sample): number {
  return ((cpuSeconds['server-policy'] ?? Number.NaN) / units) * 1e6;
}
