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

/** `culvert http 3000 --subdomain shop --server https://…`: for a user logged in on that machine. */
export function agentCommand(
  { protocol, localPort, subdomain, project, server }: AgentCommand,
  shell: ShellKind,
): string {
  const words = ['culvert', commandOf(protocol), String(localPort)];
  if (subdomain !== undefined && subdomain !== '') words.push('--subdomain', quoted(subdomain, shell));
  if (project !== undefined) words.push('--project', quoted(project, shell));
  return [...words, '--server', quoted(serverText(server), shell)].join(' ');
}

/** Placeholder until a key is made. */
export const NO_KEY_YET = '<key>';

/** The same with a key. It goes by the environment: all users of the machine see arguments. */
export function withKey(command: string, key: string, shell: ShellKind): string {
  if (shell === 'posix') return `${KEY_VARIABLE}=${quoted(key, shell)} ${command}`;
  // A plain word behind `=` would be run as a command.
  return `$env:${KEY_VARIABLE} = ${singleQuoted(key, "''")}; ${command}`;
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

/** A tunnel for WebSockets is one of HTTP to the agent. */
function commandOf(protocol: TunnelProtocol): 'http' | 'https' | 'tcp' {
  return protocol === 'websocket' ? 'http' : protocol;
}

/** Plain words as they are; in PowerShell any character but letters and digits may be special, at least at the start. */
function quoted(text: string, shell: ShellKind): string {
  if (shell === 'powershell') return /^\w[\w-]*$/.test(text) ? text : singleQuoted(text, "''");
  return /^[\w.:/%+=,-]+$/.test(text) ? text : singleQuoted(text, String.raw`'\''`);
}

/** `inner`: what a quote within becomes. */
function singleQuoted(text: string, inner: string): string {
  return `'${text.replaceAll("'", () => inner)}'`;
}
