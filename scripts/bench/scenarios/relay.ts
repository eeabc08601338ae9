/**
 * WireGuard through the relay beside the same two peers connected directly: throughput of one TCP connection (iperf3) and round trip (ping), over
 * a link of 50 ms with and without loss between the network's server and all other machines, and without a link. Real wireguard-go, in
 * network namespaces. Needs root.
 *
 *   client ── hub, with the Culvert server ──link── home: wireguard-go and the agent
 */
import { HOME_OUTSIDE, must, Places, SERVER_ADDRESS } from '../../wireguard/places.ts';
import { makeKeys, Peer, withPrivateKey } from '../../wireguard/peer.ts';
import { type Echoes, measureEchoes, untilEchoes } from '../../wireguard/traffic.ts';
import type { Bench } from '../bench.ts';
import { culvertBuild, moveServer, startServer } from '../culvert.ts';
import { makePrivateNetwork, startRelayAgent } from '../private-network.ts';
import { machineTime, treeSeconds } from '../proc.ts';
import type { Processes } from '../processes.ts';
import { say } from '../report/progress.ts';
import { align, number } from '../report/tables.ts';
import { median } from '../results.ts';

const SERVER = 'server-relay';
const AGENT = 'agent-relay';
const LISTEN_PORT = 51_820;
const HOME_INSIDE = '10.44.0.1';
/** Shorter than this a connection has not found its rate at 50 ms. */
const SHORTEST_SECONDS = 5;
const ECHOES = { count: 60, everyMs: 50 };
/** Five tries of a handshake. */
const UP_MS = 30_000;

const LINKS = [
  { title: '50 ms', delayMs: 25, lossPercent: 0, rateMbit: 100 },
  { title: '50 ms, 1 % loss', delayMs: 25, lossPercent: 1, rateMbit: 100 },
  { title: '50 ms, 5 % loss', delayMs: 25, lossPercent: 5, rateMbit: 100 },
  { title: 'no delay', delayMs: 0, lossPercent: 0, rateMbit: 0 },
] as const;
const WAYS = ['direct', 'udp', 'stream'] as const;
type Way = (typeof WAYS)[number];
const WORDS: Readonly<Record<Way, string>> = { direct: 'direct', udp: 'relay by UDP', stream: 'relay by the session' };

interface Figures {
  readonly echoes: Echoes;
  /** Mbit/s from the client to the home, and back. */
  readonly up: number;
  readonly down: number;
  /** Processor seconds per gigabyte of payload. */
  readonly server: number;
  readonly agent: number;
  readonly idle: number;
}

interface Fixture {
  readonly places: Places;
  readonly home: Peer;
  readonly client: Peer;
  readonly homeConfig: string;
  readonly clientConfig: string;
  /** Resolves when it carries datagrams. Not for the direct way. */
  readonly startAgent: (way: Way) => Promise<void>;
}

/**
 * Measures; the text is the table for the report. With `relay-reno` all TCP, the agent's session and what goes through the tunnel, takes every
 * loss for a full link, as most machines do: cubic does the same at this round trip.
 */
export async function measureRelay(bench: Bench, name: 'relay' | 'relay-reno'): Promise<string> {
  const { processes, tools, options } = bench;
  const without = (['ip', 'wireguard-go', 'wg', 'iperf3', 'ping'] as const).filter(
    (one) => tools.find(one) === undefined,
  );
  if (process.getuid?.() !== 0 || without.length > 0) {
    return `${name} is SKIPPED: it needs root${without.length > 0 ? ` and ${without.join(', ')}` : ''}`;
  }
  const found = new Map<string, Figures[]>();
  try {
    const fixture = await build(bench);
    if (name === 'relay-reno') await fixture.places.congestion('reno');
    for (let round = 1; round <= options.rounds; round++) await measureRound(bench, fixture, { name, round, found });
  } finally {
    await processes.stopAll();
  }
  const congestion = name === 'relay-reno' ? 'reno' : 'the default of this machine';
  return table(
    `${name}: WireGuard, one TCP connection, congestion control ${congestion}; ${options.rounds} rounds, medians`,
    found,
  );
}

async function measureRound(
  bench: Bench,
  fixture: Fixture,
  { name, round, found }: { readonly name: string; readonly round: number; readonly found: Map<string, Figures[]> },
): Promise<void> {
  const { processes, tools, options } = bench;
  for (const link of LINKS) {
    for (const way of WAYS) {
      await fixture.places.homeBehindLink(tools.program('linkemu'), link);
      const where = `${name} ${round}/${options.rounds} ${link.title}, ${WORDS[way]}`;
      try {
        const figures = await measureWay(bench, fixture, way);
        say(`${where}: ${row([figures], undefined).join('  ')}`);
        const key = `${link.title} ${way}`;
        found.set(key, [...(found.get(key) ?? []), figures]);
      } catch (error) {
        // One way that fails must not cost the figures of the others.
        say(`${where}: FAILED: ${processes.survive(error)}`);
      }
    }
  }
}

