/** The first page: state of tunnels, traffic and plan. An empty organization sees the steps to the first tunnel. */
import { SimpleGrid, Stack } from '@mantine/core';
import { useState } from 'react';
import { ConnectButton } from '../../parts/connect-dialog.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import type { Schemas } from '../../api/types.ts';
import { Counters } from './counters.tsx';
import { FirstTunnel } from './first-tunnel.tsx';
import { LatestRequests } from './latest-requests.tsx';
import { LiveTunnels } from './live-tunnels.tsx';
import { useCounters } from './overview-queries.ts';
import { PlanPanel } from './plan-panel.tsx';
import { TrafficPanel } from './traffic-panel.tsx';
import { WarningsPanel } from './warnings-panel.tsx';

export function OverviewPage() {
  const counters = useCounters();
  // Decided once: a user on the way to the first tunnel sees it come, and continues by themselves.
  const [isFirst, setFirst] = useState<boolean>();
  if (isFirst === undefined && counters.data !== undefined) setFirst(isEmpty(counters.data));
  if (isFirst === true)
    return (
      <Page title="Overview" about="Publish your service: it has a public address within a minute.">
        <FirstTunnel onDone={() => setFirst(false)} />
      </Page>
    );
  return (
    <Page title="Overview" actions={<ConnectButton />}>
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
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
        <LiveTunnels />
        <LatestRequests />
      </SimpleGrid>
      <PlanPanel />
    </Stack>
  );
}
