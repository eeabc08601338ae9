/**
 * Ways in which the path between visitor and service breaks, and how long the public name takes to answer again by itself. Each
 * scenario builds its own server and lanes: agents with a tunnel each. `strike` breaks one lane once and resolves with the milliseconds
 * from "the path is back" to the first 200. Used by run.ts (many rounds) and by a test (one).
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Ends } from '../../test/harness/ends.ts';
import { startOrigin } from '../../test/harness/origin.ts';
import { type SpawnedCulvert, spawnCulvert } from '../../test/harness/spawned.ts';
import type { Program } from '../quickstart/program.ts';
import { HerdWatch } from './herd-watch.ts';
import { Network, SERVER_ADDRESS } from './network.ts';
import { startScript } from './script.ts';
import { Supervisor } from './supervisor.ts';
import { Watch } from './watch.ts';

/** Far above what is allowed, so that a slow return is measured and not guessed. */
const GIVE_UP_MS = 90_000;
const FIRST_START_MS = 30_000;
/** A peer without a sign of life is dead after 20 s; looked at about once a second. */
const NOTICED_MS = 25_000;
/** Agents of `herd`. */
const HERD = 1_000;
const SERVER_NAME = 'culvert-chaos.test';
/** Visitors who wait for the agent would hide that it was away. */
const NO_HOLD = 'hold_seconds = 0';

export interface Scenario {
  /** Breaks a lane (counted from 1) for `outageMs` and mends it; resolves with the milliseconds that the public name then needed. */
  strike(lane: number, outageMs: number): Promise<number>;
  /** What the agent of a lane has printed: its events, with their times. */
  readonly told?: (lane: number) => string;
}

export type Build = (t: Ends, lanes: number) => Promise<Scenario>;

const hostOf = (lane: number): string => `lane${lane}.localhost`;
const lanesOf = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);
const publish = (port: number, lane: number): string[] => [
  'http',
  String(port),
  '--subdomain',
  `lane${lane}`,
  '--json',
];

/** The moment from which visitors get 200; throws when they don't. */
async function backSince(watch: Watch, lane: number, since: number): Promise<number> {
  return (await watch.until(hostOf(lane), true, GIVE_UP_MS)) - since;
}

/** kill -9 of the server; a service manager starts it again. A server of its own per lane. */
export const killServer: Build = async (t, lanes) => {
  const { port } = await startOrigin(t, (_request, response) => response.end('here'));
  const servers: { culvert: SpawnedCulvert; watch: Watch }[] = [];
  for (const lane of lanesOf(lanes)) {
    const culvert = await spawnCulvert(t);
    culvert.agent(publish(port, lane));
    const watch = new Watch(t, { port: culvert.ports.http, hosts: [hostOf(lane)] });
    await watch.until(hostOf(lane), true, FIRST_START_MS);
    servers.push({ culvert, watch });
  }
  return {
    strike: async (lane, outageMs) => {
      const { culvert, watch } = servers[lane - 1] as (typeof servers)[number];
      await culvert.killServer();
      await watch.until(hostOf(lane), false, FIRST_START_MS);
      await pause(outageMs);
      await culvert.startServer();
      return backSince(watch, lane, Date.now());
    },
  };
};

/** kill -9 of the agent; a service manager starts it again. The time counts from that start: it includes the program's own. */
export const killAgent: Build = async (t, lanes) => {
  const { port } = await startOrigin(t, (_request, response) => response.end('here'));
  const culvert = await spawnCulvert(t, { edge: NO_HOLD });
  const agents = lanesOf(lanes).map((lane) => new Supervisor(t, () => culvert.agent(publish(port, lane))));
  const watch = new Watch(t, { port: culvert.ports.http, hosts: lanesOf(lanes).map(hostOf) });
  for (const lane of lanesOf(lanes)) await watch.until(hostOf(lane), true, FIRST_START_MS);
  return {
    strike: async (lane, outageMs) => {
      const agent = agents[lane - 1] as Supervisor;
      const restarted = agent.killAndRestart(outageMs);
      await watch.until(hostOf(lane), false, FIRST_START_MS);
      return backSince(watch, lane, await restarted);
    },
  };
};

interface Apart {
  readonly network: Network;
  readonly culvert: SpawnedCulvert;
  readonly watch: Watch;
  /** A service per lane, in the agent's namespace. */
  readonly ports: readonly number[];
}

/** A server in one network namespace and room for an agent per lane in others, with a router between them. */
async function apart(t: Ends, lanes: number): Promise<Apart> {
  const network = new Network(t, lanes);
  const culvert = await spawnCulvert(t, { address: SERVER_ADDRESS, netns: network.server, edge: NO_HOLD });
  const ports: number[] = [];
  for (const lane of lanesOf(lanes)) {
    const { port } = JSON.parse(await startScript(t, 'page.ts', network.agent(lane))) as { port: number };
    ports.push(port);
  }
  const hosts = lanesOf(lanes).map(hostOf);
  const watch = new Watch(t, { port: culvert.ports.http, hosts, netns: network.server });
  return { network, culvert, watch, ports };
}

