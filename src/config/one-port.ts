/**
 * Whether the API is served on the edge's https listener too, and which hosts mean it there. Pure; asked by the server's wiring and by the checks
 * of the settings file. Why: docs/decisions/0027-one-port.md.
 */
import type { HostPort } from '../base/net/addr.ts';

interface Listeners {
  readonly api: { readonly public_url: string | null };
  readonly edge: {
    readonly domain: string;
    readonly public_url: string | null;
    readonly https_listen: HostPort | null;
    readonly tls: { readonly mode: string };
  };
  readonly agents: { readonly listen: HostPort | null };
}

export interface ApiAtEdge {
  /** Of `api.public_url`: lower case, an IPv6 address without brackets. */
  readonly host: string;
  /** `edge.domain`, which leads to the API; undefined when it is the API's host itself. */
  readonly bareHost: string | undefined;
  /** Of `api.public_url`. */
  readonly port: number;
}

/** Paths under which the control plane serves the API. */
const PATHS: ReadonlySet<string> = new Set(['', '/', '/api', '/api/']);
const HTTPS_PORT = 443;

/**
 * Undefined: the API has its own listener alone. It is on the edge where `api.public_url` leads to the edge's https port, and always where agents
 * come by that port alone. A URL with another port or path is that of a listener or a proxy beside it.
 */
export function apiAtEdge({ api, edge, agents }: Listeners): ApiAtEdge | undefined {
  if (edge.https_listen === null || edge.tls.mode === 'off' || api.public_url === null) return undefined;
  const url = new URL(api.public_url);
  if (url.protocol !== 'https:' || !PATHS.has(url.pathname)) return undefined;
  const port = portOf(url);
  if (agents.listen !== null && port !== edgeHttpsPort(edge)) return undefined;
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  const domain = edge.domain.toLowerCase();
  return { host, bareHost: domain === host ? undefined : domain, port };
}

/** Of the public URLs of tunnels, where they are https; else of the listener. 0: the listener's own, which it learns late. */
export function edgeHttpsPort({ public_url: url, https_listen: listener }: Listeners['edge']): number {
  const match = /^https:\/\/[^/]*?(?::(\d+))?$/.exec(url ?? '');
  return match === null ? (listener?.port ?? HTTPS_PORT) : Number(match[1] ?? HTTPS_PORT);
}

function portOf(url: URL): number {
  return url.port === '' ? HTTPS_PORT : Number(url.port);
}
