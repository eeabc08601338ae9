/**
 * The tunnel commands: `http`, `https`, `tcp` make one tunnel of the command line, `start` makes those of the settings files.
 */
import { resolve } from 'node:path';
import type { RelaySpec } from '../../agent/relay/spec.ts';
import type { TunnelSpec } from '../../agent/tunnel.ts';
import { type AgentSettings, settingsFiles, type TunnelSettings } from '../../config/agent.ts';
import { agentFlags, inputOf, settingsOf, subdomainFault, subdomainFlag } from './agent-settings.ts';
import { narrowingOf, narrowingOfFlags } from './narrowing/narrowing.ts';
import type { CommandBody, Invocation } from '../terminal/command.ts';
import { usageError } from '../terminal/exit.ts';
import { optionOf, refuseFlags, textFlag } from '../terminal/flags.ts';
import { folderOfArgument, folderOfSettings } from './files.ts';
import type { Entry, ReadSettings } from './reload.ts';
import { runAgent } from './run-agent.ts';
import { sentCommand } from './sent-command.ts';
import { relayOf } from './udp.ts';
import { routedOf, routesOfFlag, routesOfSettings } from './routes/routes.ts';
import { flagOf, type UpstreamInput, upstreamFlags } from './upstream/upstream-input.ts';
import { upstreamOf } from './upstream/upstream-options.ts';

/** Why the PROXY protocol is refused to other tunnels. */
const PROXY_ELSEWHERE = 'is for tcp tunnels only; an HTTP service gets the visitor address in X-Forwarded-For';

export function tunnelCommand(protocol: 'http' | 'https' | 'tcp'): CommandBody {
  return async (io, invocation) => {
    if (protocol !== 'tcp') refuseFlags(invocation.flags, ['proxyProtocol'], PROXY_ELSEWHERE);
    const settings = settingsOf(io, invocation);
    const [text = ''] = invocation.args;
    const mistake = (key: string, why: string): Error =>
      usageError(key === 'target' ? why : `${key === 'routes' ? '--route' : optionOf(flagOf(key))}: ${why}`);
    const upstream: UpstreamInput = {
      target: text,
      protocol,
      verifyTls: invocation.flags['verifyTls'] === true,
      proxyProtocol: invocation.flags['proxyProtocol'] === true,
      values: upstreamFlags(invocation.flags),
      folder: io.cwd,
      mistake,
    };
    const routes = routesOfFlag(invocation.flags);
    const found =
      routes.length > 0
        ? routedOf({ ...upstream, routes, choice: {}, mistake })
        : (folderOfArgument(upstream) ?? upstreamOf(upstream));
    const tunnel: TunnelSpec = {
      ...found,
      name: protocol,
      subdomain: subdomainFlag(invocation),
      project: textFlag(invocation.flags, 'project'),
      narrow: await narrowingOfFlags(io, invocation, protocol),
      command: sentCommand({ name: protocol, target: text }, invocation),
    };
    return runAgent(io, { settings, tunnels: [tunnel], relays: [], flags: agentFlags(invocation) });
  };
}

export const startCommand: CommandBody = async (io, invocation) => {
  if (invocation.args.length > 0) refuseFlags(invocation.flags, ['all'], "can't be used with names of tunnels");
  const read = (): ReadSettings => {
    const settings = settingsOf(io, invocation);
    const entries = chosen(settings, invocation.args).map((one) => startedBy(entryOf(one, io.env), invocation));
    requireTaken(io.env, entries);
    return { settings, entries };
  };
  const first = read();
  return runAgent(io, {
    settings: first.settings,
    tunnels: first.entries.flatMap(({ tunnel }) => tunnel ?? []),
    relays: first.entries.flatMap(({ relay }) => relay ?? []),
    flags: agentFlags(invocation),
    reload: { first, source: { read, files: settingsFiles(inputOf(io, invocation)) } },
  });
};

/** The tunnels of these names, or all. @throws ConfigError or ExitError (usage) for what can't be started. */
export function specsOf(
  settings: AgentSettings,
  names: readonly string[],
): { readonly tunnels: TunnelSpec[]; readonly relays: RelaySpec[] } {
  const wanted = chosen(settings, names);
  return {
    tunnels: wanted.filter(({ protocol }) => protocol !== 'udp').map((one) => specOf(one)),
    relays: wanted.filter(({ protocol }) => protocol === 'udp').map((one) => relayOf(one)),
  };
}

