/**
 * Small datagrams through edge and agent at fixed rates, by UDP and by the agent's session: how many arrive, what each costs server and agent, and
 * what limits. Load and sink are native/datagrams.c, which costs little; all is on loopback, on a server of its own.
 */
import { readFileSync } from 'node:fs';
import type { Bench } from '../bench.ts';
import { culvertBuild, type CulvertServer, startServer } from '../culvert.ts';
import { makePrivateNetwork, startRelayAgent } from '../private-network.ts';
import { machineTime, treeSeconds } from '../proc.ts';
import { freePort, type Processes } from '../processes.ts';
import { say } from '../report/progress.ts';
import { align, number } from '../report/tables.ts';
import { median } from '../results.ts';

const NAME = 'relay-packets';
const SERVER = 'server-packets';
const AGENT = 'agent-packets';
/** A keepalive of WireGuard has 32 bytes, a short TCP segment in it some 100. */
const SIZE_BYTES = 100;
/** Ports that they come from: clients of the network. */
const FLOWS = 50;
const LOADS = [
  { rate: 20_000, back: false, stream: false },
  { rate: 50_000, back: false, stream: false },
  { rate: 100_000, back: false, stream: false },
  { rate: 150_000, back: false, stream: false },
  { rate: 20_000, back: true, stream: false },
  { rate: 50_000, back: true, stream: false },
  { rate: 20_000, back: false, stream: true },
  { rate: 100_000, back: false, stream: true },
] as const;
type Load = (typeof LOADS)[number];
/** A thread that works so much of the time has no more to give. */
const BUSY = 0.93;
/** Less is the chance of a small buffer on a busy machine. */
const LITTLE = 0.001;
/** Of the machine, for interrupts and what a machine does besides. */
const SOME = 0.15;
const SINK = 'datagram-sink';
/** Datagrams come from elsewhere, and do not wait until this machine has time: the load goes first. */
const BEFORE_OTHERS = process.getuid?.() === 0 ? ['nice', '-n', '-10'] : [];
const WARM_SECONDS = 2;

interface Figures {
  /** Per second of the load. */
  readonly offered: number;
  readonly arrived: number;
  /** Those that came the way back too. */
  readonly echoed: number;
  /** Cores; `load` is of the program that sends and the one that receives. */
  readonly server: number;
  readonly agent: number;
  readonly load: number;
  /** Microseconds of processor per datagram that arrived, those that came back counted too. */
  readonly serverUs: number;
  readonly agentUs: number;
  readonly idle: number;
  /** Share of the machine that others took: a figure to be doubted. */
  readonly others: number;
  /** That the kernel dropped because a socket's buffer was full, per second. */
  readonly overflowed: number;
}

/** Measures; the text is the table for the report. */
export async function measureRelayPackets(bench: Bench): Promise<string> {
  const { processes, options } = bench;
  const server = await startServer(processes, culvertBuild(options), { name: SERVER });
  // A network needs a key, also without WireGuard.
  const publicKey = Buffer.alloc(32, 9).toString('base64');
  const listenPort = await freePort();
  const { publicPort } = await makePrivateNetwork(server, { publicKey, listenPort });
  const found = new Map<Load, Figures[]>();
  for (let round = 1; round <= options.rounds; round++) {
    for (const load of LOADS) {
      const figures = await measureLoad(bench, server, { load, listenPort, publicPort });
      found.set(load, [...(found.get(load) ?? []), figures]);
      say(`${NAME} ${round}/${options.rounds} ${titleOf(load)}: ${row([figures]).join('  ')}`);
    }
  }
  await processes.stopAll();
  const head = [
    '',
    'arrived/s',
    'lost',
    'echoed/s',
    'server us',
    'agent us',
    'server cores',
    'agent cores',
    'load',
    'idle',
    'others',
  ];
  const rows = [...found].map(([load, figures]) => [titleOf(load), ...row(figures), limitOf(figures)]);
  return [
    `${NAME}: datagrams of ${SIZE_BYTES} bytes from ${FLOWS} clients; ${options.rounds} rounds of ${options.seconds} s, medians`,
    ...align([[...head, 'what limits'], ...rows]).map((line) => `  ${line}`),
  ].join('\n');
}

interface Place {
  readonly load: Load;
  readonly listenPort: number;
  readonly publicPort: number;
}

