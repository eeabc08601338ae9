/** An organization's metrics in Prometheus' text format. The library knows how labels are escaped and what `promtool` wants of a name. */
import { Counter, Gauge, Registry } from 'prom-client';
import type { TunnelTraffic } from '../services/metrics/metrics.ts';

const LABELS = ['tunnel', 'subdomain'] as const;

export interface Exposition {
  readonly contentType: string;
  readonly text: string;
}

/** A registry per answer: what one organization sees was never in another's. */
export async function expose(tunnels: readonly TunnelTraffic[]): Promise<Exposition> {
  const registers = [new Registry()] as const;
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers: [...registers] });
  const counter = (name: string, help: string) =>
    new Counter({ name, help, labelNames: LABELS, registers: [...registers] });
  gauge('culvert_tunnels', 'Tunnels that exist').set(tunnels.length);
  gauge('culvert_tunnels_active', 'Tunnels that an agent serves').set(tunnels.filter(({ active }) => active).length);
  const requests = counter('culvert_requests_total', 'Requests and connections carried by a tunnel');
  const bytesIn = counter('culvert_bytes_in_total', 'Bytes from visitors to the service behind a tunnel');
  const bytesOut = counter('culvert_bytes_out_total', 'Bytes from the service behind a tunnel to visitors');
  for (const { id, subdomain, ...traffic } of tunnels) {
    const labels = { tunnel: id, subdomain };
    requests.inc(labels, traffic.requests);
    bytesIn.inc(labels, traffic.bytesIn);
    bytesOut.inc(labels, traffic.bytesOut);
  }
  return { contentType: registers[0].contentType, text: await registers[0].metrics() };
}
