/** The command that connects an agent on the user's own machine. Pure; drawn by connect-command.tsx. */

export type TunnelProtocol = 'http' | 'https' | 'websocket' | 'tcp';
/** Whose words the line is in. */
export type ShellKind = 'posix' | 'powershell';

export interface AgentCommand {
  readonly protocol: TunnelProtocol;
  readonly localPort: number;
  /** Its name in the project, or the full label of a tunnel that is there; the server picks one when there is none. */
  readonly subdomain?: string | undefined;
  /** Slug; left out for the default project. */
  readonly project?: string | undefined;
  /** The API's address. */
  readonly server: URL;
}

export const KEY_VARIABLE = 'CULVERT_TOKEN';
const KEY_FILE = '--token-file';

/** The command that the server knows of a tunnel's last agent. */
export interface StartCommand {
  readonly words: readonly string[];
  readonly key: { readonly name: string; readonly is_login: boolean; readonly is_valid: boolean } | null;
}

/** The same as a line. `hasKey`: with a new key in front, so that no file has to hold one. */
export function startCommandLine(
  { words }: Pick<StartCommand, 'words'>,
  { server, shell, hasKey = false }: { readonly server: URL; readonly shell: ShellKind; readonly hasKey?: boolean },
): string {
  const at = hasKey ? words.indexOf(KEY_FILE) : -1;
  const kept = at < 0 ? words : words.toSpliced(at, 2);
  return [...kept.map((word) => (isFlag(word) ? word : quoted(word, shell))), ...serverWords(server, shell)].join(' ');
}

/** Whether its agent reads the key from a file. */
export function hasKeyFile({ words }: Pick<StartCommand, 'words'>): boolean {
  return words.includes(KEY_FILE);
}

/** `culvert http 3000 --subdomain shop --server https://…`: for a user logged in on that machine. */
export function agentCommand(
  { protocol, localPort, subdomain, project, server }: AgentCommand,
  shell: ShellKind,
): string {
  const words = ['culvert', commandOf(protocol), String(localPort)];
  if (subdomain !== undefined && subdomain !== '') words.push('--subdomain', quoted(subdomain, shell));
  if (project !== undefined) words.push('--project', quoted(project, shell));
  return [...words, ...serverWords(server, shell)].join(' ');
}

/** Placeholder until a key is made; names the one that the last agent had. */
export function keyPlaceholder(start: Pick<StartCommand, 'key'> | null): string {
  return start === null || start.key === null || !start.key.is_valid || start.key.is_login
    ? '<key>'
    : `<key ${start.key.name}>`;
}

/** The same with a key. It goes by the environment: all users of the machine see arguments. */
export function withKey(command: string, key: string, shell: ShellKind): string {
  if (shell === 'posix') return `${KEY_VARIABLE}=${quoted(key, shell)} ${command}`;
  // A plain word behind `=` would be run as a command.
  return `$env:${KEY_VARIABLE} = ${inPowerShell(key)}; ${command}`;
}

export function loginCommand(server: URL, shell: ShellKind): string {
  return `culvert login --server ${quoted(serverText(server), shell)}`;
}

/** The name inside its project: the scope of a key knows no suffix. */
export function nameInProject(subdomain: string, project: string | undefined): string {
  if (project === undefined || !subdomain.endsWith(`-${project}`)) return subdomain;
  return subdomain.slice(0, -project.length - 1) || subdomain;
}

/** The address as the command line keeps it: without a slash at the end. */
export function serverText(server: URL): string {
  return server.origin + server.pathname.replace(/\/+$/, '');
}

function serverWords(server: URL, shell: ShellKind): readonly string[] {
  return ['--server', quoted(serverText(server), shell)];
}

function isFlag(word: string): boolean {
  return /^--[a-z-]+$/.test(word);
}

/** A tunnel for WebSockets is one of HTTP to the agent. */
function commandOf(protocol: TunnelProtocol): 'http' | 'https' | 'tcp' {
  return protocol === 'websocket' ? 'http' : protocol;
}

/** Plain words as they are; in PowerShell any character but letters and digits may be special, at least at the start. */
function quoted(text: string, shell: ShellKind): string {
  if (shell === 'powershell') return /^\w[\w-]*$/.test(text) ? text : inPowerShell(text);
  return /^[\w.:/%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** PowerShell also treats the four curved single quotes as quotes. */
function inPowerShell(text: string): string {
  return `'${text.replaceAll(/['\u2018\u2019\u201a\u201b]/g, '$&$&')}'`;
}
