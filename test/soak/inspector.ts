/**
 * The inspector under full load: for minutes more requests than may be recorded, through a real server and a real agent. Every one of them must be
 * counted, as recorded or by the reason why not, and memory must stay flat. `npm run soak -- inspector`, and in short a test.
 */
import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Account } from '../harness/account.ts';
import { type Ends, Ending } from '../harness/ends.ts';
import { startOrigin } from '../harness/origin.ts';
import { type SpawnedCulvert, spawnCulvert } from '../harness/spawned.ts';
import { viewOf } from './process-view.ts';

export interface InspectorSoak {
  readonly seconds: number;
  /** Requests at once. */
  readonly visitors: number;
  readonly tunnels: number;
  /** `inspector.max_per_second_per_tunnel`; the usual one without it. */
  readonly perSecond?: number;
}

interface Sample {
  readonly rssMb: number;
  readonly heapMb: number;
  /** What records take until they are stored. */
  readonly heldMb: number;
  readonly waiting: number;
}

export interface InspectorReport {
  readonly answered: number;
  readonly recorded: number;
  readonly dropped: Readonly<Record<string, number>>;
  readonly samples: readonly Sample[];
  /** From the middle of the early samples to that of the late ones, once what is compiled and cached is there. */
  readonly growth: { readonly rssMb: number; readonly heapMb: number };
  readonly faults: readonly string[];
}

interface Counts {
  readonly recorded: number;
  readonly dropped: Record<string, number>;
  readonly waiting: number;
  readonly held_bytes: number;
}

/** One request in so many has bodies beyond what is kept of them. */
const LARGE_EVERY = 20;
const LARGE_BYTES = 100_000;
const SMALL_BYTES = 300;
const SAMPLES = 120;
/** Of the samples: those before are warm-up. */
const WARM_UP = 0.4;
/** `inspector.max_memory_mb`. */
const MAX_HELD_MB = 64;
/** What may be added, in megabytes: garbage that was not collected yet comes and goes by as much. */
const MAX_GROWTH = { rssMb: 64, heapMb: 32 };
/** The log-in is good for 15 minutes. */
const LOG_IN_AGAIN_MS = 600_000;

export async function runInspectorSoak(t: Ends, options: InspectorSoak): Promise<InspectorReport> {
  const { port } = await startOrigin(t, (incoming, response) => {
    incoming.resume().on('end', () => {
      const body = Buffer.alloc(Number(incoming.headers['x-answer']), 'x');
      response.setHeader('Content-Length', body.length).end(body);
    });
  });
  const { perSecond } = options;
  const toml = perSecond === undefined ? '' : `[inspector]\nmax_per_second_per_tunnel = ${perSecond}\n`;
  const culvert = await spawnCulvert(t, { toml });
  const names = Array.from({ length: options.tunnels }, (_, at) => `inspected-${at}`);
  const agents = names.map((name) => culvert.agent(['http', String(port), '--subdomain', name, '--json']));
  await Promise.all(agents.map((agent) => agent.printed(/"tunnel_online"/)));

  const watch = new Watch(culvert);
  const load = new Load(culvert.ports.http, names);
  t.after(() => load.close());
  const visitors = Array.from({ length: options.visitors }, () => load.visit());
  const samples: Sample[] = [];
  const endMs = performance.now() + options.seconds * 1_000;
  while (performance.now() < endMs) {
    await pause((options.seconds * 1_000) / SAMPLES);
    samples.push(await watch.sample());
  }
  load.stop();
  const faults = (await Promise.all(visitors)).flatMap((fault) => fault ?? []);
  const counts = await watch.settled();
  const growth = growthOf(samples);
  faults.push(...judged({ answered: load.answered, counts, growth, samples }));
  for (const line of culvert.server.output.split('\n'))
    if (line.includes('"level":"error"')) faults.push(`the server says ${line}`);
  const { recorded, dropped } = counts;
  return { answered: load.answered, recorded, dropped, samples, growth, faults };
}

/** Visitors who ask as fast as they are answered. */
class Load {
  answered = 0;
  readonly #port: number;
  readonly #names: readonly string[];
  readonly #agent = new Agent({ keepAlive: true });
  #sent = 0;
  #isOver = false;

  constructor(port: number, names: readonly string[]) {
    this.#port = port;
    this.#names = names;
  }

  stop(): void {
    this.#isOver = true;
  }

  close(): void {
    this.stop();
    this.#agent.destroy();
  }

  /** Resolves with what went wrong, if anything. */
  async visit(): Promise<string | undefined> {
    try {
      while (!this.#isOver) await this.#ask(++this.#sent);
      return undefined;
    } catch (error) {
      return `a visitor: ${String(error)}`;
    }
  }

  #ask(at: number): Promise<void> {
    const bytes = at % LARGE_EVERY === 0 ? LARGE_BYTES : SMALL_BYTES;
    const name = this.#names[at % this.#names.length] as string;
    return new Promise((resolve, reject) => {
      const outgoing = request({
        ...{ host: '127.0.0.1', port: this.#port, agent: this.#agent, method: 'POST', path: `/soak/${at}` },
        headers: { host: `${name}.localhost`, 'content-length': bytes, 'x-answer': bytes },
      });
      outgoing.on('error', reject);
      outgoing.on('response', (response) => {
        response.on('error', reject);
        response.resume().on('end', () => {
          this.answered++;
          if (response.statusCode === 200) resolve();
          else reject(new Error(`answered ${response.statusCode}`));
        });
      });
      outgoing.end(Buffer.alloc(bytes, 'y'));
    });
  }
}

/** What the server says of itself. */
class Watch {
  readonly #culvert: SpawnedCulvert;
  #account: Account;
  #loggedInMs = performance.now();

