/**
 * Tells an agent's settings file from a server's by the keys of its top level: both may be called `culvert.toml`. Used where a file
 * of either kind may lie: an agent's folder, `config check`, `doctor`.
 */
import { parse } from 'smol-toml';

export type FileKind = 'agent' | 'server';

/** Top keys of an agent's file that no server's file has. `server` too, which is a text there and a table here. */
const AGENT_KEYS: ReadonlySet<string> = new Set([
  'token_file',
  'inspect',
  'inspect_port',
  'proxy',
  'ca_file',
  'tunnels',
]);

/** Top keys of a server's file, but `server`. Kept by hand: an agent's start must not load the server's schema. */
export const SERVER_KEYS: ReadonlySet<string> = new Set([
  ...[
    'data_dir',
    'releases_url',
    'releases_dir',
    'log',
    'api',
    'accounts',
    'limits',
    'edge',
    'acme',
    'agents',
    'mail',
    'oauth',
  ],
  ...['edge_auth', 'billing', 'plans', 'pricing', 'inspector', 'metrics', 'backup', 'dns', 'export'],
]);

/** Undefined: none of its keys says. A file with keys of both is an agent's: there the server's keys are the mistake. */
export function kindOfFile(text: string): FileKind | undefined {
  const top = topOf(text);
  if (top === undefined) return kindOfBroken(text);
  const keys = Object.keys(top);
  if (typeof top['server'] === 'string' || keys.some((key) => AGENT_KEYS.has(key))) return 'agent';
  return typeof top['server'] === 'object' || keys.some((key) => SERVER_KEYS.has(key)) ? 'server' : undefined;
}

function topOf(text: string): Record<string, unknown> | undefined {
  try {
    return parse(text);
  } catch {
    return undefined; // the reader of its values reports the error
  }
}

const BROKEN_AGENT_KEY = /^\s*(?:tunnels\.|(?:server|token_file|inspect|inspect_port)\s*=)/m;
const BROKEN_AGENT_TABLE = /^\s*\[tunnels[.\]]/m;
const TABLE = /^\s*\[/m;

/** Of a text that is no TOML: by the lines that look like keys. */
function kindOfBroken(text: string): FileKind | undefined {
  // A table of a server's file may have a key of the same name.
  const [top = ''] = text.split(TABLE, 1);
  if (BROKEN_AGENT_KEY.test(top) || BROKEN_AGENT_TABLE.test(text)) return 'agent';
  const names = [...text.matchAll(/^\s*\[?([a-z_]+)[\].\s=]/gm)].map(([, name = '']) => name);
  return names.some((name) => name === 'server' || SERVER_KEYS.has(name)) ? 'server' : undefined;
}
