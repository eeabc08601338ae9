/** An organization's metrics in Prometheus' text format. */
import { DURATION_BUCKETS } from './latency/totals.ts';
import type { NetworkTraffic, TunnelTraffic } from './service.ts';
import { type Exposition, MetricSheet } from '../core/http/metric-sheet.ts';

/** Of one organization: its live tunnels and its private networks. */
export function expose(tunnels: readonly TunnelTraffic[], networks: readonly NetworkTraffic[]): Promise<Exposition> {
  const sheet = new MetricSheet();
  const perTunnel = (field: 'requests' | 'bytesIn' | 'bytesOut') =>
    tunnels.map(({ id, subdomain, [field]: value }) => [{ tunnel: id, subdomain }, value] as const);
  sheet.gauge('culvert_tunnels', 'Tunnels of the organization', tunnels.length);
  sheet.gauge('culvert_tunnels_active', 'Tunnels served by an agent', tunnels.filter(({ active }) => active).length);
  sheet.counter('culvert_requests_total', 'Requests and connections of a tunnel', perTunnel('requests'));
  sheet.counter('culvert_bytes_in_total', 'Bytes from visitors to the service behind a tunnel', perTunnel('bytesIn'));
  sheet.counter('culvert_bytes_out_total', 'Bytes from the service behind a tunnel to visitors', perTunnel('bytesOut'));
  sheet.histogram('culvert_request_duration_seconds', 'Duration of requests of a tunnel since the server started', {
    limits: DURATION_BUCKETS,
    rows: tunnels.flatMap(({ id, subdomain, durations }) =>
      durations === undefined ? [] : [[{ tunnel: id, subdomain }, durations] as const],
    ),
  });
  writeNetworks(sheet, networks);
  return sheet.page();
}

function writeNetworks(sheet: MetricSheet, networks: readonly NetworkTraffic[]): void {
  const perNetwork = (value: (network: NetworkTraffic) => number) =>
    networks.map((network) => [{ network: network.id, name: network.name }, value(network)] as const);
  const inAndOut = (inwards: (network: NetworkTraffic) => number, outwards: (network: NetworkTraffic) => number) =>
    networks.flatMap((network) => {
      const labels = { network: network.id, name: network.name };
      return [
        [{ ...labels, direction: 'in' }, inwards(network)] as const,
        [{ ...labels, direction: 'out' }, outwards(network)] as const,
      ];
    });
  sheet.gauge('culvert_networks', 'Private networks of the organization', networks.length);
  sheet.gauge(
    'culvert_network_attached',
    'Whether an agent serves a private network (1 or 0)',
    perNetwork(({ attached }) => (attached ? 1 : 0)),
  );
  sheet.gauge(
    'culvert_network_devices',
    'Enrolled devices of a private network, without expired ones',
    perNetwork(({ devices }) => devices),
  );
  sheet.counter(
    'culvert_network_packets_total',
    'Forwarded datagrams of a private network: in, from clients; out, to clients',
    inAndOut(
      ({ packetsIn }) => packetsIn,
      ({ packetsOut }) => packetsOut,
    ),
  );
  sheet.counter(
    'culvert_network_bytes_total',
    'Bytes of forwarded datagrams of a private network',
    inAndOut(
      ({ bytesIn }) => bytesIn,
      ({ bytesOut }) => bytesOut,
    ),
  );
}
