/** The checks of an agent's machine: its settings and key, the way to the server, and the services that it publishes. */
import { dialServer } from '../../agent/connect/dial.ts';
import { type AgentAddress, discover } from '../../agent/connect/discovery.ts';
import { addressesOf, dialFirst, wayName } from '../../agent/connect/ways.ts';
import { messageOf } from '../../base/errors.ts';
import { type AgentSettings, loadAgentConfig } from '../../config/agent.ts';
import { type Check, fail, ok, warn, sentence } from '../checks/check.ts';
import { checkClock } from '../checks/machine-checks.ts';
import type { System } from '../checks/system.ts';
import { listAgents, runtimeDir } from '../client/state-file.ts';
import { loginCommand, readAgentKey } from '../client/token.ts';
import type { Io } from '../terminal/io.ts';
import { VERSION } from '../terminal/version.ts';

interface AgentQuestion {
  /** The file of `--config`. */
  readonly named: string | undefined;
  /** The URL of `--server`. */
  readonly server: unknown;
  readonly system: System;
}

export async function checkAgent(io: Io, { named, server, system }: AgentQuestion): Promise<Check[]> {
  let settings: AgentSettings;
  try {
    const given = typeof server === 'string' ? server : undefined;
    settings = loadAgentConfig({ flags: { config: named, server: given }, env: io.env, cwd: io.cwd });
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
    wayTo(settings.server),
    isPlain ? [] : checkClock(system, { url: settings.server, caFile: null }),
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
async function wayTo(server: URL): Promise<Check[]> {
  let found: Awaited<ReturnType<typeof discover>>;
  try {
    found = await discover(server);
  } catch (error) {
    const next = 'Check the URL (--server) and the network, a proxy or a firewall on this machine.';
    return [fail('server', sentence(messageOf(error)), next)];
  }
  const checks = [ok('server', `${server.host} is a Culvert server.`), versions(String(found.version))];
  try {
    return [...checks, await agentPort(addressesOf(found, server))];
  } catch (error) {
    return [...checks, fail('agent_port', sentence(messageOf(error)), OPEN_PORT)];
  }
}

const OPEN_PORT = 'Open that port in the firewall of the server, or allow outgoing connections to it on this network.';

/** Dials as an agent does: one address is enough. Throws when none accepts it. */
async function agentPort(addresses: readonly AgentAddress[]): Promise<Check> {
  const name = 'agent_port';
  const { socket, address } = await dialFirst(addresses, new AbortController().signal);
  socket.destroy();
  const works = `${wayName(address)} accepts agents`;
  const [first] = addresses;
  if (first === undefined || first === address) return ok(name, `${works}.`);
  try {
    // It may only have been slower.
    (await dialServer(first)).destroy();
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
