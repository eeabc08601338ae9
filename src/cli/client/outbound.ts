/** The way out of a command: the proxy and the authority that its flags, the settings of the agent or the environment name. */
import { Outbound } from '../../base/net/outbound/outbound.ts';
import { proxyRules } from '../../base/net/outbound/proxy-rules.ts';
import { messageOf } from '../../base/errors.ts';
import { findNetwork } from '../../config/agent.ts';
import type { NetworkFlags, NetworkSettings } from '../../config/agent-keys/network.ts';
import { usageError } from '../terminal/exit.ts';
import { textFlag } from '../terminal/flags.ts';
import type { Io } from '../terminal/io.ts';

/** The two options as they were given. */
export function networkFlags(flags: Readonly<Record<string, unknown>>): NetworkFlags {
  return { proxy: textFlag(flags, 'proxy'), caFile: textFlag(flags, 'caFile') };
}

/** @throws ConfigError or ExitError (usage) for a proxy or a file that can't be used. */
export function outboundOf(io: Io, flags: Readonly<Record<string, unknown>>): Outbound {
  return outboundBy(findNetwork({ flags: networkFlags(flags), env: io.env, cwd: io.cwd }), io.env);
}

/** For a command that has read its settings. @throws ExitError (usage) for a variable that names no proxy. */
export function outboundBy({ proxy, ca }: NetworkSettings, env: NodeJS.ProcessEnv): Outbound {
  try {
    return new Outbound({ rules: proxyRules(env, proxy), extraCa: ca });
  } catch (error) {
    throw usageError(messageOf(error), error);
  }
}
