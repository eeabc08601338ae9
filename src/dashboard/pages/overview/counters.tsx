/** The organization in four numbers. */
import { SimpleGrid } from '@mantine/core';
import type { Schemas } from '../../api/types.ts';
import { Figure } from '../../parts/figure.tsx';
import { bytesText, countText } from '../../parts/format.ts';
import { useConnections } from './overview-queries.ts';

export function Counters({ counters }: { readonly counters: Schemas['MetricsCounters'] }) {
  const connections = useConnections();
  const { networks } = counters;
  const carried = networks.filter(({ online }) => online).length;
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }} spacing="sm" role="group" aria-label="Now, and in the last 24 hours">
      <Figure title="Tunnels online" href="/tunnels" value={countText(counters.active_tunnels)}>
        of {countText(counters.total_tunnels)}
      </Figure>
      <Figure
        title="Agents connected"
        href="/connections"
        value={connections.data === undefined ? '–' : countText(connections.data.length)}
      >
        {networks.length === 0 ? 'now' : `private networks: ${carried} of ${networks.length} carried`}
      </Figure>
      <Figure title="Requests" href="/inspector" value={countText(counters.requests_last_24h)}>
        in 24 hours
      </Figure>
      <Figure title="Traffic" value={bytesText(counters.bytes_in_last_24h + counters.bytes_out_last_24h)}>
        {bytesText(counters.bytes_in_last_24h)} in, {bytesText(counters.bytes_out_last_24h)} out in 24 hours
      </Figure>
    </SimpleGrid>
  );
}
