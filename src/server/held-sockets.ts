/**
 * Listening sockets that systemd, or another process, holds for the server (sd_listen_fds(3)): while no process of the server is there, connections
 * wait in them. Called by cli/serve, once, before anything else is opened.
 */
import { formatHostPort, type HostPort } from '../base/net/addr.ts';
import type { Settings } from '../config/schema.ts';

/** By the name in `FileDescriptorName=`. */
export const HELD_NAMES = ['http', 'https', 'agents', 'api'] as const;
export type HeldName = (typeof HELD_NAMES)[number];

/** File descriptors; a listener without one is bound as the settings say. */
export type HeldSockets = Readonly<Partial<Record<HeldName, number>>>;

/** What passed sockets are described by; children must not take them for theirs. */
const VARIABLES = ['LISTEN_FDS', 'LISTEN_PID', 'LISTEN_FDNAMES', 'LISTEN_PIDFDID'] as const;
/** SD_LISTEN_FDS_START. */
const FIRST_FD = 3;
const MAX_SOCKETS = 64;

/** Takes the variables out of `env`. Throws Error, with what to change, when there is a socket that no listener takes: its visitors would wait for ever. */
export function takeHeldSockets(env: Record<string, string | undefined>, pid: number): HeldSockets {
  const { LISTEN_FDS: count, LISTEN_PID: owner, LISTEN_FDNAMES: names = '' } = env;
  for (const variable of VARIABLES) delete env[variable];
  // Meant for another process: a parent's, whose environment was passed on.
  if (count === undefined || owner === undefined || owner !== String(pid)) return {};
  const sockets = Number(count);
  if (!/^\d{1,3}$/.test(count) || sockets > MAX_SOCKETS)
    throw new Error(`LISTEN_FDS is "${count}", not a number of sockets`);
  const held: Partial<Record<HeldName, number>> = {};
  const given = names.split(':');
  for (let at = 0; at < sockets; at++) {
    const name = given[at] ?? '';
    if (!isName(name)) throw new Error(`the socket unit passes a socket named "${name}": ${WANTED}`);
    if (held[name] !== undefined)
      throw new Error(`the socket units pass two sockets named "${name}": leave one ListenStream= of them`);
    held[name] = FIRST_FD + at;
  }
  return held;
}

/** Whether any socket is held: then the next process has the connections that come meanwhile. */
export function isHeld(held: HeldSockets): boolean {
  return Object.keys(held).length > 0;
}

/** Says what to change when a socket is held for a listener that the settings turn off; undefined: there is none. */
export function idleSocket({ edge, agents }: Pick<Settings, 'edge' | 'agents'>, held: HeldSockets): string | undefined {
  const listeners = [
    ['http', 'edge.http_listen', edge.http_listen],
    ['https', 'edge.https_listen', edge.tls.mode === 'off' ? null : edge.https_listen],
    ['agents', 'agents.listen', agents.listen],
  ] as const;
  for (const [name, key, listener] of listeners) {
    if (held[name] === undefined || listener !== null) continue;
    return `a socket unit passes "${name}", but the settings turn that listener off: set ${key}, or disable the unit`;
  }
  return undefined;
}

/** What to tell an operator about sockets that listen elsewhere than the settings say: the settings are not what visitors meet. */
export function misplacedSockets(
  { edge, agents, api }: Settings,
  held: HeldSockets | undefined,
  bound: Readonly<Record<HeldName, Pick<HostPort, 'port'> | null>>,
): string[] {
  const wanted = { http: edge.http_listen, https: edge.https_listen, agents: agents.listen, api: api.listen };
  return HELD_NAMES.flatMap((name) => {
    const [at, found] = [wanted[name], bound[name]];
    if (held?.[name] === undefined || at === null || found === null || at.port === 0 || at.port === found.port)
      return [];
    return [
      `the socket unit "${name}" listens on port ${found.port}, but the settings have ${formatHostPort(at)}: change one of them`,
    ];
  });
}

/** `server.drain_seconds`. Left out it is shorter where new visitors wait, in sockets that are held, for the old process to leave. */
export function drainSecondsOf({ server }: Pick<Settings, 'server'>, held: HeldSockets = {}): number {
  return server.drain_seconds ?? (isHeld(held) ? 5 : 30);
}

const WANTED = `set FileDescriptorName= to ${HELD_NAMES.slice(0, -1).join(', ')} or ${HELD_NAMES.at(-1)}`;

function isName(name: string): name is HeldName {
  return (HELD_NAMES as readonly string[]).includes(name);
}