async function build({ processes, options, tools }: Bench): Promise<Fixture> {
  const places = await Places.make(processes, 1);
  await places.homeBehindLink(tools.program('linkemu'), LINKS[0]);
  const homeKeys = await makeKeys(processes);
  const clientKeys = await makeKeys(processes);
  const started = await startServer(processes, culvertBuild(options), {
    name: SERVER,
    edge: `udp_host = "${SERVER_ADDRESS}"\ntcp_public_host = "${SERVER_ADDRESS}"`,
  });
  const network = await makePrivateNetwork(started, { publicKey: homeKeys.publicKey, listenPort: LISTEN_PORT });
  // The server's text names the devices that there are: it comes second.
  const clientConfig = withPrivateKey(await network.enrol('client', clientKeys.publicKey), clientKeys.privateKey);
  const homeConfig = withPrivateKey(await network.serverConfig(), homeKeys.privateKey);
  const server = await moveServer(processes, started, { address: SERVER_ADDRESS, netns: places.hub });
  const home = await Peer.start(processes, places.home);
  const client = await Peer.start(processes, places.client(1));
  const startAgent = (way: Way): Promise<void> =>
    startRelayAgent(processes, server, {
      name: AGENT,
      localPort: LISTEN_PORT,
      stream: way === 'stream',
      netns: places.home,
    });
  return { places, home, client, homeConfig, clientConfig, startAgent };
}

async function measureWay(bench: Bench, fixture: Fixture, way: Way): Promise<Figures> {
  const { processes, options } = bench;
  const { places, home, client, homeConfig, clientConfig, startAgent } = fixture;
  const direct = clientConfig.replace(/^Endpoint = .*$/m, `Endpoint = ${HOME_OUTSIDE}:${LISTEN_PORT}`);
  await home.configure(homeConfig);
  await client.configure(way === 'direct' ? direct : clientConfig);
  if (way !== 'direct') await startAgent(way);
  const iperf = `iperf-${places.home}`;
  processes.start(iperf, ['iperf3', '-s', '-B', HOME_INSIDE], { netns: places.home });
  try {
    const asked = { from: places.client(1), to: HOME_INSIDE };
    await untilEchoes(processes, asked, UP_MS);
    const echoes = await measureEchoes(processes, asked, ECHOES);
    const before = { machine: machineTime(), ...cpuOf(processes) };
    const seconds = Math.max(options.seconds, SHORTEST_SECONDS);
    const up = await iperf3(processes, asked.from, { seconds, back: false });
    const down = await iperf3(processes, asked.from, { seconds, back: true });
    const after = { machine: machineTime(), ...cpuOf(processes) };
    const gigabytes = (up.bytes + down.bytes) / 1e9;
    return {
      echoes,
      up: up.mbps,
      down: down.mbps,
      server: (after.server - before.server) / gigabytes,
      agent: (after.agent - before.agent) / gigabytes,
      idle: (after.machine.idle - before.machine.idle) / (after.machine.total - before.machine.total),
    };
  } finally {
    await processes.stop(iperf);
    await processes.stop(AGENT);
  }
}

function cpuOf(processes: Processes): { readonly server: number; readonly agent: number } {
  const of = (name: string): number => (processes.isRunning(name) ? treeSeconds(processes.pid(name)) : Number.NaN);
  return { server: of(SERVER), agent: of(AGENT) };
}

/** One TCP connection; what the receiver got. */
async function iperf3(
  processes: Processes,
  netns: string,
  { seconds, back }: { readonly seconds: number; readonly back: boolean },
): Promise<{ readonly mbps: number; readonly bytes: number }> {
  const command = ['iperf3', '-J', '-c', HOME_INSIDE, '-t', String(seconds), ...(back ? ['-R'] : [])];
  const { stdout } = await must(processes, command, netns);
  const { end } = JSON.parse(stdout) as { end: { sum_received: { bits_per_second: number; bytes: number } } };
  return { mbps: end.sum_received.bits_per_second / 1e6, bytes: end.sum_received.bytes };
}

function table(title: string, found: ReadonlyMap<string, readonly Figures[]>): string {
  const head = ['', 'round trip ms', 'p99', 'lost', 'up Mbit/s', 'x direct', 'down Mbit/s', 'x direct'];
  const rows = LINKS.flatMap(({ title }) =>
    WAYS.flatMap((way) => {
      const figures = found.get(`${title} ${way}`) ?? [];
      const direct = found.get(`${title} direct`);
      return figures.length === 0 ? [] : [[`${title}, ${WORDS[way]}`, ...row(figures, direct)]];
    }),
  );
  return [title, ...align([[...head, 'server s/GB', 'agent s/GB', 'idle'], ...rows]).map((line) => `  ${line}`)].join(
    '\n',
  );
}

function row(figures: readonly Figures[], direct: readonly Figures[] | undefined): string[] {
  const of = (value: (one: Figures) => number, from = figures): number => median(from.map(value)) ?? Number.NaN;
  const ratio = (value: (one: Figures) => number): string =>
    number(direct === undefined ? undefined : of(value) / of(value, direct), 2);
  return [
    number(
      of(({ echoes }) => echoes.medianMs),
      1,
    ),
    number(
      of(({ echoes }) => echoes.p99Ms),
      1,
    ),
    `${number(
      of(({ echoes }) => (1 - echoes.received / echoes.sent) * 100),
      1,
    )} %`,
    number(
      of(({ up }) => up),
      1,
    ),
    ratio(({ up }) => up),
    number(
      of(({ down }) => down),
      1,
    ),
    ratio(({ down }) => down),
    number(
      of(({ server }) => server),
      1,
    ),
    number(
      of(({ agent }) => agent),
      1,
    ),
    `${number(of(({ idle }) => idle) * 100, 0)} %`,
  ];
}
