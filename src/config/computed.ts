/**
 * The settings that are computed where the file leaves them empty. Pure; called by load.ts, and by the server again for listeners
 * on port 0, whose port is known only once they are bound.
 */
import { join, resolve } from 'node:path';
import { formatHost, formatHostPort, type HostPort, isWildcard } from '../base/net/addr.ts';
import type { ApiAtEdge } from './one-port.ts';

interface EdgeListeners {
  readonly domain: string;
  readonly http_listen: HostPort | null;
  readonly https_listen: HostPort | null;
  readonly tls: { readonly mode: string };
}

/** `https://{subdomain}.<domain>` when the edge has TLS, else `http://…`; the port only when it is not the scheme's own. */
export function edgePublicUrl(edge: EdgeListeners): string {
  const secure = edge.https_listen !== null && edge.tls.mode !== 'off';
  const port = secure ? edge.https_listen?.port : edge.http_listen?.port;
  const usual = secure ? 443 : 80;
  const suffix = port === undefined || port === usual ? '' : `:${port}`;
  return `${secure ? 'https' : 'http'}://{subdomain}.${edge.domain}${suffix}`;
}

/** `http://<listen>`, with TLS `https://`. For "every interface" the host is the edge's domain. */
export function apiPublicUrl({ listen, tls }: { listen: HostPort; tls: boolean }, domain: string): string {
  const host = isWildcard(listen.host) ? domain : formatHost(listen.host);
  const usual = tls ? 443 : 80;
  return `${tls ? 'https' : 'http'}://${host}${listen.port === usual ? '' : `:${listen.port}`}`;
}

/** What agents dial: the listener itself, or the edge's domain when it listens on every interface. */
export function agentsPublicAddress(listen: HostPort, domain: string): string {
  return isWildcard(listen.host) ? `${domain}:${listen.port}` : formatHostPort(listen);
}

/** What agents dial that come by the edge's https listener: the API's host there. Empty without an API there. */
export function agentsAddressAtEdge(at: ApiAtEdge | undefined, port: number): string {
  return at === undefined ? '' : formatHostPort({ host: at.host, port });
}

/** `releases_dir`, or its default. A folder for each version is in it. */
export function releasesDirOf({
  releases_dir: folder,
  data_dir: dataDir,
}: {
  readonly releases_dir: string | null;
  readonly data_dir: string;
}): string {
  return folder === null ? join(resolve(dataDir), 'releases') : resolve(folder);
}
