/** The checks of an agent's machine: its settings and key, the way to the server, and the services that it publishes. */
import { dialServer } from '../../agent/connect/dial.ts';
import { type AgentAddress, discover } from '../../agent/connect/discovery.ts';
import { addressesOf, dialFirst, wayName } from '../../agent/connect/ways.ts';
import type { Outbound } from '../../base/net/outbound/outbound.ts';
import { type Proxy, proxyName } from '../../base/net/outbound/proxy.ts';
import { messageOf } from '../../base/errors.ts';
import { type AgentSettings, loadAgentConfig } from '../../config/agent.ts';
import { type Check, fail, ok, warn, sentence } from '../checks/check.ts';
import { checkClock } from '../checks/machine-checks.ts';
import type { System } from '../checks/system.ts';
import type { NetworkFlags } from '../../config/agent-keys/network.ts';
import { outboundBy } from '../client/outbound.ts';
import { listAgents, runtimeDir } from '../client/state-file.ts';
import { loginCommand, readAgentKey } from '../client/token.ts';
import type { Io } from '../terminal/io.ts';
import { VERSION } from '../terminal/version.ts';

interface AgentQuestion {
  /** The file of `--config`. */
  readonly named: string | undefined;
  /** The URL of `--server`. */
  readonly server: unknown;
  /** `--proxy` and `--ca-file`. */
  readonly network: NetworkFlags;
  readonly system: System;
}

export async function checkAgent(io: Io, { named, server, network, system }: AgentQuestion): Promise<Check[]> {
  let settings: AgentSettings;
  let outbound: Outbound;
  try {
    const given = typeof server === 'string' ? server : undefined;
    settings = loadAgentConfig({ flags: { config: named, server: given, ...network }, env: io.env, cwd: io.cwd });
    outbound = outboundBy(settings.network, io.env);
  } catch (error) {
    return [fail('config', messageOf(error).replaceAll('\n', '; '), 'Correct the file, or the flag.')];
  }
  const { files } = settings;
  const config = ok(
    'config',
    files.length === 0 ? 'No settings file: the defaults apply.' : `${files.join(' and ')}: valid.`,
  );
  const isPlain = settings.server.protocol === 'http:';
  const parts = await Promise.all([
    key(settings, io),
    wayTo(settings.server, outbound),
    isPlain || proxyOf(settings.server, outbound) !== undefined
      ? []
      : checkClock(system, { url: settings.server, caFile: null }),
    services(io, system),
  ]);
  return [config, ...parts.flat()];
}

async function key(settings: AgentSettings, io: Io): Promise<Check> {
  const name = 'access_key';
  if (settings.token === undefined) {
    return fail(name, `No access key for ${settings.server.host}.`, `Log in: ${loginCommand(settings.server)}`);
  }
  try {
    await readAgentKey(settings, io.env);
    return ok(name, `An access key for ${settings.server.host} is there.`);
  } catch (error) {
    return fail(name, messageOf(error), `Log in again: ${loginCommand(settings.server)}`);
  }
}

/** Each step of a connect: find the server, then dial its agent listeners. */
async function wayTo(server: URL, outbound: Outbound): Promise<Check[]> {
  let found: Awaited<ReturnType<typeof discover>>;
  try {
    found = await discover(server, undefined, outbound);
  } catch (error) {
    const next = 'Check the URL (--server) and the network, a proxy or a firewall on this machine.';
    return [fail('server', sentence(messageOf(error)), next)];
  }
  const proxy = proxyOf(server, outbound);
  const by = proxy === undefined ? '' : ` It is reached through the proxy ${proxyName(proxy)}.`;
  const checks = [ok('server', `${server.host} is a Culvert server.${by}`), versions(String(found.version))];
  try {
    return [...checks, await agentPort(addressesOf(found, server), outbound)];
  } catch (error) {
    return [...checks, fail('agent_port', sentence(messageOf(error)), OPEN_PORT)];
  }
}

/** The proxy on the way to the server, if there is one. */
function proxyOf({ protocol, hostname, port }: URL, outbound: Outbound): Proxy | undefined {
  const isPlain = protocol === 'http:';
  const place = { host: hostname, port: port === '' ? (isPlain ? 80 : 443) : Number(port) };
  return outbound.proxyFor(place, isPlain ? 'http:' : 'https:');
}

const OPEN_PORT = 'Open that port in the firewall of the server, or allow outgoing connections to it on this network.';

/** Dials as an agent does: one address is enough. Throws when none accepts it. */
async function agentPort(addresses: readonly AgentAddress[], outbound: Outbound): Promise<Check> {
  const name = 'agent_port';
  const { socket, address } = await dialFirst(addresses, new AbortController().signal, (one, stop) =>
    dialServer(one, stop, outbound),
  );
  socket.destroy();
  const works = `${wayName(address)} accepts agents`;
  const [first] = addresses;
  if (first === undefined || first === address) return ok(name, `${works}.`);
  try {
    // It may only have been slower.
    (await dialServer(first, undefined, outbound)).destroy();
    return ok(name, `${wayName(first)} accepts agents.`);
  } catch (error) {
    return warn(name, `${works}, but the address before it does not: ${sentence(messageOf(error))}`, OPEN_PORT);
  }
}

function versions(theirs: string): Check {
  const name = 'version';
  const minor = (version: string): string | undefined => /^\d+\.\d+(?=\.)/.exec(version)?.[0];
  const [mine, of] = [minor(VERSION), minor(theirs)];
  if (mine === undefined || of === undefined || mine === of)
    return ok(name, `This program is ${VERSION}, the server ${theirs}.`);
  return warn(name, `This program is ${VERSION}, the server ${theirs}.`, 'Update the older one.');
}

/** Of the agents that run on this machine: does each service accept connections? */
async function services(io: Io, system: System): Promise<Check[]> {
  const tunnels = listAgents(runtimeDir(io.env)).flatMap((agent) => agent.tunnels);
  const tcp = tunnels.flatMap(({ name, target, network }) => {
    const match = /(?:^|\/\/)(?:\[([^\]]+)\]|([^:/]+)):(\d{1,5})(?:\/|$)/.exec(target);
    const host = match?.[1] ?? match?.[2];
    return network !== null || host === undefined ? [] : [{ name, host, port: Number(match?.[3]) }];
  });
  return Promise.all(
    tcp.map(async ({ name, host, port }) => {
      const reason = await system.tryConnect({ host, port });
      if (reason === undefined) return ok('service', `${name}: ${host}:${port} accepts connections.`);
      return fail(
        'service',
        `${name}: ${host}:${port} accepts no connection: ${sentence(reason)}`,
        'Start your service.',
      );
    }),
  );
}
