/**
 * The agent's settings: flags > environment > ./culvert.toml > ~/.config/culvert/agent.toml > defaults. Used by the CLI's tunnel
 * commands; the server's settings are in schema.ts. Reads settings files alone; the key itself is read by cli/client/token.ts.
 * Which servers may receive a key: docs/decisions/0023-servers-that-get-a-key.md.
 */
import { existsSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { codeOf, messageOf } from '../base/errors.ts';
import { isConfined, outsideReason } from './agent-keys/confined.ts';
import { narrowingKeys } from './agent-keys/narrowing.ts';
import { networkKeys, networkOf, type NetworkFlags, type NetworkSettings } from './agent-keys/network.ts';
import { Credentials, userFolder } from './credentials.ts';
import { kindOfFile } from './text/file-kind.ts';
import { folderKeys } from './agent-keys/folder.ts';
import { routeKeys } from './agent-keys/routes.ts';
import { ConfigError, mistakeAt, readToml, type TomlFile } from './toml.ts';
import { upstreamKeys } from './agent-keys/upstream.ts';

export const DEFAULT_SERVER = 'http://127.0.0.1:9090';
const PROJECT_FILE = 'culvert.toml';

const tunnelKeys = z.strictObject({
  protocol: z.enum(['http', 'https', 'websocket', 'tcp', 'udp']).default('http'),
  /** `3000`, `"host:3000"`, a URL or `"unix:/path"`. */
  target: z
    .union([z.string(), z.int()], {
      error: 'must be a port or a text in quotes: "3000", "host:3000", a URL or "unix:/path"',
    })
    .optional(),
  subdomain: z.string().max(253).optional(),
  project: z.string().max(63).optional(),
  verify_tls: z.boolean().default(false),
  /** Of tcp tunnels. Off: a service that does not expect the header takes it for garbage. */
  proxy_protocol: z.boolean().default(false),
  /** false: neither the agent's own page nor the server keeps what passes. */
  inspect: z.boolean().default(true),
  /** Of udp tunnels: name or id of the private network whose datagrams it carries. */
  network: z.string().min(1, 'must be the name of a private network').max(253).optional(),
  /** Of udp tunnels. false: datagrams go by the agent's session alone, never by UDP to the server. */
  udp: z.boolean().default(true),
  /** Of udp tunnels: the WireGuard interface whose peers follow the network's devices. */
  manage: z.string().max(15).optional(),
  ...upstreamKeys,
  ...narrowingKeys,
  ...folderKeys,
  ...routeKeys,
});

const tunnel = tunnelKeys.superRefine(({ target, routes = [] }, context) => {
  if (target === undefined && routes.length === 0)
    context.addIssue({ code: 'custom', path: ['target'], message: 'is missing' });
});

/** Names appear in log lines, file names of no kind: letters, digits, dash, dot, underscore. */
const tunnelName = z
  .string()
  .regex(/^[A-Za-z0-9._-]{1,63}$/, 'a tunnel name has 1 to 63 letters, digits, ".", "_" or "-"');

export const agentSchema = z.strictObject({
  server: z.string().optional(),
  token_file: z.string().min(1, 'must be a file name').optional(),
  /** false: no page, and no tunnel's requests are kept anywhere. */
  inspect: z.boolean().default(true),
  /** Port on 127.0.0.1 of the page; of those behind it the next free one is taken. 0: the system chooses. */
  inspect_port: z.int().min(0).max(65_535).optional(),
  ...networkKeys,
  tunnels: z.record(tunnelName, tunnel).default({}),
});

export type TunnelSettings = z.output<typeof tunnel> & {
  readonly name: string;
  /** Of the settings file: its relative file names begin there. */
  readonly folder: string;
  /** Throws the mistake when the file may not name `path`: docs/agents.md tells which may. */
  readonly requireAllowed: (key: string, path: string) => void;
  /** The error for a mistake in this tunnel's `key` that only its user can see; points at file and line. */
  readonly mistake: (key: string, text: string) => ConfigError;
};

/** Where the key comes from. Read again at each connect. */
export type TokenSource =
  | { readonly kind: 'environment'; readonly variable: 'CULVERT_TOKEN' }
  | { readonly kind: 'file'; readonly path: string; readonly namedBy: string }
  /** What `culvert login` stored for the server. */
  | { readonly kind: 'login' };

export interface AgentSettings {
  readonly server: URL;
  /** Undefined when nothing names a key. */
  readonly token: TokenSource | undefined;
  /** Whether the agent has a page on which to look at requests. One file that says no is enough. */
  readonly inspect: boolean;
  /** Undefined: the usual one. */
  readonly inspectPort: number | undefined;
  /** The way to the server. */
  readonly network: NetworkSettings;
  /** In the order of the files, the project's first. */
  readonly tunnels: ReadonlyMap<string, TunnelSettings>;
  /** The files that were read. */
  readonly files: readonly string[];
  /** A server's culvert.toml in this folder, which was left out. */
  readonly ignored: string | undefined;
}

export interface AgentConfigInput {
  readonly flags: {
    readonly server?: string | undefined;
    readonly tokenFile?: string | undefined;
    readonly config?: string | undefined;
  } & NetworkFlags;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
}

/** @throws ConfigError with one line `file:line: key: what is wrong and what to do`. */
export function loadAgentConfig(input: AgentConfigInput): AgentSettings {
  const { project, user, ignored } = readFiles(input);
  const given = givenServer(input);
  const login = namesKey(input, [project, user]) ? undefined : loneLogin(input.env);
  const server = parseServer(input, project, user) ?? login ?? new URL(DEFAULT_SERVER);
  const users = user?.parsed.value.server;
  const trusted =
    project?.parsed.value.server === undefined ||
    isLoopback(server) ||
    given !== undefined ||
    (users !== undefined && namedServer(users, input.env)?.href === server.href);
  return {
    server,
    token: findToken(input, { server, project, user, trusted }),
    inspect: project?.parsed.value.inspect !== false && user?.parsed.value.inspect !== false,
    inspectPort: project?.parsed.value.inspect_port ?? user?.parsed.value.inspect_port,
    network: networkOf({ ...input, project, user }),
    tunnels: new Map([...tunnelsOf(user), ...tunnelsOf(project, true)]),
    files: [project, user].flatMap((file) => (file === undefined ? [] : [file.path])),
    ignored,
  };
}

/**
 * The server alone, for commands that send it no key or none but its own: that a key for agents is named changes nothing. Log-ins that
 * can't be read name none: who reads them next says why. `otherwise`: where nothing names a server. @throws ConfigError for a mistake in the settings files.
 */
export function findServer(input: AgentConfigInput & { readonly otherwise: URL }): URL {
  const { project, user } = readFiles(input);
  const named = parseServer(input, project, user);
  if (named !== undefined) return named;
  try {
    return loneLogin(input.env) ?? input.otherwise;
  } catch (error) {
    if (error instanceof ConfigError) return input.otherwise;
    throw error;
  }
}

/**
 * The tunnels of one file, for a check of that file alone. @throws ConfigError with every mistake that the file shows by itself;
 * those in the tunnels' targets show when their specs are made.
 */
export function checkAgentFile(file: string, cwd: string): TunnelSettings[] {
  const read = readAgentFile(resolve(cwd, file), file);
  const { server } = read.parsed.value;
  if (server !== undefined && !isServerForm(server))
    throw mistakeAt(file, read.parsed.lines, { path: ['server'], text: SERVER_FORM });
  return [...tunnelsOf(read)].map(([, settings]) => settings);
}

/** The way to the server alone. @throws ConfigError for a mistake in the settings files. */
export function findNetwork(input: AgentConfigInput): NetworkSettings {
  return networkOf({ ...input, ...readFiles(input) });
}

/** Files that settings may come from, whether they are there or not. */
export function settingsFiles({ flags, env, cwd }: AgentConfigInput): string[] {
  const named = flags.config ?? (env['CULVERT_AGENT_CONFIG'] || undefined);
  return named === undefined ? [join(cwd, PROJECT_FILE), userFile(env)] : [resolve(cwd, named)];
}

/** ./culvert.toml and the user's agent.toml, or the one file that is read in place of both. */
function readFiles({ flags, env, cwd }: AgentConfigInput): {
  project: ReadFile | undefined;
  user: ReadFile | undefined;
  ignored: string | undefined;
} {
  const named = flags.config ?? (env['CULVERT_AGENT_CONFIG'] || undefined);
  if (named !== undefined) return { project: undefined, user: readAgentFile(resolve(cwd, named)), ignored: undefined };
  const projectFile = join(cwd, PROJECT_FILE);
  const found = existsSync(projectFile) ? textOf(projectFile) : undefined;
  const isServers = found !== undefined && kindOfFile(found) === 'server';
  return {
    project: found === undefined || isServers ? undefined : parsed(projectFile, found),
    user: existsSync(userFile(env)) ? readAgentFile(userFile(env)) : undefined,
    ignored: isServers ? projectFile : undefined,
  };
}

function givenServer({ flags, env }: AgentConfigInput): string | undefined {
  return flags.server ?? (env['CULVERT_SERVER'] || undefined);
}

interface ReadFile {
  readonly path: string;
  readonly parsed: TomlFile<z.output<typeof agentSchema>>;
}

function findToken(
  input: AgentConfigInput,
  from: { server: URL; project: ReadFile | undefined; user: ReadFile | undefined; trusted: boolean },
): TokenSource | undefined {
  const { flags, env, cwd } = input;
  const { server, project, user, trusted } = from;
  if (flags.tokenFile !== undefined)
    return { kind: 'file', path: resolve(cwd, flags.tokenFile), namedBy: '--token-file' };
  if (env['CULVERT_TOKEN']) {
    if (!trusted) throw foreign(project, 'CULVERT_TOKEN');
    return { kind: 'environment', variable: 'CULVERT_TOKEN' };
  }
  if (env['CULVERT_TOKEN_FILE']) {
    if (!trusted) throw foreign(project, 'CULVERT_TOKEN_FILE');
    return { kind: 'file', path: resolve(cwd, env['CULVERT_TOKEN_FILE']), namedBy: 'CULVERT_TOKEN_FILE' };
  }
  const own = tokenFileOf(project, env);
  if (project !== undefined && own !== undefined) {
    if (!trusted && !isConfined(own, dirname(project.path))) {
      const text = 'is outside the project folder, and only this file sets the server. Use --token-file or --server';
      throw mistakeAt(project.path, project.parsed.lines, { path: ['token_file'], text: text });
    }
    return { kind: 'file', path: own, namedBy: project.path };
  }
  const users = tokenFileOf(user, env);
  if (user === undefined || users === undefined || !trusted) {
    if (new Credentials(env).of(server) !== undefined) return { kind: 'login' };
    if (user === undefined || users === undefined) return undefined;
    throw foreign(project, user.path);
  }
  return { kind: 'file', path: users, namedBy: user.path };
}

/** The refusal to send the user's key to a server that only a project file names. */
function foreign(project: ReadFile | undefined, source: string): ConfigError {
  const server = project?.parsed.value.server ?? '';
  const text = `your access key (${source}) was not sent, because only a project file sets this server. If you trust it, use --server ${server} or CULVERT_SERVER`;
  return mistakeAt(project?.path ?? PROJECT_FILE, project?.parsed.lines ?? new Map(), { path: ['server'], text: text });
}

/** A key from elsewhere must not follow a log-in. */
function namesKey({ flags, env }: AgentConfigInput, files: ReadonlyArray<ReadFile | undefined>): boolean {
  const named = flags.tokenFile ?? (env['CULVERT_TOKEN'] || env['CULVERT_TOKEN_FILE'] || undefined);
  return named !== undefined || files.some((file) => file?.parsed.value.token_file !== undefined);
}

/** Who has logged in at one server, and names no other, means that one. */
function loneLogin(env: NodeJS.ProcessEnv): URL | undefined {
  const [only, ...others] = new Credentials(env).servers();
  return only === undefined || others.length > 0 ? undefined : serverUrl(only);
}

function parseServer(
  input: AgentConfigInput,
  project: ReadFile | undefined,
  user: ReadFile | undefined,
): URL | undefined {
  const given = givenServer(input);
  if (given !== undefined) {
    const url = namedServer(given, input.env);
    if (url === undefined) throw new ConfigError(`--server or CULVERT_SERVER: ${SERVER_FORM}`);
    return url;
  }
  for (const file of [project, user]) {
    const text = file?.parsed.value.server;
    if (file === undefined || text === undefined) continue;
    const url = namedServer(text, input.env);
    if (url === undefined) throw mistakeAt(file.path, file.parsed.lines, { path: ['server'], text: SERVER_FORM });
    return url;
  }
  return undefined;
}

const SERVER_FORM = 'is not a server URL: use "https://tunnel.example.com", without user name, query or fragment';

/** `example.com` in place of a URL. */
export function isServerName(text: string): boolean {
  return !/^[a-z][a-z\d+.-]*:\/\//i.test(text);
}

/** Where the API of `name` may be: at the name itself, or below it. */
export function placesOf(name: string): URL[] {
  const own = serverUrl(name);
  if (own === undefined) return [];
  if (isLoopback(own) || isIP(own.hostname) !== 0 || own.hostname.startsWith('[')) return [own];
  const below = ['culvert', 'tunnel'].map((label) => new URL(own.href.replace('://', `://${label}.`)));
  return [own, ...below];
}

/** A URL as it is; of a name, the place where the user is logged in, else the name itself. */
function namedServer(text: string, env: NodeJS.ProcessEnv): URL | undefined {
  if (!isServerName(text)) return serverUrl(text);
  const places = placesOf(text);
  try {
    const credentials = new Credentials(env);
    return places.find((place) => credentials.of(place) !== undefined) ?? places[0];
  } catch (error) {
    // The reader of the login reports it.
    if (error instanceof ConfigError) return places[0];
    throw error;
  }
}

const isServerForm = (text: string): boolean => serverUrl(text) !== undefined;

/** A name without a scheme means https, but for this machine. */
function serverUrl(text: string): URL | undefined {
  const named = isServerName(text) ? URL.parse(`https://${text}`) : URL.parse(text);
  const url = isServerName(text) && named !== null && isLoopback(named) ? URL.parse(`http://${text}`) : named;
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname === '') return undefined;
  return url.username === '' && url.password === '' && url.search === '' && url.hash === '' ? url : undefined;
}

