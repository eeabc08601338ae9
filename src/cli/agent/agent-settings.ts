/** Settings and options of the commands that run an agent: `http`, `https`, `tcp`, `udp` and `start`. */
import { type AgentConfigInput, type AgentSettings, loadAgentConfig } from '../../config/agent.ts';
import { networkFlags } from '../client/outbound.ts';
import type { Invocation } from '../terminal/command.ts';
import { usageError } from '../terminal/exit.ts';
import { countFlag, refuseFlags, textFlag } from '../terminal/flags.ts';
import type { Io } from '../terminal/io.ts';
import type { AgentFlags } from './run-agent.ts';

/** @throws ConfigError for a mistake in a settings file. */
export function settingsOf(io: Io, invocation: Invocation): AgentSettings {
  return loadAgentConfig(inputOf(io, invocation));
}

export function inputOf(io: Io, invocation: Invocation): AgentConfigInput {
  return {
    flags: {
      server: textFlag(invocation.flags, 'server'),
      tokenFile: textFlag(invocation.flags, 'tokenFile'),
      config: textFlag(invocation.flags, 'config'),
      ...networkFlags(invocation.flags),
    },
    env: io.env,
    cwd: io.cwd,
  };
}

/** `--subdomain`. @throws ExitError (usage) for a whole host name. */
export function subdomainFlag({ flags }: Invocation): string | undefined {
  const name = textFlag(flags, 'subdomain');
  const fault = subdomainFault(name, (first) => `--subdomain ${first}`);
  if (fault !== undefined) throw usageError(`--subdomain: ${fault}`);
  return name;
}

/** ngrok takes whole host names. `write`: how the name alone is given. */
export function subdomainFault(name: string | undefined, write: (first: string) => string): string | undefined {
  const [first = '', ...rest] = (name ?? '').split('.');
  if (rest.length === 0) return undefined;
  const own = `\`culvert domains add ${name}\``;
  return `takes the name alone: ${write(first)}. A domain of your own needs ${own} first, then domain in place of subdomain`;
}

/** @throws ExitError (usage) */
export function agentFlags({ flags }: Invocation): AgentFlags {
  const urlFile = textFlag(flags, 'urlFile');
  const inspectPort = countFlag(flags, 'inspectPort');
  if (inspectPort !== undefined && inspectPort > 65_535) throw usageError('--inspect-port: a port is at most 65535');
  // commander sets `inspect` of its own accord when there is a --no-inspect.
  const inspect = flags['inspect'] !== false;
  if (!inspect) refuseFlags(flags, ['inspectPort'], "can't be used with --no-inspect");
  return {
    json: flags['json'] === true,
    quiet: flags['quiet'] === true,
    inspect,
    ...(inspectPort === undefined ? {} : { inspectPort }),
    ...(urlFile === undefined ? {} : { urlFile }),
  };
}
