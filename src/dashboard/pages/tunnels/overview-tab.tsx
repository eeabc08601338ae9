/** What a tunnel has carried, its latest requests, who serves it and which domains lead to it. */
import { Grid, Stack } from '@mantine/core';
import { ConnectPanel } from './connect-tab.tsx';
import { Facts } from './facts.tsx';
import { Figures } from './figures.tsx';
import { LatestRequests } from './latest-requests.tsx';
import { ServedBy } from './served-by.tsx';
import type { TunnelDetail } from './tunnel-queries.ts';
import { stateOf } from './tunnel-state.ts';
import { TunnelDomains } from './tunnel-domains.tsx';

interface OverviewTabProps {
  readonly tunnel: TunnelDetail;
  /** Unix milliseconds. */
  readonly now: number;
}

export function OverviewTab({ tunnel, now }: OverviewTabProps) {
  const isTcp = tunnel.protocol === 'tcp';
  return (
    <Stack gap="md">
      {stateOf(tunnel, now) === 'waiting' && (
        <ConnectPanel
          tunnel={tunnel}
          title="Waiting for an agent"
          about="No agent serves it yet: visitors see that it is offline. Run this beside the service to bring it online."
        />
      )}
      <Figures tunnel={tunnel} now={now} />
      <Grid gap="md">
        {!isTcp && (
          <Grid.Col span={{ base: 12, md: 8 }}>
            <LatestRequests tunnelId={tunnel.id} />
          </Grid.Col>
        )}
        <Grid.Col span={{ base: 12, md: isTcp ? 12 : 4 }}>
          <Stack gap="md">
            <ServedBy tunnel={tunnel} />
            <Facts tunnel={tunnel} />
            {!isTcp && <TunnelDomains tunnelId={tunnel.id} />}
          </Stack>
        </Grid.Col>
      </Grid>
    </Stack>
  );
}