function entryOf(settings: TunnelSettings, env: NodeJS.ProcessEnv): Entry {
  const { name } = settings;
  if (settings.protocol === 'udp') return { name, print: JSON.stringify(settings), relay: relayOf(settings, env) };
  const tunnel = specOf(settings, env);
  // What restricts visitors may come from files that the settings only name.
  return { name, print: JSON.stringify([settings, tunnel.narrow]), tunnel };
}

/** With the command that starts this one alone. */
function startedBy(entry: Entry, invocation: Invocation): Entry {
  if (entry.tunnel === undefined) return entry;
  const command = sentCommand({ name: 'start', target: entry.name }, invocation);
  return { ...entry, tunnel: { ...entry.tunnel, command } };
}

/** Who gives a password or a secret expects it to be asked for. @throws ExitError (usage) when no tunnel does. */
function requireTaken(env: NodeJS.ProcessEnv, entries: readonly Entry[]): void {
  for (const [variable, key, value] of [
    ['CULVERT_BASIC_AUTH', 'basic_auth', 'USER'],
    ['CULVERT_WEBHOOK_SECRET', 'webhook_verify', 'KIND'],
  ] as const) {
    if (!env[variable] || entries.some(({ tunnel }) => tunnel?.narrow?.[key] !== undefined)) continue;
    const what = `${variable} is set, but no tunnel has ${key}`;
    throw usageError(`${what}. Add ${key} = "${value}" to the tunnel, or unset the variable`);
  }
}

function chosen(settings: AgentSettings, names: readonly string[]): TunnelSettings[] {
  if (settings.tunnels.size === 0) {
    const where =
      settings.files.length === 0 ? './culvert.toml or ~/.config/culvert/agent.toml' : settings.files.join(' or ');
    const hint = settings.ignored === undefined ? '' : `. ${settings.ignored} is the settings file of a server`;
    throw usageError(`no tunnel to start. Add [tunnels.NAME] with a target to ${where}${hint}`);
  }
  if (names.length === 0) return [...settings.tunnels.values()];
  return [...new Set(names)].map((name) => {
    const tunnel = settings.tunnels.get(name);
    if (tunnel === undefined) {
      throw usageError(`no tunnel "${name}". The file has ${[...settings.tunnels.keys()].join(', ')}`);
    }
    return tunnel;
  });
}

/** `env`: where a password may be; undefined: the settings alone are checked. @throws ConfigError for what the tunnel can't have. */
export function specOf(settings: TunnelSettings, env?: NodeJS.ProcessEnv): TunnelSpec {
  const {
    name,
    protocol,
    subdomain,
    project,
    inspect,
    verify_tls: verifyTls,
    proxy_protocol: proxyProtocol,
  } = settings;
  if (proxyProtocol && protocol !== 'tcp') throw settings.mistake('proxy_protocol', PROXY_ELSEWHERE);
  if (settings.network !== undefined) throw settings.mistake('network', 'is for protocol = "udp" only');
  if (settings.manage !== undefined) throw settings.mistake('manage', 'is for protocol = "udp" only');
  if (!settings.udp) throw settings.mistake('udp', 'is for protocol = "udp" only');
  if (protocol === 'udp') throw new TypeError('a relay is no tunnel'); // relayOf has those
  const dotted = subdomainFault(subdomain, (first) => `subdomain = "${first}"`);
  if (dotted !== undefined) throw settings.mistake('subdomain', dotted);
  const upstream: UpstreamInput = {
    target: String(settings.target ?? ''),
    protocol,
    verifyTls,
    proxyProtocol,
    values: settings,
    folder: settings.folder,
    requireOwn: (key, path) => settings.requireAllowed(key, path),
    mistake: (key, text) => settings.mistake(key, text),
  };
  const { mistake } = settings;
  const routes = routesOfSettings(settings);
  const target = settings.target === undefined ? undefined : String(settings.target);
  const found =
    routes.length > 0
      ? routedOf({
          ...{ ...upstream, target, routes, choice: settings, mistake },
          requireAllowed: (path) => settings.requireAllowed('routes', path),
        })
      : (folderOfSettings(settings, upstream) ?? upstreamOf(upstream));
  const fileAt = (key: string, file: string): string => {
    const path = resolve(settings.folder, file);
    settings.requireAllowed(key, path);
    return path;
  };
  const narrow = narrowingOf({ env, protocol, values: settings, fileAt, isAlone: false, mistake });
  return { ...found, name, subdomain, project, inspect, narrow };
}
