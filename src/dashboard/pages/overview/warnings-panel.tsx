/** Problems that need attention. Absent where there are none. */
import { Anchor, Group, List, Text, ThemeIcon } from '@mantine/core';
import { IconAlertTriangle, IconExclamationCircle } from '@tabler/icons-react';
import { Link } from 'wouter';
import { Panel } from '../../parts/panel.tsx';
import { useDomains, useReceivers, useTokens, useTunnels } from './overview-queries.ts';
import { type Warning, warningsOf } from './warnings.ts';

export function WarningsPanel() {
  const { data: tunnels, dataUpdatedAt: now } = useTunnels();
  const tokens = useTokens().data;
  const domains = useDomains().data;
  const receivers = useReceivers().data;
  const warnings = warningsOf({
    tunnels: tunnels ?? [],
    tokens: tokens ?? [],
    domains: domains ?? [],
    receivers: receivers ?? [],
    now,
  });
  if (warnings.length === 0) return null;
  return (
    <Panel title="Needs attention">
      <List listStyleType="none" spacing={6} role="list">
        {warnings.map((warning) => (
          <List.Item key={warning.key}>
            <Line {...warning} />
          </List.Item>
        ))}
      </List>
    </Panel>
  );
}

function Line({ tone, text, href }: Warning) {
  const Sign = tone === 'bad' ? IconExclamationCircle : IconAlertTriangle;
  return (
    <Group gap="xs" wrap="nowrap" align="flex-start">
      <ThemeIcon size="sm" variant="light" color={tone === 'bad' ? 'red' : 'yellow'} mt={1} aria-hidden>
        <Sign size={14} />
      </ThemeIcon>
      <Text size="sm" className="culvert-wrap">
        {text}{' '}
        <Anchor component={Link} href={href} size="sm" underline="always">
          {PLACES[href] ?? 'Open'}
        </Anchor>
      </Text>
    </Group>
  );
}

const PLACES: Readonly<Record<string, string>> = { '/keys': 'Open keys', '/domains': 'Open domains' };
