/** The first page: state of tunnels, traffic and plan. An empty organization sees the steps to the first tunnel. */
import { Anchor, Group, List, SimpleGrid, Stack, Text, ThemeIcon } from '@mantine/core';
import { IconAlertTriangle, IconExclamationCircle, IconInfoCircle } from '@tabler/icons-react';
import { lazy, Suspense, useState } from 'react';
import { Link } from 'wouter';
import { useAccount } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { Ago } from '../../parts/time/ago.tsx';
import { ConnectButton } from '../../parts/connect/connect-agent.tsx';
import { Figure } from '../../parts/charts/figure.tsx';
import { bytesText, countText } from '../../parts/format.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { Panel } from '../../parts/panel.tsx';
import { ShowAll } from '../../parts/show-all.tsx';
import { LatencyPanel } from '../latency/latency-panel.tsx';
import { FirstTunnel } from './first-tunnel.tsx';
import { LatestRequests } from './latest-requests.tsx';
import { LiveTunnels } from './live-tunnels.tsx';
import { useAttention, useConnections, useCounters, useReceivers, useTunnels } from './overview-queries.ts';
import { PlanPanel } from './plan-panel.tsx';
import { TrafficPanel } from './traffic-panel.tsx';
import { type Warning, warningsOf } from './warnings.ts';

/** Of a server that was just set up, for its operator alone. */
const FirstRun = lazy(async () => ({ default: (await import('./first-run.tsx')).FirstRun }));

export function OverviewPage() {
  const { is_superadmin: isOperator } = useAccount();
  const setup = isOperator ? (
    <Suspense>
      <FirstRun />
    </Suspense>
  ) : null;
  const counters = useCounters();
  // Decided once: a user on the way to the first tunnel sees it come, and continues by themselves.
  const [isFirst, setFirst] = useState<boolean>();
  if (isFirst === undefined && counters.data !== undefined) setFirst(isEmpty(counters.data));
  if (isFirst === true)
    return (
      <Page title="Overview" about="Publish your service on a public URL within a minute.">
        {setup}
        <FirstTunnel onDone={() => setFirst(false)} />
      </Page>
    );
  return (
    <Page title="Overview" actions={<ConnectButton />}>
      {setup}
      <Loaded query={counters} lines={6}>
        {(data) => <OverviewPanels counters={data} />}
      </Loaded>
    </Page>
  );
}

function isEmpty({ total_tunnels: tunnels, networks }: Schemas['MetricsCounters']): boolean {
  return tunnels === 0 && networks.length === 0;
}

function OverviewPanels({ counters }: { readonly counters: Schemas['MetricsCounters'] }) {
  return (
    <Stack gap="md">
      <WarningsPanel />
      <Counters counters={counters} />
      <TrafficPanel />
      <LatencyPanel />
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
        <LiveTunnels />
        <LatestRequests />
      </SimpleGrid>
      <PlanPanel />
    </Stack>
  );
}

/** The organization in four numbers. */
function Counters({ counters }: { readonly counters: Schemas['MetricsCounters'] }) {
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
        {networks.length === 0 ? 'now' : `private networks: ${carried} of ${networks.length} online`}
      </Figure>
      <Figure title="Requests" href="/inspector" value={countText(counters.requests_last_24h)}>
        forwarded in 24 hours
      </Figure>
      <Figure title="Traffic" value={bytesText(counters.bytes_in_last_24h + counters.bytes_out_last_24h)}>
        {bytesText(counters.bytes_in_last_24h)} in, {bytesText(counters.bytes_out_last_24h)} out in 24 hours
      </Figure>
    </SimpleGrid>
  );
}

/** Warnings shown at first, so that the panels below stay visible. */
const MOST_WARNINGS = 8;

/** Problems that need attention. Absent where there are none. */
function WarningsPanel() {
  const { data: tunnels, dataUpdatedAt: now } = useTunnels();
  const items = useAttention().data;
  const receivers = useReceivers().data;
  const [isAll, setAll] = useState(false);
  const all = warningsOf({ items: items ?? [], tunnels: tunnels ?? [], receivers: receivers ?? [], now });
  if (all.length === 0) return null;
  const shown = isAll ? all : all.slice(0, MOST_WARNINGS);
  return (
    <Panel title="Needs attention">
      <List listStyleType="none" spacing={6} role="list">
        {shown.map((warning) => (
          <List.Item key={warning.key}>
            <Line {...warning} />
          </List.Item>
        ))}
      </List>
      {shown.length < all.length && <ShowAll count={all.length} shown={shown.length} onShow={() => setAll(true)} />}
    </Panel>
  );
}

const SIGNS = {
  bad: { color: 'red', icon: IconExclamationCircle },
  warn: { color: 'yellow', icon: IconAlertTriangle },
  info: { color: 'blue', icon: IconInfoCircle },
} as const;

function Line({ tone, title, detail, since, href, label }: Warning) {
  const { color, icon: Sign } = SIGNS[tone];
  return (
    <Group gap="xs" wrap="nowrap" align="flex-start">
      <ThemeIcon size="sm" variant="light" color={color} mt={1} aria-hidden>
        <Sign size={14} />
      </ThemeIcon>
      <Text size="sm" className="culvert-wrap" component="div">
        <Text span inherit fw={600}>
          {title}
        </Text>
        . {detail}{' '}
        <Anchor component={Link} href={href} size="sm" underline="always">
          {label}
        </Anchor>
        {since !== null && (
          <Text span inherit c="dimmed">
            {' '}
            <Ago at={since} />
          </Text>
        )}
      </Text>
    </Group>
  );
}
