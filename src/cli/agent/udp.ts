/** `culvert udp`: carries the datagrams of a private network to the WireGuard on this machine, or beside it. Also what `start` makes of such a tunnel. */
import type { RelaySpec } from '../../agent/relay/spec.ts';
import { parseTarget, TargetError } from '../../agent/local/target.ts';
import type { TunnelSettings } from '../../config/agent.ts';
import { agentFlags, settingsOf } from './agent-settings.ts';
import type { CommandBody } from '../terminal/command.ts';
import { usageError } from '../terminal/exit.ts';
import { textFlag } from '../terminal/flags.ts';
import { managed, manageFault } from './managed-interface.ts';
import { runAgent } from './run-agent.ts';
import { UPSTREAM_KEYS } from './upstream/upstream-input.ts';

export const udpCommand: CommandBody = async (io, invocation) => {
  const { args, flags } = invocation;
  const network = textFlag(flags, 'network');
  if (network === undefined || network === '') {
    throw usageError('--network: needs the name of a private network; `culvert network list` shows them');
  }
  const settings = settingsOf(io, invocation);
  try {
    const target = parseDatagramTarget(args[0] ?? '');
    const manage = textFlag(flags, 'manage');
    const fault = manage === undefined ? undefined : manageFault(manage);
    if (fault !== undefined) throw usageError(`--manage: ${fault}`);
    const relay: RelaySpec = {
      ...{ name: 'udp', network, target, udp: flags['udp'] !== false },
      ...(manage === undefined ? {} : { manage: managed(manage, io.env) }),
    };
    return await runAgent(io, { settings, tunnels: [], relays: [relay], flags: agentFlags(invocation) });
  } catch (error) {
    if (error instanceof TargetError) throw usageError(error.message, error);
    throw error;
  }
};

/**
 * A tunnel of the settings file with `protocol = "udp"`. `env`: names the state folder; undefined: the settings alone are checked.
 * @throws ConfigError for what such a one can't have.
 */
export function relayOf(settings: TunnelSettings, env: NodeJS.ProcessEnv = {}): RelaySpec {
  const { name, network, udp, manage } = settings;
  if (network === undefined) {
    throw settings.mistake('protocol', 'a udp tunnel needs network = "NAME"');
  }
  for (const key of ['subdomain', 'project', 'spa', 'listing', 'routes', ...UPSTREAM_KEYS] as const) {
    if (settings[key] !== undefined) throw settings.mistake(key, 'does not apply to udp tunnels');
  }
  for (const key of ['verify_tls', 'proxy_protocol'] as const) {
    if (settings[key]) throw settings.mistake(key, 'does not apply to udp tunnels');
  }
  const fault = manage === undefined ? undefined : manageFault(manage);
  if (fault !== undefined) throw settings.mistake('manage', fault);
  try {
    const target = parseDatagramTarget(String(settings.target ?? ''));
    return { name, network, target, udp, ...(manage === undefined ? {} : { manage: managed(manage, env) }) };
  } catch (error) {
    if (error instanceof TargetError) throw settings.mistake('target', error.message);
    throw error;
  }
}

/** `51820` or `host:51820`. @throws TargetError */
function parseDatagramTarget(text: string): RelaySpec['target'] {
  if (text.startsWith('unix:'))
    throw new TargetError(`"${text}" takes no datagrams. Use the port of WireGuard (51820)`);
  if (text.includes('://')) throw new TargetError(`"${text}" is a URL. Use the port of WireGuard (51820) or host:port`);
  try {
    return parseTarget(text, 'tcp').target;
  } catch (cause) {
    if (!(cause instanceof TargetError)) throw cause;
    throw new TargetError(`"${text}" is not a port. Use that of WireGuard (51820) or host:port (10.0.0.7:51820)`, {
      cause,
    });
  }
}
