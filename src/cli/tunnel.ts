/**
 * The tunnel commands: `http`, `https`, `tcp` make one tunnel of the command line, `start` makes those of the settings files.
 */
import { parseTarget, TargetError } from '../agent/target.ts';
import type { TunnelSpec } from '../agent/tunnel.ts';
import { type AgentSettings, loadAgentConfig, type TunnelSettings } from '../config/agent.ts';
import type { CommandBody, Invocation } from './command.ts';
import { usageError } from './exit.ts';
import { countFlag, refuseFlags, textFlag } from './flags.ts';
import type { Io } from './io.ts';
import { type AgentFlags, runAgent } from './run-agent.ts';

/** Why the PROXY protocol is refused to other tunnels. */
const PROXY_ELSEWHERE =
  'is for tcp tunnels alone; an HTTP service finds the visitor in the X-Forwarded-For field of each request';

export function tunnelCommand(protocol: 'http' | 'https' | 'tcp'): CommandBody {
  return async (io, invocation) => {
    if (protocol !== 'tcp') refuseFlags(invocation.flags, ['proxyProtocol'], PROXY_ELSEWHERE);
    const settings = settingsOf(io, invocation);
    const [text = ''] = invocation.args;
    const verifyTls = invocation.flags['verifyTls'] === true;
    const proxyProtocol = invocation.flags['proxyProtocol'] === true;
    const found = targetOrUsage(() => parseTarget(text, protocol, { verifyTls, proxyProtocol }));
    const tunnel: TunnelSpec = {
      ...found,
      name: protocol,
      subdomain: textFlag(invocation.flags, 'subdomain'),
      project: textFlag(invocation.flags, 'project'),
    };
    return runAgent(io, { settings, tunnels: [tunnel], flags: agentFlags(invocation) });
  };
}

export const startCommand: CommandBody = async (io, invocation) => {
  const settings = settingsOf(io, invocation);
  const tunnels = chosen(settings, invocation.args).map(specOf);
  return runAgent(io, { settings, tunnels, flags: agentFlags(invocation) });
};

function chosen(settings: AgentSettings, names: readonly string[]): TunnelSettings[] {
  if (settings.tunnels.size === 0) {
    const where =
      settings.files.length === 0 ? './culvert.toml and ~/.config/culvert/agent.toml' : settings.files.join(', ');
    throw usageError(`no tunnel to start: put [tunnels.NAME] with a target into ${where}`);
  }
  if (names.length === 0) return [...settings.tunnels.values()];
  return [...new Set(names)].map((name) => {
    const tunnel = settings.tunnels.get(name);
    if (tunnel === undefined) {
      throw usageError(`no tunnel "${name}": there is ${[...settings.tunnels.keys()].join(', ')}`);
    }
    return tunnel;
  });
}

function specOf(settings: TunnelSettings): TunnelSpec {
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
  try {
    const found = parseTarget(String(settings.target), protocol, { verifyTls, proxyProtocol });
    return { ...found, name, subdomain, project, inspect };
  } catch (error) {
    if (error instanceof TargetError) throw settings.mistake('target', error.message);
    throw error;
  }
}

function targetOrUsage<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (error instanceof TargetError) throw usageError(error.message, error);
    throw error;
  }
}

function settingsOf(io: Io, invocation: Invocation): AgentSettings {
  return loadAgentConfig({
    flags: {
      server: textFlag(invocation.flags, 'server'),
      tokenFile: textFlag(invocation.flags, 'tokenFile'),
      config: textFlag(invocation.flags, 'config'),
    },
    env: io.env,
    cwd: io.cwd,
  });
}

function agentFlags({ flags }: Invocation): AgentFlags {
  const urlFile = textFlag(flags, 'urlFile');
  const inspectPort = countFlag(flags, 'inspectPort');
  if (inspectPort !== undefined && inspectPort > 65_535) throw usageError('--inspect-port: a port is at most 65535');
  // commander sets `inspect` of its own accord when there is a --no-inspect.
  const inspect = flags['inspect'] !== false;
  if (!inspect) refuseFlags(flags, ['inspectPort'], 'not with --no-inspect, for there is no page then');
  return {
    json: flags['json'] === true,
    quiet: flags['quiet'] === true,
    inspect,
    ...(inspectPort === undefined ? {} : { inspectPort }),
    ...(urlFile === undefined ? {} : { urlFile }),
  };
}
