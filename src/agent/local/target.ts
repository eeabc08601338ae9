/**
 * What the user calls a target (`3000`, `host:3000`, a URL, `unix:/path`) as an address to dial. Made from the agent's own command line or
 * config file and from nothing else: the server can't name an address that the agent would dial.
 */
import type { Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import type { Protocol } from '../../wire/messages.ts';
import type { ReplyCode } from '../../wire/preamble.ts';

/** Who waits for a connection to a target. */
export interface WayOwner {
  onConnected(socket: Socket): void;
  onFault(fault: { readonly code: ReplyCode; readonly text: string }): void;
}

/** Connections to a target that are not just dialled: http2/service.ts. */
export interface LocalWay {
  /** Calls back once, and not at once. The function that it returns gives up: nothing is called then. */
  connect(owner: WayOwner): () => void;
  /** Cuts what it has connected. */
  close(): void;
}

export interface LocalTarget {
  /** As shown to people and to the server. */
  readonly text: string;
  /** Tried in this order. More than one only for this machine: development servers listen on either loopback address. */
  readonly hosts: readonly string[];
  /** Of a socket in the file system, which has none, the usual one of the protocol. */
  readonly port: number;
  /** A socket in the file system, in place of hosts and port. */
  readonly socketPath?: string | undefined;
  /** The agent speaks TLS to the target. */
  readonly tls: boolean;
  /** The target's certificate must be valid for `serverName`. */
  readonly verifyTls: boolean;
  /** Name for SNI and verification; undefined for an IP address. */
  readonly serverName: string | undefined;
  /** Authorities and client certificate; none: those of Node, and no certificate. */
  readonly secureContext?: SecureContext | undefined;
  /** How long it may take to accept; none: local.ts decides. */
  readonly connectTimeoutMs?: number | undefined;
  /** Each connection begins with a header of the PROXY protocol. For tcp tunnels: elsewhere one connection carries many visitors. */
  readonly proxyProtocol: boolean;
  /** Speaks HTTP/2 to the service; none: each connection is dialled, and carries HTTP/1.1 or what the visitor sends. */
  readonly way?: LocalWay | undefined;
  /** Protocols that TLS offers; none: HTTP/1.1. */
  readonly alpn?: string[] | undefined;
  /** Serves connections inside this process, in place of hosts and port. `root`: of a folder. */
  readonly inProcess?: { connect(): Socket; readonly root?: string } | undefined;
}

/** A target together with the protocol that its spelling asks for (`https://…` under `http` means TLS to the local port). */
export interface ParsedTarget {
  readonly target: LocalTarget;
  readonly protocol: Protocol;
  /** Path that is put before those of requests, as `unix:/path:/base` says it. */
  readonly base?: string | undefined;
}

export interface TargetOptions {
  readonly verifyTls?: boolean;
  readonly proxyProtocol?: boolean;
  /** In place of the target's own name. */
  readonly serverName?: string | undefined;
  readonly secureContext?: SecureContext | undefined;
  readonly connectTimeoutMs?: number | undefined;
}

/** The text is no target. The message says what one looks like. */
export class TargetError extends Error {
  override readonly name = 'TargetError';
}

const LOOPBACK_HOSTS = ['127.0.0.1', '::1'] as const;
const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443, 'ws:': 80, 'wss:': 443 };
const TLS_SCHEMES = new Set(['https:', 'wss:']);
/** Linux has 108 bytes for the path of a socket with the zero behind it, the BSDs and macOS 104. */
const MAX_SOCKET_PATH = 103;
/** Sent to the server in place of a port: it stores one for each tunnel, for display. */
const SOCKET_PORTS: Readonly<Record<Protocol, number>> = { http: 80, websocket: 80, https: 443, tcp: 1 };

/** Parses `text` for a tunnel of `protocol`. Throws TargetError. */
export function parseTarget(text: string, protocol: Protocol, options: TargetOptions = {}): ParsedTarget {
  const trimmed = text.trim();
  if (isFolder(trimmed))
    throw new TargetError(
      `"${text}" looks like a folder. Use \`culvert files ${trimmed.replace(/^https?:\/\//i, '')}\`, or file:///srv/www as a target`,
    );
  if (trimmed.startsWith('unix:')) return parseSocket(trimmed, protocol, options);
  const url = trimmed.includes('://') ? parseUrl(trimmed, protocol) : undefined;
  const { host, port } = url ?? parseHostPort(trimmed);
  const tls = protocol === 'https' || (url !== undefined && TLS_SCHEMES.has(url.scheme));
  const local = host === 'localhost';
  return {
    protocol: tls && protocol === 'http' ? 'https' : protocol,
    target: {
      text: `${tls ? 'https://' : ''}${host.includes(':') ? `[${host}]` : host}:${port}`,
      hosts: local ? LOOPBACK_HOSTS : [host],
      port,
      tls,
      ...reach(options, isAddress(host) ? undefined : host),
    },
  };
}

