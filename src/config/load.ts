/**
 * Makes the server's settings: file > defaults, checked, computed, frozen. Called by the commands that need them (serve, admin, backup,
 * config check); other modules get the result as an argument.
 */
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { codeOf, messageOf } from '../base/errors.ts';
import { Secret } from '../base/secret.ts';
import { agentsAddressAtEdge, agentsPublicAddress, apiPublicUrl, edgePublicUrl } from './computed.ts';
import { findConflicts } from './conflicts.ts';
import { apiAtEdge, edgeHttpsPort } from './one-port.ts';
import { type ServerFile, type Settings, serverSchema } from './schema.ts';
import { ConfigError, readToml } from './toml.ts';
import { likelyWrong } from './warnings.ts';

export { ConfigError } from './toml.ts';

export interface LoadedConfig {
  readonly settings: Settings;
  /** For the log at start: what was set and has no effect, or was computed and may be wrong. */
  readonly warnings: readonly string[];
  /** The file that was read; null when the defaults alone hold. */
  readonly file: string | null;
}

export interface ConfigPlace {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** Read where it is there and nothing else is named. */
  readonly systemConfig?: string | undefined;
}

/**
 * Loads the file named, else the one of `CULVERT_CONFIG`, else that of the system, else the defaults. A relative name begins in `cwd`.
 * @throws ConfigError with a line `file:line: key: what is wrong and what to do` for each mistake.
 */
export function loadServerConfig(file: string | undefined, { env, cwd, systemConfig }: ConfigPlace): LoadedConfig {
  const named = file ?? (env['CULVERT_CONFIG'] || undefined) ?? (isThere(systemConfig) ? systemConfig : undefined);
  if (named === undefined) return { ...checkServerConfig('', 'defaults'), file: null };
  return { ...checkServerConfig(readText(named, cwd), named), file: named };
}

/** The same from a text; `file` is used in messages only. */
export function checkServerConfig(text: string, file: string): Omit<LoadedConfig, 'file'> {
  const { value, raw } = readToml(text, { file, schema: serverSchema, conflictsOf: findConflicts });
  const settings: Settings = deepFreeze({
    ...value,
    written: keysOf(raw),
    api: { ...value.api, public_url: value.api.public_url ?? apiPublicUrl(value.api, value.edge.domain) },
    edge: {
      ...value.edge,
      public_url: value.edge.public_url ?? edgePublicUrl(value.edge),
      tcp_public_host: value.edge.tcp_public_host ?? value.edge.domain,
    },
    agents: {
      ...value.agents,
      public_address: value.agents.public_address ?? agentsAddress(value),
    },
  });
  return { settings, warnings: likelyWrong(value, settings) };
}

/** `""` means "not set". */
function keysOf(raw: object, before = ''): ReadonlySet<string> {
  return new Set(
    Object.entries(raw).flatMap(([key, value]: [string, unknown]) => {
      if (value === '') return [];
      const isTable = typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
      return isTable ? [...keysOf(value, `${before}${key}.`)] : [before + key];
    }),
  );
}

function isThere(file: string | undefined): boolean {
  return file !== undefined && existsSync(file);
}

function agentsAddress(file: ServerFile): string {
  const { agents, edge } = file;
  return agents.listen === null
    ? agentsAddressAtEdge(apiAtEdge(file), edgeHttpsPort(edge))
    : agentsPublicAddress(agents.listen, edge.domain);
}

function readText(file: string, cwd: string): string {
  try {
    return readFileSync(resolve(cwd, file), 'utf8');
  } catch (cause) {
    const reason = codeOf(cause) === 'ENOENT' ? 'there is no such file' : messageOf(cause);
    throw new ConfigError(`${file}: cannot be read: ${reason}`, { cause });
  }
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || value instanceof Secret || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) deepFreeze(inner);
  return Object.freeze(value);
}