/** Packets are dropped in the middle until both ends have given the connection up, and `outageMs` longer. */
export const halfOpen: Build = async (t, lanes) => {
  const { network, watch } = await apartAndUp(t, lanes);
  return {
    strike: async (lane, outageMs) => {
      network.cut(lane);
      await pause(NOTICED_MS);
      await watch.until(hostOf(lane), false, FIRST_START_MS);
      await pause(outageMs);
      const since = Date.now();
      network.restore(lane);
      return backSince(watch, lane, since);
    },
  };
};

/** The agent starts while the server's name can't be resolved, because the network is not up yet. Then it is. */
export const lateNames: Build = async (t, lanes) => {
  const { network, culvert, watch, ports } = await apart(t, lanes);
  await startScript(t, 'name-server.ts', network.server);
  const server = `http://${SERVER_NAME}:${culvert.ports.api}`;
  const agents = new Map<number, Program>();
  for (const lane of lanesOf(lanes)) network.useServerForNames(lane);
  return {
    strike: async (lane, outageMs) => {
      const before = agents.get(lane);
      before?.kill();
      await before?.ended();
      // A name server that can't be reached is silent, or known to be gone at once: agents wait differently for the two.
      network.cut(lane, lane % 2 === 0 ? 'blackhole' : 'unreachable');
      const agent = culvert.agent(publish(ports[lane - 1] as number, lane), { netns: network.agent(lane), server });
      agents.set(lane, agent);
      await agent.printed(/"retrying"/);
      await watch.until(hostOf(lane), false, FIRST_START_MS);
      await pause(outageMs);
      const since = Date.now();
      network.restore(lane);
      return backSince(watch, lane, since);
    },
  };
};

/**
 * Resolves when the agent's tunnel is online once more: between two of their requests visitors may miss that it was away. Rejects after
 * FIRST_START_MS.
 */
async function nextOnline(agent: Program): Promise<void> {
  const times = (): number => agent.output.split('"tunnel_online"').length;
  const before = times();
  for (const end = Date.now() + FIRST_START_MS; times() === before; await pause(10))
    if (Date.now() > end) throw new Error(`the agent did not come back in ${FIRST_START_MS} ms`);
}

/** Agents that are up, each in a network of its own. */
async function apartAndUp(t: Ends, lanes: number): Promise<Apart & { readonly agents: readonly Program[] }> {
  const made = await apart(t, lanes);
  const { network, culvert, watch, ports } = made;
  const agents = lanesOf(lanes).map((lane) =>
    culvert.agent(publish(ports[lane - 1] as number, lane), { netns: network.agent(lane) }),
  );
  for (const lane of lanesOf(lanes)) await watch.until(hostOf(lane), true, FIRST_START_MS);
  return { ...made, agents };
}

/** The agent's machine changes its address, without notice to the server. Visitors send requests all the time. */
export const addressChange: Build = async (t, lanes) => {
  const { network, watch, agents } = await apartAndUp(t, lanes);
  return {
    strike: async (lane, outageMs) => {
      await pause(outageMs);
      const since = Date.now();
      const again = nextOnline(agents[lane - 1] as Program);
      network.changeAddress(lane);
      await Promise.race([watch.until(hostOf(lane), false, FIRST_START_MS, since), again]);
      return backSince(watch, lane, since);
    },
    told: (lane) => (agents[lane - 1] as Program).output,
  };
};

/** A NAT between forgets the connection: it is dead without a word, and a new one can be made at once. */
export const forgottenFlow: Build = async (t, lanes) => {
  const { network, culvert, watch, agents } = await apartAndUp(t, lanes);
  return {
    strike: async (lane, outageMs) => {
      await pause(outageMs);
      const since = Date.now();
      const again = nextOnline(agents[lane - 1] as Program);
      network.forgetFlow(lane, culvert.ports.agents);
      await Promise.race([watch.until(hostOf(lane), false, FIRST_START_MS, since), again]);
      return backSince(watch, lane, since);
    },
    told: (lane) => (agents[lane - 1] as Program).output,
  };
};

/** kill -9 of the server of a thousand agents in one process; the time until the tunnel of the last of them is live again. */
export const herd: Build = async (t) => {
  const culvert = await spawnCulvert(t);
  const token = await culvert.account.mint({ name: 'herd', tunnelQuota: HERD });
  const tunnels = new HerdWatch(t, { server: culvert.apiUrl, count: HERD, token });
  await tunnels.until(HERD);
  return {
    strike: async (_lane, outageMs) => {
      await culvert.killServer();
      await tunnels.until(0);
      await pause(outageMs);
      await culvert.startServer();
      const since = Date.now();
      return (await tunnels.until(HERD)) - since;
    },
  };
};
