/**
 * Reads the key that the settings point at. Called before each connect, so that a key file that was replaced counts at once.
 */
import type { AgentSettings } from '../../config/agent.ts';
import { Credentials, serverName } from '../../config/credentials.ts';
import { EXIT, ExitError, usageError } from '../terminal/exit.ts';
import { isMasterKey } from './key-kind.ts';
import { readKeyText } from './key-text.ts';

/** The longest key is a wire form of under 1 KB in base64. */
const MAX_BYTES = 8_192;

const WAYS = `or provide a key in one of these ways, never as an argument:
  CULVERT_TOKEN        the key itself
  CULVERT_TOKEN_FILE   a file that contains it
  --token-file FILE    the same
  token_file = "FILE"  in ./culvert.toml or ~/.config/culvert/agent.toml`;

export interface Key {
  readonly text: string;
  /** Name of the key when `culvert login` stored it. */
  readonly loginLabel: string | undefined;
}

/** The key. @throws ExitError that says what is wrong with its source, and never what the source holds: usage, or not authorized. */
export async function readKey(settings: AgentSettings, env: NodeJS.ProcessEnv): Promise<Key> {
  const source = settings.token;
  if (source === undefined) {
    const { server } = settings;
    throw usageError(
      `no key for ${serverName(server)} (--server names another). Log in with \`${loginCommand(server)}\`, ${WAYS}`,
    );
  }
  switch (source.kind) {
    case 'environment':
      return { text: checked(env[source.variable] ?? '', source.variable), loginLabel: undefined };
    case 'file':
      return { text: checked(await readKeyFile(source.path), source.path), loginLabel: undefined };
    case 'login':
      return readLogin(settings.server, new Credentials(env));
    default:
      return source satisfies never;
  }
}

/** The key, for an agent. @throws ExitError as `readKey` does, and not authorized for a master key. */
export async function readAgentKey(settings: AgentSettings, env: NodeJS.ProcessEnv): Promise<Key> {
  const key = await readKey(settings, env);
  if (!isMasterKey(key.text)) return key;
  const mint = `culvert tokens mint NAME --project SLUG --server ${serverName(settings.server)}`;
  throw new ExitError(
    EXIT.unauthorized,
    `this is a master key, which opens no tunnels. Create an access key for the agent: ${mint}`,
  );
}

/** What to do when a key that `culvert login` stored no longer opens the server. */
export function loginCommand(server: URL): string {
  return `culvert login --server ${serverName(server)}`;
}

function readLogin(server: URL, credentials: Credentials): Key {
  const login = credentials.of(server);
  if (login === undefined) throw new ExitError(EXIT.unauthorized, `You have logged out. Run ${loginCommand(server)}`);
  if (Date.parse(login.expires_at) <= Date.now()) {
    const message = `Your login expired on ${login.expires_at.slice(0, 10)}. Run ${loginCommand(server)}`;
    throw new ExitError(EXIT.unauthorized, message);
  }
  return { text: checked(login.wire_bytes_b64.reveal(), credentials.path), loginLabel: login.label };
}

function checked(text: string, where: string): string {
  const token = text.trim();
  if (token === '') throw usageError(`${where}: has no key`);
  // One word of base64 or base62. This also keeps files that are no keys from being sent anywhere.
  if (!/^[A-Za-z0-9_\-+/=.]{8,}$/.test(token)) throw usageError(`${where}: is not an access key`);
  return token;
}

function readKeyFile(path: string): Promise<string> {
  return readKeyText({ path, shown: path, maxBytes: MAX_BYTES, tooLong: 'is not an access key' });
}
