/** An organization's metrics in Prometheus' text format. */
import type { TunnelTraffic } from '../services/metrics/metrics.ts';
import { type Exposition, MetricSheet } from './metric-sheet.ts';

export function expose(tunnels: readonly TunnelTraffic[]): Promise<Exposition> {
  const sheet = new MetricSheet();
  const perTunnel = (field: 'requests' | 'bytesIn' | 'bytesOut') =>
    tunnels.map(({ id, subdomain, [field]: value }) => [{ tunnel: id, subdomain }, value] as const);
  sheet.gauge('culvert_tunnels', 'Tunnels that exist', tunnels.length);
  sheet.gauge('culvert_tunnels_active', 'Tunnels that an agent serves', tunnels.filter(({ active }) => active).length);
  sheet.counter('culvert_requests_total', 'Requests and connections carried by a tunnel', perTunnel('requests'));
  sheet.counter('culvert_bytes_in_total', 'Bytes from visitors to the service behind a tunnel', perTunnel('bytesIn'));
  sheet.counter('culvert_bytes_out_total', 'Bytes from the service behind a tunnel to visitors', perTunnel('bytesOut'));
  return sheet.page();
}
