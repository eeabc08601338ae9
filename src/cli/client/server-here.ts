/** The server that a command means where nothing names one: what stands in its options and files, else the server on this machine. */
import { existsSync } from 'node:fs';
import { formatHost, isWildcard } from '../../base/net/addr.ts';
import { DEFAULT_SERVER, findServer } from '../../config/agent.ts';
import { ConfigError } from '../../config/toml.ts';
import type { Io } from '../terminal/io.ts';

/** `flags`: those of the command line. @throws ConfigError for a mistake in the agent's settings files. */
export async function serverOf(io: Io, flags: Parameters<typeof findServer>[0]['flags']): Promise<URL> {
  return findServer({ flags, env: io.env, cwd: io.cwd, otherwise: await serverHere(io) });
}

/** The API of the server whose settings are on this machine, else the usual one. */
async function serverHere({ env, cwd, systemConfig }: Io): Promise<URL> {
  const usual = new URL(DEFAULT_SERVER);
  if (systemConfig === undefined || !existsSync(systemConfig)) return usual;
  // The schema of the server's settings takes longer to load than most commands run.
  const { loadServerConfig } = await import('../../config/load.ts');
  try {
    const { api } = loadServerConfig(systemConfig, { env, cwd }).settings;
    if (api.tls) return new URL(api.public_url);
    const host = isWildcard(api.listen.host) ? '127.0.0.1' : formatHost(api.listen.host);
    return new URL(`http://${host}:${api.listen.port}`);
  } catch (error) {
    // `serve` and `config check` say what is wrong with it.
    if (error instanceof ConfigError) return usual;
    throw error;
  }
}