async function measureLoad(bench: Bench, server: CulvertServer, place: Place): Promise<Figures> {
  const { processes, options } = bench;
  const { load, listenPort } = place;
  await startSink(bench, place);
  await startRelayAgent(processes, server, { name: AGENT, localPort: listenPort, stream: load.stream });
  try {
    await send(bench, place, { rate: load.rate / 4, seconds: WARM_SECONDS });
    // One that has counted nothing.
    await processes.stop(SINK);
    await startSink(bench, place);
    const before = look(processes);
    const { sent, echoed, own } = await send(bench, place, { rate: load.rate, seconds: options.seconds });
    const after = look(processes);
    await processes.stop(SINK);
    const arrived = Number(/received (\d+)/.exec(processes.readLog(SINK))?.[1]);
    const seconds = (after.at - before.at) / 1_000;
    const total = after.machine.total - before.machine.total;
    const ours = after.server - before.server + after.agent - before.agent + after.sink - before.sink + own;
    return {
      offered: sent / options.seconds,
      arrived: arrived / options.seconds,
      echoed: echoed / options.seconds,
      server: (after.server - before.server) / seconds,
      agent: (after.agent - before.agent) / seconds,
      load: (own + after.sink - before.sink) / seconds,
      serverUs: ((after.server - before.server) / (arrived + echoed)) * 1e6,
      agentUs: ((after.agent - before.agent) / (arrived + echoed)) * 1e6,
      idle: (after.machine.idle - before.machine.idle) / total,
      others: Math.max(0, 1 - (after.machine.idle - before.machine.idle + ours) / total),
      overflowed: (after.full - before.full) / options.seconds,
    };
  } finally {
    await processes.stop(SINK);
    await processes.stop(AGENT);
  }
}

async function startSink({ processes, tools }: Bench, { load, listenPort }: Place): Promise<void> {
  processes.start(SINK, [tools.program('datagrams'), load.back ? 'echo' : 'sink', String(listenPort)]);
  await processes.waitForOutput(SINK, /ready/);
}

async function send(
  { processes, tools }: Bench,
  { publicPort }: Place,
  { rate, seconds }: { readonly rate: number; readonly seconds: number },
): Promise<{ readonly sent: number; readonly echoed: number; readonly own: number }> {
  const words = ['127.0.0.1', publicPort, rate, SIZE_BYTES, FLOWS, seconds].map(String);
  const { stdout, stderr } = await processes.run([...BEFORE_OTHERS, tools.program('datagrams'), 'send', ...words]);
  const [, sent, echoed, own] = /sent (\d+) .*echoed (\d+) cpu ([\d.]+)/.exec(stdout) ?? [];
  if (sent === undefined) throw new Error(`the load: ${stderr.trim() || stdout}`);
  return { sent: Number(sent), echoed: Number(echoed), own: Number(own) };
}

function look(processes: Processes) {
  const cpu = (name: string): number => treeSeconds(processes.pid(name));
  const at = performance.now();
  return { machine: machineTime(), server: cpu(SERVER), agent: cpu(AGENT), sink: cpu(SINK), full: overflows(), at };
}

/** Datagrams that the kernel dropped on this machine since it started, because the buffer of their socket was full. */
function overflows(): number {
  const [head = '', values = ''] = readFileSync('/proc/net/snmp', 'utf8').match(/^Udp: .*$/gm) ?? [];
  return Number(values.split(' ')[head.split(' ').indexOf('RcvbufErrors')]);
}

function titleOf({ rate, back, stream }: Load): string {
  return `${number(rate, 0)}/s${back ? ' and back' : ''}, by ${stream ? 'the session' : 'UDP'}`;
}

function row(figures: readonly Figures[]): string[] {
  const of = (value: (one: Figures) => number): number => median(figures.map(value)) ?? Number.NaN;
  return [
    number(
      of(({ arrived }) => arrived),
      0,
    ),
    `${number(of(lost) * 100, 2)} %`,
    number(
      of(({ echoed }) => echoed),
      0,
    ),
    number(
      of(({ serverUs }) => serverUs),
      2,
    ),
    number(
      of(({ agentUs }) => agentUs),
      2,
    ),
    number(
      of(({ server }) => server),
      2,
    ),
    number(
      of(({ agent }) => agent),
      2,
    ),
    number(
      of(({ load }) => load),
      2,
    ),
    `${number(of(({ idle }) => idle) * 100, 0)} %`,
    `${number(of(({ others }) => others) * 100, 0)} %`,
  ];
}

/** Of those that were sent; where they are sent back, of both ways together. */
function lost({ offered, arrived, echoed }: Figures): number {
  return 1 - (echoed === 0 ? arrived : echoed) / offered;
}

/** In words, what a higher rate would meet, or what this one has met. */
function limitOf(figures: readonly Figures[]): string {
  const of = (value: (one: Figures) => number): number => median(figures.map(value)) ?? Number.NaN;
  const overflowed = of((one) => one.overflowed);
  const drops = overflowed < 1 ? '' : `; ${number(overflowed, 0)}/s found a socket's buffer full`;
  const busy = [
    ...(of(({ server }) => server) > BUSY ? ["the server's thread"] : []),
    ...(of(({ agent }) => agent) > BUSY ? ["the agent's thread"] : []),
    ...(of(({ idle }) => idle) < 1 - BUSY
      ? [of(({ others }) => others) < SOME ? 'all processors' : 'others on this machine']
      : []),
  ];
  if (busy.length > 0) return `${busy.join(' and ')}${drops}`;
  return of(lost) > LITTLE ? `bursts, not the processors${drops}` : `nothing yet${drops}`;
}