  constructor(culvert: SpawnedCulvert) {
    this.#culvert = culvert;
    this.#account = culvert.account;
  }

  async sample(): Promise<Sample> {
    const { waiting, held_bytes: held } = await this.#counts();
    const metrics = await fetch(`${this.#culvert.apiUrl}/superadmin/metrics`, {
      headers: { authorization: `Bearer ${this.#account.bearer}` },
    });
    const heaps = (await metrics.text()).matchAll(/^culvert_process_heap_used_bytes\{.*\} (\S+)$/gm);
    const heap = [...heaps].reduce((sum, [, bytes]) => sum + Number(bytes), 0);
    const { rssMb } = viewOf(this.#culvert.server.pid);
    return { rssMb, heapMb: heap / 2 ** 20, heldMb: held / 2 ** 20, waiting };
  }

  /** Once nothing is on its way any more. */
  async settled(): Promise<Counts> {
    for (let tries = 0; ; tries++) {
      const counts = await this.#counts();
      if ((counts.waiting === 0 && counts.held_bytes === 0) || tries === 100) return counts;
      await pause(100);
    }
  }

  async #counts(): Promise<Counts> {
    if (performance.now() - this.#loggedInMs > LOG_IN_AGAIN_MS) {
      this.#account = await this.#culvert.logIn();
      this.#loggedInMs = performance.now();
    }
    const { status, body } = await this.#account.call('GET', '/superadmin/edge');
    if (status !== 200) throw new Error(`GET /superadmin/edge answered ${status}`);
    return body['inspector'] as Counts;
  }
}

function growthOf(samples: readonly Sample[]): InspectorReport['growth'] {
  const steady = samples.slice(Math.floor(samples.length * WARM_UP));
  const third = Math.ceil(steady.length / 3);
  const growth = (of: (sample: Sample) => number): number =>
    middle(steady.slice(-third).map(of)) - middle(steady.slice(0, third).map(of));
  return { rssMb: growth(({ rssMb }) => rssMb), heapMb: growth(({ heapMb }) => heapMb) };
}

function middle(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function judged(of: {
  answered: number;
  counts: Counts;
  growth: InspectorReport['growth'];
  samples: readonly Sample[];
}): string[] {
  const { answered, counts, growth, samples } = of;
  const faults: string[] = [];
  const counted = counts.recorded + Object.values(counts.dropped).reduce((sum, count) => sum + count, 0);
  if (counted !== answered) faults.push(`${answered} requests were answered and ${counted} of them counted`);
  if (counts.waiting + counts.held_bytes > 0) faults.push(`left over: ${JSON.stringify(counts)}`);
  for (const reason of ['lost', 'failed'])
    if (counts.dropped[reason] !== 0) faults.push(`${reason}: ${counts.dropped[reason]}`);
  const held = Math.max(...samples.map(({ heldMb }) => heldMb));
  if (!(held <= MAX_HELD_MB)) faults.push(`records took ${held} MB`);
  for (const what of ['rssMb', 'heapMb'] as const)
    if (!(growth[what] <= MAX_GROWTH[what])) faults.push(`${what} grew by ${growth[what].toFixed(1)}`);
  return faults;
}

/** A report in lines for people. */
export function describeInspector(report: InspectorReport): string[] {
  const { answered, recorded, dropped, samples, growth, faults } = report;
  const reasons = Object.entries(dropped).filter(([, count]) => count > 0);
  const most = (of: (sample: Sample) => number): string => Math.max(...samples.map(of)).toFixed(1);
  return [
    `  ${answered} requests: ${recorded} recorded, ${reasons.map(([reason, count]) => `${count} not (${reason})`).join(', ')}`,
    `  at most: RSS ${most(({ rssMb }) => rssMb)} MB, heap ${most(({ heapMb }) => heapMb)} MB, records under way ${most(({ heldMb }) => heldMb)} MB`,
    `  growth after the warm-up: RSS ${growth.rssMb.toFixed(1)} MB, heap ${growth.heapMb.toFixed(1)} MB`,
    faults.length === 0 ? 'soak: all well' : `soak: ${faults.length} FAULTS`,
    ...faults.slice(0, 20).map((fault) => `  ${fault}`),
  ];
}

/** `npm run soak -- inspector`. Resolves with whether all is well. */
export async function inspectorSoak(argv: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      minutes: { type: 'string', default: '10' },
      visitors: { type: 'string', default: '48' },
      tunnels: { type: 'string', default: '20' },
    },
  });
  const options = {
    seconds: Number(values.minutes) * 60,
    visitors: Number(values.visitors),
    tunnels: Number(values.tunnels),
  };
  console.log(`soak: the inspector for ${options.seconds} s, ${options.visitors} requests at once`);
  const ending = new Ending();
  try {
    const report = await runInspectorSoak(ending, options);
    for (const line of describeInspector(report)) console.log(line);
    return report.faults.length === 0;
  } finally {
    await ending.run();
  }
}
