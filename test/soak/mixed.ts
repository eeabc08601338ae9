/**
 * The mixed soak: thousands of requests of all kinds at once through a real server and real agents. No byte may be lost or changed, every
 * request that is broken off must be seen as broken off, and at the end nothing may be left over. `npm run soak`, and in short a test.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Program } from '../../scripts/quickstart/program.ts';
import { type Ends, Ending } from '../harness/ends.ts';
import { startOrigin } from '../harness/origin.ts';
import { type SpawnedCulvert, spawnCulvert } from '../harness/spawned.ts';
import { get } from '../harness/visitor.ts';
import { SoakOrigin } from './origin.ts';
import { Bodies, makePlans, type Plan, randomFrom } from './plan.ts';
import { type ProcessView, viewOf } from './process-view.ts';
import { judge } from './verdict.ts';
import { type Outcome, VisitorConnection } from './visitor.ts';

export interface SoakOptions {
  readonly requests: number;
  readonly seed: number;
  /** Visitor connections at once. */
  readonly visitors: number;
}

export interface SoakReport {
  readonly tally: ReadonlyMap<string, number>;
  /** What went wrong; empty when all is well. */
  readonly faults: readonly string[];
  readonly bytes: number;
  readonly seconds: number;
  readonly kills: number;
  readonly before: Views;
  readonly after: Views;
}

interface Views {
  readonly server: ProcessView;
  readonly agent: ProcessView;
}

const STEADY = 'steady';
const SHAKY = 'shaky';
/** Requests that settle pools and code before memory is looked at the first time. */
const WARM_UP = 300;
/** The shaky agent is killed about this often. */
const KILL_EVERY_MS = 2_500;
/** A server keeps this many idle streams per tunnel, each with a local connection. */
const IDLE_STREAMS = 256;
/** A peer that was stopped with nothing in flight is gone long before this; streams that leaked would hold it for 30 s. */
const STOP_MS = 5_000;
/** Memory that may be added between warm-up and end, per process: garbage that was not collected yet. */
const GROWTH_MB = 160;

export async function runSoak(t: Ends, options: SoakOptions): Promise<SoakReport> {
  const random = randomFrom(options.seed);
  const bodies = new Bodies(random);
  const plans = makePlans(options.requests, random);
  const warmUp = makePlans(WARM_UP, random).map((plan) => ({ ...plan, id: plan.id + plans.length, shaky: false }));
  const origin = new SoakOrigin([...plans, ...warmUp], bodies);
  const { port, server: local } = await startOrigin(t, origin.handle);
  local.keepAliveTimeout = 70_000;
  const culvert = await spawnCulvert(t);
  const steady = culvert.agent(['http', String(port), '--subdomain', STEADY, '--json']);
  const startShaky = (): Program => culvert.agent(['http', String(port), '--subdomain', SHAKY, '--json']);
  let shaky = startShaky();
  await Promise.all([steady, shaky].map((agent) => agent.printed(/"tunnel_online"/)));

  const traffic = new Traffic({ culvert, bodies, random, visitors: options.visitors });
  await traffic.run(warmUp);
  const views = (): Views => ({ server: viewOf(culvert.server.pid), agent: viewOf(steady.pid) });
  const before = views();
  const started = performance.now();
  let kills = 0;
  const over = new AbortController();
  const killing = (async () => {
    while (!over.signal.aborted) {
      await pause(KILL_EVERY_MS * (0.5 + Math.random()));
      shaky.kill();
      await shaky.ended();
      kills++;
      shaky = startShaky();
      await shaky.printed(/"tunnel_online"/);
    }
  })();
  await traffic.run(plans);
  over.abort();
  const seconds = (performance.now() - started) / 1000;
  await killing;
  const faults = [...(await leftOver({ origin, culvert, before, views }))];
  // A fault of the program's own is caught per connection: it shows here and nowhere else.
  for (const line of culvert.server.output.split('\n'))
    if (line.includes('"level":"error"')) faults.push(`the server says ${line}`);
  const after = views();
  faults.push(...(await stopAll({ culvert, agents: [steady, shaky] })));

  const tally = new Map<string, number>();
  let bytes = 0;
  for (const plan of plans) {
    const outcome = traffic.outcomes.get(plan.id);
    const verdict =
      outcome === undefined ? { bad: 'no outcome' } : judge(plan, outcome, { seen: origin.seen.get(plan.id), bodies });
    if ('bad' in verdict) {
      faults.push(`request ${plan.id}, ${traffic.ways.get(plan.id)}: ${verdict.bad} ${JSON.stringify(plan)}`);
    } else tally.set(verdict.good, (tally.get(verdict.good) ?? 0) + 1);
    if ('good' in verdict && verdict.good === 'whole') bytes += plan.up + plan.down;
  }
  return { tally, faults, bytes, seconds, kills, before, after };
}

/** Visitors who work through a list of plans, so many at once. */
class Traffic {
  readonly outcomes = new Map<number, Outcome>();
  /** The connection that each was on, and its place there, for people. */
  readonly ways = new Map<number, string>();
  readonly #deps: { culvert: SpawnedCulvert; bodies: Bodies; random: () => number; visitors: number };

  constructor(deps: { culvert: SpawnedCulvert; bodies: Bodies; random: () => number; visitors: number }) {
    this.#deps = deps;
  }

