/**
 * What every part of a start is given, and what only becomes known while listeners bind: the ports, where settings say 0. A part is a function
 * (life, starting, what it stands on) → what others stand on; it registers with `life` what it opens, so that a start that fails closes it.
 */
import type { HostPort } from '../../base/net/addr.ts';
import type { Logger } from '../../base/log.ts';
import { agentsAddressAtEdge, agentsPublicAddress, apiPublicUrl, edgePublicUrl } from '../../config/computed.ts';
import { apiAtEdge, edgeHttpsPort } from '../../config/one-port.ts';
import type { Settings } from '../../config/schema.ts';
import type { Discovery } from '../../control/core/http/context.ts';
import type { ControlPlane } from '../../control/open.ts';
import type { BoundAddress, NodeAddresses } from '../../plane/link.ts';
import { type Certificates, pinOf } from '../certificates/certificates.ts';
import type { ServerOptions } from '../server.ts';

export interface Starting {
  readonly settings: Settings;
  readonly options: ServerOptions;
  readonly log: Logger;
  readonly late: Late;
}

export interface Late {
  edgeTemplate: string;
  apiUrl: string;
  discovery: Omit<Discovery, 'api_url'> | undefined;
  /** Tunnels that agents served when the last process ended: they are expected back. */
  awaited: readonly string[];
  /** Of the agents' certificate that is served now. */
  pin: ReturnType<typeof pinOf>;
}

/** As the settings say, until the listeners are bound. */
export function newLate({ edge, api }: Settings): Late {
  return { edgeTemplate: edge.public_url, apiUrl: api.public_url, discovery: undefined, awaited: [], pin: {} };
}

interface Bound {
  readonly addresses: NodeAddresses;
  readonly certificates: Certificates;
  readonly control: ControlPlane;
}

/** Fills in what depends on the ports that the data node has. */
export function learnPorts(
  { settings, options, log, late }: Starting,
  { addresses, certificates, control }: Bound,
): void {
  const { version } = options;
  const { http, https, agents } = addresses;
  const edge = settings.edge;
  const withPort = (at: HostPort | null, bound: BoundAddress | null) =>
    at === null || bound === null ? at : { host: at.host, port: bound.port };
  const computed = edgePublicUrl({
    domain: edge.domain,
    http_listen: withPort(edge.http_listen, http),
    https_listen: withPort(edge.https_listen, https),
    tls: edge.tls,
  });
  if (edge.public_url === edgePublicUrl(edge) && computed !== edge.public_url) {
    late.edgeTemplate = computed;
    void control.tunnels.announceAll().catch((error: unknown) => {
      log.error({ err: error }, 'could not update the URLs of all tunnels. Restart the server');
    });
  }
  late.pin = pinOf(certificates.agents.cert);
  const dial = agentAddresses(settings, { agents: agents.port, https: https?.port ?? 0 });
  late.discovery = {
    version,
    agent_address: dial[0] ?? settings.agents.public_address,
    agent_addresses: dial,
    edge_domain: edge.domain,
    server_id: control.serverId,
  };
}

/** Where agents can dial, with the ports that listeners on port 0 have got: their own listener first, then the https listener of the edge. */
function agentAddresses(settings: Settings, bound: { readonly agents: number; readonly https: number }): string[] {
  const { agents, edge } = settings;
  const at = apiAtEdge(settings);
  const atEdge = at === undefined ? [] : [agentsAddressAtEdge(at, edgeHttpsPort(edge) || bound.https)];
  const dial = agents.public_address;
  if (agents.listen === null) return dial === agentsAddressAtEdge(at, edgeHttpsPort(edge)) ? atEdge : [dial];
  const isComputed = dial === agentsPublicAddress(agents.listen, edge.domain);
  const own = isComputed ? agentsPublicAddress({ host: agents.listen.host, port: bound.agents }, edge.domain) : dial;
  return [own, ...atEdge.filter((one) => one !== own)];
}

/** Fills in the URL of the API, once its listener has a port. */
export function learnApiUrl({ settings, late }: Starting, port: number): void {
  const { api, edge } = settings;
  if (api.public_url !== apiPublicUrl(api, edge.domain)) return;
  late.apiUrl = apiPublicUrl({ listen: { host: api.listen.host, port }, tls: api.tls }, edge.domain);
}
