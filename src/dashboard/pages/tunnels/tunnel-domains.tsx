/** Domains of the organization that lead to a tunnel. */
import { Anchor, Group, Stack, Text } from '@mantine/core';
import { Link } from 'wouter';
import { Loaded } from '../../parts/loaded.tsx';
import { Panel } from '../../parts/panel.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { useBoundDomains } from './tunnel-queries.ts';

export function TunnelDomains({ tunnelId }: { readonly tunnelId: string }) {
  const domains = useBoundDomains(tunnelId);
  return (
    <Panel title="Domains">
      <Loaded query={domains} lines={1}>
        {(bound) => (
          <Stack gap={4}>
            {bound.map(({ id, domain, verified }) => (
              <Group key={id} gap="xs" justify="space-between">
                <Text size="sm">{domain}</Text>
                {!verified && <StateBadge tone="warn">Not verified</StateBadge>}
              </Group>
            ))}
            <Text size="sm" c="dimmed">
              {bound.length === 0 && 'None of your own leads here. '}
              <Anchor component={Link} href="/domains" inherit underline="always">
                {bound.length === 0 ? 'Bind one' : 'All domains'}
              </Anchor>
            </Text>
          </Stack>
        )}
      </Loaded>
    </Panel>
  );
}
