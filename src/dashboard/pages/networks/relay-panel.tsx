/** The state and traffic of a network's relay, by polling. */
import { Anchor, SimpleGrid, Stack, Text } from '@mantine/core';
import { Link } from 'wouter';
import { Ago } from '../../parts/time/ago.tsx';
import { Fact } from '../../parts/fact.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Panel } from '../../parts/panel.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { bytesText, countText } from '../../parts/format.ts';
import { useRelay } from './network-queries.ts';
import { dropsOf, type Network, type Relay, networkStatus } from './network-labels.ts';

export function RelayPanel({ network }: { readonly network: Network }) {
  const relay = useRelay(network.id);
  const status = networkStatus(network, relay.data);
  return (
    <Panel title="Relay" actions={status !== undefined && <StateBadge tone={status.tone}>{status.words}</StateBadge>}>
      <Loaded query={relay} lines={2}>
        {(now) => (
          <Stack gap="md">
            {now.path === 'stream' && (
              <Text size="sm">
                UDP between agent and server is blocked, so packets go over the agent&apos;s TLS session, which is
                slower. To use UDP, allow outbound UDP to{' '}
                <span className="culvert-mono">{network.public_endpoint}</span>.
              </Text>
            )}
            <Facts relay={now} />
            <Drops relay={now} />
          </Stack>
        )}
      </Loaded>
    </Panel>
  );
}

function Facts({ relay }: { readonly relay: Relay }) {
  const { online, agent_id: agent, flows, attached_at: since, path_since: pathSince } = relay;
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, md: 5 }} spacing="md" verticalSpacing="md">
      <Fact title="Agent">
        {online && agent !== null ? (
          <>
            <Anchor component={Link} href="/connections" inherit underline="always">
              {agent.slice(0, 8)}
            </Anchor>
            , <Ago at={since} />
          </>
        ) : (
          'none'
        )}
      </Fact>
      <Fact title="Transport">
        {relay.path === null ? (
          '-'
        ) : (
          <>
            {relay.path === 'udp' ? 'UDP' : 'TLS session'}, <Ago at={pathSince} />
          </>
        )}
      </Fact>
      <Fact title="Clients">{countText(flows)}</Fact>
      <Fact title="From devices">
        {bytesText(relay.bytes_in)}, {countText(relay.packets_in)} packets
      </Fact>
      <Fact title="To devices">
        {bytesText(relay.bytes_out)}, {countText(relay.packets_out)} packets
      </Fact>
    </SimpleGrid>
  );
}

function Drops({ relay }: { readonly relay: Relay }) {
  const drops = dropsOf(relay);
  if (drops.length === 0) return null;
  return (
    <div>
      <Text size="xs" c="dimmed">
        Dropped since the port opened
      </Text>
      {drops.map(({ reason, count, words }) => (
        <Text key={reason} size="sm" className="culvert-number">
          {countText(count)} {words}
        </Text>
      ))}
    </div>
  );
}