/** A path of this machine: `./site`, `/srv/www`, `~/site`, `C:\site`; `http:///srv/www` too, where a host is missing. */
function isFolder(text: string): boolean {
  return /^(?:\.{1,2}$|\.{0,2}[\\/]|~[\\/]|[a-z]:\\|https?:\/\/\/)/i.test(text);
}

/** `unix:/path` and `unix:/path:/base`; `unix:///path`, as Docker writes it, means the same. */
function parseSocket(text: string, protocol: Protocol, options: TargetOptions): ParsedTarget {
  const rest = text.slice('unix:'.length).replace(/^\/\/(?=\/)/, '');
  const colon = rest.indexOf(':/', 1);
  const socketPath = colon < 0 ? rest : rest.slice(0, colon);
  if (!socketPath.startsWith('/') || socketPath.endsWith('/') || socketPath.includes('\0')) {
    throw new TargetError(`"${text}" needs the absolute path of a socket: unix:/run/app.sock`);
  }
  if (Buffer.byteLength(socketPath) > MAX_SOCKET_PATH) {
    throw new TargetError(`"${text}": the path of a socket can have ${MAX_SOCKET_PATH} bytes. Use a symbolic link`);
  }
  const base = colon < 0 ? undefined : rest.slice(colon + 1);
  if (base !== undefined && protocol === 'tcp') throw new TargetError(`"${text}": a tcp tunnel has no paths`);
  return {
    protocol,
    base,
    target: {
      text: `unix:${socketPath}`,
      hosts: [],
      port: SOCKET_PORTS[protocol],
      socketPath,
      tls: protocol === 'https',
      ...reach(options, undefined),
    },
  };
}

/** What the options say of a target called `name`. */
function reach(
  options: TargetOptions,
  name: string | undefined,
): Pick<LocalTarget, 'verifyTls' | 'serverName' | 'proxyProtocol' | 'secureContext' | 'connectTimeoutMs'> {
  const { verifyTls = false, proxyProtocol = false, serverName = name, secureContext, connectTimeoutMs } = options;
  return { verifyTls, serverName, proxyProtocol, secureContext, connectTimeoutMs };
}

function parseUrl(text: string, protocol: Protocol): { host: string; port: number; scheme: string } {
  const url = URL.parse(text);
  if (url === null) throw new TargetError(`"${text}" is not a valid URL`);
  const scheme = url.protocol;
  if (scheme === 'h2c:' || scheme === 'h2:') {
    const plain = `${scheme === 'h2:' ? 'https' : 'http'}://${url.host}`;
    throw new TargetError(`"${text}": use ${plain} with --upstream-protocol http2`);
  }
  if (protocol === 'tcp' ? scheme !== 'tcp:' : DEFAULT_PORTS[scheme] === undefined) {
    throw new TargetError(
      `${protocol.startsWith('h') ? 'an' : 'a'} ${protocol} tunnel can't have the target "${text}": its scheme is ${scheme.slice(0, -1)}`,
    );
  }
  if (url.username !== '' || url.password !== '')
    throw new TargetError("a target can't contain a user name or password");
  if ((url.pathname !== '/' && url.pathname !== '') || url.search !== '' || url.hash !== '') {
    throw noPath(`${url.protocol}//${url.host}`, url.pathname);
  }
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const port = url.port === '' ? DEFAULT_PORTS[scheme] : Number(url.port);
  if (host === '' || port === undefined || port === 0) throw new TargetError(`"${text}" has no host and port`);
  return { host, port, scheme };
}

function noPath(host: string, path: string): TargetError {
  const prefix = path === '/' ? '' : `, and --path-prefix ${path} for this path alone`;
  return new TargetError(`a tunnel publishes a whole host, not a path. Use "${host}"${prefix}`);
}

function parseHostPort(text: string): { host: string; port: number } {
  const match = /^(?:(?:\[([0-9a-fA-F:.%]+)\]|([A-Za-z0-9._-]+))?:)?(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  const [, host, path] = /^([A-Za-z0-9._-]*:?\d{1,5})(\/.*)$/.exec(text) ?? [];
  if (host !== undefined && path !== undefined) throw noPath(host, path);
  if (match === null || port < 1 || port > 65_535) {
    throw new TargetError(
      `"${text}" is not a valid target. Use a port (3000), host:port (nas.local:8080), a URL (http://localhost:3000) or unix:/path. For a folder: \`culvert files FOLDER\``,
    );
  }
  return { host: (match[1] ?? match[2] ?? 'localhost').toLowerCase(), port };
}

function isAddress(host: string): boolean {
  return host.includes(':') || /^\d+(\.\d+){3}$/.test(host);
}