  async run(plans: readonly Plan[]): Promise<void> {
    const line = [...plans].reverse();
    const visitor = async (): Promise<void> => {
      while (line.length > 0) await this.#connection(this.#batch(line));
    };
    await Promise.all(Array.from({ length: this.#deps.visitors }, visitor));
  }

  /** One to eight requests for one connection; one that is to be broken off ends it, and each tunnel has its own. */
  #batch(line: Plan[]): Plan[] {
    const size = 1 + Math.floor(this.#deps.random() * 8);
    const batch: Plan[] = [];
    while (batch.length < size) {
      const next = line.at(-1);
      if (next === undefined || (batch[0] !== undefined && batch[0].shaky !== next.shaky)) break;
      batch.push(next);
      line.pop();
      // Behind a response that ends with the connection nothing is answered.
      if (next.abort !== 'none' || next.shaky || next.downFraming === 'close') break;
    }
    return batch;
  }

  async #connection(batch: readonly Plan[]): Promise<void> {
    const { culvert, bodies, random } = this.#deps;
    const tls = random() < 0.4;
    const way = {
      tls,
      port: tls ? culvert.ports.https : culvert.ports.http,
      host: `${batch[0]?.shaky === true ? SHAKY : STEADY}.localhost`,
      pipelined: random() < 0.35,
    };
    const outcomes = await new VisitorConnection(way, batch, bodies).run();
    for (const [index, outcome] of outcomes.entries()) {
      const { id } = batch[index] as Plan;
      this.outcomes.set(id, outcome);
      this.ways.set(
        id,
        `${tls ? 'TLS' : 'plain'}${way.pipelined ? ', pipelined' : ''}, ${index + 1} of ${batch.length}`,
      );
    }
    // An answer may say that it is the last on its connection; what was not begun then goes on a new one.
    const rest = batch.slice(outcomes.length);
    if (rest.length > 0) await this.#connection(rest);
  }
}

interface Remains {
  readonly origin: SoakOrigin;
  readonly culvert: SpawnedCulvert;
  readonly before: Views;
  readonly views: () => Views;
}

/** What is still there a moment after the last visitor has gone. */
async function leftOver({ origin, culvert, before, views }: Remains): Promise<string[]> {
  // Two looks of the sweepers, then everything that is still there has leaked.
  await settles(() => origin.active === 0 && views().server.files <= before.server.files + 4, 10_000);
  const faults: string[] = [];
  const after = views();
  if (origin.active > 0) faults.push(`${origin.active} requests are still open at the service`);
  if (after.server.files > before.server.files + 4) {
    faults.push(`the server has ${after.server.files} open files, ${before.server.files} before`);
  }
  if (after.agent.files > before.agent.files + IDLE_STREAMS) {
    faults.push(`the agent has ${after.agent.files} open files, ${before.agent.files} before`);
  }
  for (const who of ['server', 'agent'] as const) {
    const growth = after[who].rssMb - before[who].rssMb;
    if (growth > GROWTH_MB) faults.push(`the ${who} grew by ${growth} MB`);
  }
  const { status } = await get(`http://${STEADY}.localhost`, culvert.ports.http);
  if (status !== 200) faults.push(`the tunnel answers ${status} after all`);
  return faults;
}

/** With no visitor left, agents and server end at once when asked to: what holds them is a stream that leaked. */
async function stopAll(of: { culvert: SpawnedCulvert; agents: readonly Program[] }): Promise<string[]> {
  const faults: string[] = [];
  const stop = async (who: string, program: Program): Promise<void> => {
    const started = performance.now();
    const code = await program.stop();
    const ms = performance.now() - started;
    if (code !== 0) faults.push(`the ${who} ended with code ${code}: ${program.output}`);
    if (ms > STOP_MS) faults.push(`the ${who} needed ${Math.round(ms)} ms to end: it still had something in flight`);
  };
  await Promise.all(of.agents.map((agent) => stop('agent', agent)));
  await stop('server', of.culvert.server);
  return faults;
}

async function settles(holds: () => boolean, limitMs: number): Promise<void> {
  const until = performance.now() + limitMs;
  while (!holds() && performance.now() < until) await pause(100);
}

/** `npm run soak`. Resolves with whether all is well. */
export async function soak(argv: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      requests: { type: 'string', default: '10000' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      visitors: { type: 'string', default: '48' },
    },
  });
  const options = {
    requests: Number(values.requests),
    seed: Number(values.seed),
    visitors: Number(values.visitors),
  };
  console.log(`soak: ${options.requests} requests, ${options.visitors} visitors at once, seed ${options.seed}`);
  const ending = new Ending();
  try {
    const report = await runSoak(ending, options);
    for (const line of describe(report)) console.log(line);
    return report.faults.length === 0;
  } finally {
    await ending.run();
  }
}

/** A report in lines for people; the faults last, and not more of them than one can read. */
export function describe(report: SoakReport): string[] {
  const { tally, faults, bytes, seconds, kills, before, after } = report;
  const counts = [...tally]
    .toSorted(([, a], [, b]) => b - a)
    .map(([what, count]) => `  ${String(count).padStart(6)} ${what}`);
  const view = (who: 'server' | 'agent'): string =>
    `  ${who}: ${before[who].rssMb} → ${after[who].rssMb} MB, ${before[who].files} → ${after[who].files} open files`;
  return [
    ...counts,
    `  ${(bytes / 1e9).toFixed(2)} GB of whole bodies in ${seconds.toFixed(1)} s; the shaky agent was killed ${kills} times`,
    view('server'),
    view('agent'),
    faults.length === 0 ? 'soak: all well' : `soak: ${faults.length} FAULTS`,
    ...faults.slice(0, 20).map((fault) => `  ${fault}`),
  ];
}
