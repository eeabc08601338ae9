/** An organization's metrics in Prometheus' text format. */
import type { NetworkTraffic, TunnelTraffic } from './service.ts';
import { type Exposition, MetricSheet } from '../core/http/metric-sheet.ts';

/** Of one organization: its live tunnels and its private networks. */
export function expose(tunnels: readonly TunnelTraffic[], networks: readonly NetworkTraffic[]): Promise<Exposition> {
  const sheet = new MetricSheet();
  const perTunnel = (field: 'requests' | 'bytesIn' | 'bytesOut') =>
    tunnels.map(({ id, subdomain, [field]: value }) => [{ tunnel: id, subdomain }, value] as const);
  sheet.gauge('culvert_tunnels', 'Tunnels that exist', tunnels.length);
  sheet.gauge('culvert_tunnels_active', 'Tunnels that an agent serves', tunnels.filter(({ active }) => active).length);
  sheet.counter('culvert_requests_total', 'Requests and connections carried by a tunnel', perTunnel('requests'));
  sheet.counter('culvert_bytes_in_total', 'Bytes from visitors to the service behind a tunnel', perTunnel('bytesIn'));
  sheet.counter('culvert_bytes_out_total', 'Bytes from the service behind a tunnel to visitors', perTunnel('bytesOut'));
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
  sheet.gauge('culvert_networks', 'Private networks that exist', networks.length);
  sheet.gauge(
    'culvert_network_attached',
    '1 while an agent carries the datagrams of a private network, else 0',
    perNetwork(({ attached }) => (attached ? 1 : 0)),
  );
  sheet.gauge(
    'culvert_network_devices',
    'Devices that are enrolled in a private network and have not run out',
    perNetwork(({ devices }) => devices),
  );
  sheet.counter(
    'culvert_network_packets_total',
    'Datagrams of a private network that were passed on: in, from clients; out, to them',
    inAndOut(
      ({ packetsIn }) => packetsIn,
      ({ packetsOut }) => packetsOut,
    ),
  );
  sheet.counter(
    'culvert_network_bytes_total',
    'Bytes in those datagrams',
    inAndOut(
      ({ bytesIn }) => bytesIn,
      ({ bytesOut }) => bytesOut,
    ),
  );
}
