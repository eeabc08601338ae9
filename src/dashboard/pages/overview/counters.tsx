/** The organization in four numbers. */
import { Card, SimpleGrid, Text } from '@mantine/core';
import { Link } from 'wouter';
import type { Schemas } from '../../api/types.ts';
import { bytesText, countText } from '../../parts/words.ts';
import { useConnections } from './overview-queries.ts';

export function Counters({ counters }: { readonly counters: Schemas['MetricsCounters'] }) {
  const connections = useConnections();
  const { networks } = counters;
  const carried = networks.filter(({ online }) => online).length;
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }} spacing="sm" role="group" aria-label="Now, and in the last 24 hours">
      <Counter
        title="Tunnels online"
        href="/tunnels"
        value={countText(counters.active_tunnels)}
        about={`of ${countText(counters.total_tunnels)}`}
      />
      <Counter
        title="Agents connected"
        href="/connections"
        value={connections.data === undefined ? '' : countText(connections.data.length)}
        about={networks.length === 0 ? 'now' : `private networks: ${carried} of ${networks.length} carried`}
      />
      <Counter title="Requests" href="/inspector" value={countText(counters.requests_last_24h)} about="in 24 hours" />
      <Counter
        title="Traffic"
        value={bytesText(counters.bytes_in_last_24h + counters.bytes_out_last_24h)}
        about={`${bytesText(counters.bytes_in_last_24h)} in, ${bytesText(counters.bytes_out_last_24h)} out in 24 hours`}
      />
    </SimpleGrid>
  );
}

interface CounterProps {
  readonly title: string;
  readonly value: string;
  readonly about: string;
  readonly href?: string;
}

function Counter({ title, value, about, href }: CounterProps) {
  const inside = (
    <>
      <Text size="sm" c="dimmed">
        {title}
      </Text>
      <Text fz={26} fw={600} lh={1.25} className="culvert-number">
        {value === '' ? '–' : value}
      </Text>
      <Text size="xs" c="dimmed" className="culvert-number">
        {about}
      </Text>
    </>
  );
  if (href === undefined)
    return (
      <Card withBorder padding="md">
        {inside}
      </Card>
    );
  return (
    <Card withBorder padding="md" component={Link} href={href} className="culvert-card-link">
      {inside}
    </Card>
  );
}