function isLoopback(url: URL): boolean {
  return url.hostname === 'localhost' || url.hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(url.hostname);
}

function userFile(env: NodeJS.ProcessEnv): string {
  return join(userFolder(env), 'agent.toml');
}

/** `token_file` as an absolute path: `~/` is the home folder, other relative paths start at the settings file. */
function tokenFileOf(file: ReadFile | undefined, env: NodeJS.ProcessEnv): string | undefined {
  const text = file?.parsed.value.token_file;
  if (file === undefined || text === undefined) return undefined;
  if (text.startsWith('~/')) return join(env['HOME'] || homedir(), text.slice(2));
  return resolve(dirname(file.path), text);
}

function* tunnelsOf(file: ReadFile | undefined, isProjects = false): Generator<[string, TunnelSettings]> {
  if (file === undefined) return;
  const { value, lines } = file.parsed;
  for (const [name, settings] of Object.entries(value.tunnels)) {
    const mistake = (key: string, text: string): ConfigError =>
      mistakeAt(file.path, lines, { path: ['tunnels', name, key], text: text });
    const folder = dirname(file.path);
    const requireAllowed = (key: string, path: string): void => {
      const reason = isProjects ? outsideReason(path, folder, PROJECT_FILE) : undefined;
      if (reason !== undefined) throw mistake(key, reason);
    };
    yield [name, { ...settings, name, folder, requireAllowed, mistake }];
  }
}

/** @throws ConfigError with every mistake of the file, or because it is a server's. `shown` is its name in messages. */
function readAgentFile(path: string, shown = path): ReadFile {
  const text = textOf(path, shown);
  if (kindOfFile(text) === 'server') {
    throw new ConfigError(`${shown}: is the settings file of a server. Name the file of an agent`);
  }
  return parsed(shown, text);
}

function textOf(path: string, shown = path): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const reason = codeOf(cause) === 'ENOENT' ? 'there is no such file' : messageOf(cause);
    throw new ConfigError(`${shown}: cannot be read: ${reason}`, { cause });
  }
}

const parsed = (path: string, text: string): ReadFile => ({
  path,
  parsed: readToml(text, { file: path, schema: agentSchema }),
});
