/** Server and key of a tunnel, and the way to the server: what the caller gave, else what the command line would use. */
import { type AgentSettings, loadAgentConfig } from '../config/agent.ts';
import { outboundBy } from '../cli/client/outbound.ts';
import { readAgentKey } from '../cli/client/token.ts';
import { ExitError } from '../cli/terminal/exit.ts';
import { messageOf } from '../base/errors.ts';
import type { Outbound } from '../base/net/outbound/outbound.ts';
import { CulvertError } from './error.ts';
import type { TunnelOptions } from './types.ts';

/** One word of base64 or base62, as the command line wants it. */
const KEY = /^[A-Za-z0-9_\-+/=.]{8,8192}$/;

export interface Connection {
  readonly server: URL;
  /** Reads the key anew: called before each connect. @throws CulvertError */
  readonly token: () => Promise<string>;
  /** Through the proxy of the environment or the settings. */
  readonly outbound: Outbound;
}

/** @throws CulvertError (usage) for a mistake in options, environment or settings files. */
export function connectionOf({ server, token }: TunnelOptions): Connection {
  if (token !== undefined && !KEY.test(token)) throw new CulvertError('usage', 'token: is not an access key');
  // As CULVERT_TOKEN: a server that only ./culvert.toml names does not get it.
  const env = token === undefined ? process.env : { ...process.env, CULVERT_TOKEN: token };
  const settings = asUsage(() => loadAgentConfig({ flags: { server }, env, cwd: process.cwd() }));
  return {
    server: settings.server,
    token: token === undefined ? () => foundKey(settings) : async () => token,
    outbound: asUsage(() => outboundBy(settings.network, process.env)),
  };
}

async function foundKey(settings: AgentSettings): Promise<string> {
  try {
    return (await readAgentKey(settings, process.env)).text;
  } catch (error) {
    if (!(error instanceof ExitError)) throw error;
    throw new CulvertError(error.exitCode === 3 ? 'unauthorized' : 'usage', error.message, { cause: error });
  }
}

/** A mistake that the program's own code reports, as one of this package. */
export function asUsage<T>(run: () => T): T {
  try {
    return run();
  } catch (cause) {
    throw new CulvertError('usage', messageOf(cause), { cause });
  }
}
