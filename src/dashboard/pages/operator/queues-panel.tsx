/** What waits, and how long each line is. */
import { SimpleGrid, Text } from '@mantine/core';
import { Panel } from '../../parts/panel.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import type { Metrics } from './exposition.ts';
import { queuesOf } from './queues.ts';

export function QueuesPanel({ metrics }: { readonly metrics: Metrics }) {
  return (
    <Panel title="What waits" about="All of these are near 0 on a server that keeps up.">
      <SimpleGrid cols={{ base: 2, md: 4 }} spacing="md">
        {queuesOf(metrics).map(({ title, now, about, isLong }) => (
          <div key={title}>
            <Text size="xs" c="dimmed">
              {title}
            </Text>
            <Text size="lg" fw={600} className="culvert-number">
              {now}
            </Text>
            <Text size="xs" c="dimmed" className="culvert-wrap">
              {about}
            </Text>
            {isLong && <StateBadge tone="warn">long</StateBadge>}
          </div>
        ))}
      </SimpleGrid>
    </Panel>
  );
}
