/**
 * Whether the command that an agent sends is of the tunnel that it claims. Others run what is shown: a key must not show them a command that
 * publishes something else. Pure. The forms of targets are those of agent/local/target.ts.
 */
import type { ClaimQuestion } from '../../../../plane/link.ts';
import type { Narrowing } from '../../../../plane/narrowing.ts';
import type { AgentCommand } from '../../../../wire/agent-command.ts';
import { plainPath } from '../../../../wire/path-routes.ts';

type Claimed = Pick<
  ClaimQuestion,
  'protocol' | 'target' | 'localPort' | 'subdomain' | 'project' | 'routes' | 'command'
>;
/** What the claim was granted by beside its name; null: its agent has no such flags. */
type Flags = Pick<Narrowing, 'domain' | 'remotePort'> | null;

interface Place {
  readonly host: string;
  readonly port: number;
}

/** What agents claim for a socket of the file system, and for a folder, which have no port. */
const NO_PORTS = { http: 80, websocket: 80, https: 443, tcp: 1 } as const;
const URL_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443, 'ws:': 80, 'wss:': 443 };

/**
 * The command as it may be kept; undefined: there is none, or it is not of this tunnel. `culvert start NAME` is kept by its flags alone: what it
 * publishes is in the settings file of the reader.
 */
export function fittingCommand(claimed: Claimed, flags: Flags): AgentCommand | undefined {
  const { command } = claimed;
  if (command === undefined || !fitsName(command, claimed, flags)) return undefined;
  if (command.name === 'start') return command;
  return fitsProtocol(command, claimed.protocol) && fitsTargets(command, claimed) ? command : undefined;
}

function fitsName({ texts = {} }: AgentCommand, { subdomain, project }: Claimed, flags: Flags): boolean {
  const port = texts['remote-port'];
  return (
    (texts.subdomain ?? subdomain) === subdomain &&
    (texts.project ?? project) === project &&
    (texts.domain === undefined || texts.domain.toLowerCase() === flags?.domain) &&
    (port === undefined || Number(port) === flags?.remotePort)
  );
}

/** `http` also makes tunnels for WebSockets, and with a target such as `https://nas:8443` one of https. */
function fitsProtocol({ name, target }: AgentCommand, protocol: Claimed['protocol']): boolean {
  if (name === 'files') return protocol === 'http';
  if (name !== 'http') return protocol === name;
  return /^\s*(?:https|wss):\/\//i.test(target)
    ? protocol === 'https'
    : protocol === 'http' || protocol === 'websocket';
}

/** Services by path stand in the claim as in the flags, that of all other paths last. What is longer than the claim's text may be fits nothing. */
function fitsTargets(
  { name, target, lists }: AgentCommand,
  { protocol, target: text, localPort, routes }: Claimed,
): boolean {
  const own = name === 'files' ? `file:${target}` : target;
  if (placeOf(own, protocol)?.port !== localPort) return false;
  const flags = lists?.route ?? [];
  if (routes === undefined) return flags.length === 0 && isSame(own, text, protocol);
  const shown = text.split(/, (?=\/)/);
  const all = [...flags, `/=${own}`];
  return (
    all.length === routes.length &&
    all.length === shown.length &&
    all.every((flag, i) => {
      const [, path = '', service = ''] = /^(.*?)=(.*)$/.exec(flag) ?? [];
      const start = `${routes[i]?.path} → `;
      return (
        plainPath(path) === routes[i]?.path &&
        shown[i]?.startsWith(start) === true &&
        isSame(service, shown[i].slice(start.length), protocol)
      );
    })
  );
}

function isSame(typed: string, claimed: string, protocol: Claimed['protocol']): boolean {
  const [one, other] = [placeOf(typed, protocol), placeOf(claimed, protocol)];
  return one !== undefined && one.host === other?.host && one.port === other.port;
}

/** `3000`, `host:3000`, a URL, `unix:/path`, a folder: as typed, or as a claim says it. Undefined: it is none of them. */
function placeOf(target: string, protocol: Claimed['protocol']): Place | undefined {
  const text = target.trim();
  // Where a folder is, a claim does not say.
  if (/^(?:file:|folder )/i.test(text)) return { host: 'folder', port: NO_PORTS.http };
  const socket = /^unix:(?:\/\/(?=\/))?(\/.*?)(?::\/.*)?$/.exec(text)?.[1];
  if (socket !== undefined) return { host: `unix:${socket}`, port: NO_PORTS[protocol] };
  const url = text.includes('://') ? URL.parse(text) : null;
  if (url !== null) {
    const port = url.port === '' ? URL_PORTS[url.protocol] : Number(url.port);
    return port === undefined ? undefined : { host: url.hostname.toLowerCase(), port };
  }
  const [, host = '', port] = /^(?:(.*):)?(\d{1,5})$/.exec(text) ?? [];
  return port === undefined ? undefined : { host: host === '' ? 'localhost' : host.toLowerCase(), port: Number(port) };
}
