/** The overview of a tunnel: traffic, latest requests, agent and domains. */
import { Anchor, Grid, Group, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { Schemas } from '../../api/types.ts';
import { Ago } from '../../parts/time/ago.tsx';
import { Outside } from '../../parts/links.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Panel } from '../../parts/panel.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { certificateSaid } from '../domains/domain-state.ts';
import { ConnectionsChartPanel, LatencyPanel } from '../latency/latency-panel.tsx';
import { More } from '../overview/live-tunnels.tsx';
import { RequestLines } from '../overview/latest-requests.tsx';
import { ConnectPanel } from './connect-tab.tsx';
import { Figures } from './figures.tsx';
import { type TunnelDetail, useBoundDomains, useLatestRequests, useServing } from './tunnel-queries.ts';
import { stateOf } from './tunnel-state.ts';

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
          about="Visitors see an offline page. To bring the tunnel online, run this on the machine of your service."
        />
      )}
      {stateOf(tunnel, now) === 'offline' && (
        <ConnectPanel
          tunnel={tunnel}
          title="Bring the tunnel back"
          about="Visitors see an offline page. Run this on the machine of your service, in the folder of its last agent."
        />
      )}
      <Figures tunnel={tunnel} now={now} />
      {isTcp ? <ConnectionsChartPanel tunnelId={tunnel.id} /> : <LatencyPanel tunnelId={tunnel.id} />}
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

/** What a tunnel is: what was chosen when it was made, and the certificate of its name. */
function Facts({ tunnel }: { readonly tunnel: TunnelDetail }) {
  const { protocol, localPort, projectSlug, certificate } = tunnel;
  return (
    <Panel title="Details">
      <Stack gap={6}>
        <Fact name="Service">
          {protocol}, port {localPort}
        </Fact>
        <Fact name="Project">
          <Anchor component={Link} href={`/projects/${projectSlug}`} size="sm">
            {projectSlug}
          </Anchor>
        </Fact>
        {certificate !== null && <Certificate certificate={certificate} />}
      </Stack>
    </Panel>
  );
}

function Certificate({ certificate }: { readonly certificate: NonNullable<TunnelDetail['certificate']> }) {
  const { tone, words } = certificateSaid(certificate);
  return (
    <>
      <Fact name="Certificate">
        <StateBadge tone={tone}>{words}</StateBadge>
      </Fact>
      {certificate.lastError !== null && (
        <Text size="xs" c="dimmed">
          {certificate.lastError}
        </Text>
      )}
    </>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <Group justify="space-between" gap="sm">
      <Text size="sm" c="dimmed">
        {name}
      </Text>
      <Text size="sm" component="div">
        {children}
      </Text>
    </Group>
  );
}

/** The agent that serves a tunnel now. */
function ServedBy({ tunnel }: { readonly tunnel: TunnelDetail }) {
  const { id, online } = tunnel;
  const serving = useServing(id);
  return (
    <Panel title="Served by" actions={<More href="/connections">Connections</More>}>
      <Loaded query={serving} lines={1}>
        {(agents) => (
          <Stack gap={4}>
            {agents.length === 0 ? (
              <Text size="sm" c="dimmed">
                {online ? 'An agent that just connected.' : 'No agent.'}
              </Text>
            ) : (
              agents.map((agent) => <Agent key={agent.agent_id} {...agent} />)
            )}
          </Stack>
        )}
      </Loaded>
    </Panel>
  );
}

function Agent({ hostname, remote_ip: ip, version, token_name: key, connected_at: at }: Schemas['Connection']) {
  return (
    <div className="culvert-wrap">
      <Text size="sm">
        {hostname === '' ? 'An agent' : hostname} at <span className="culvert-mono">{ip}</span>
      </Text>
      <Text size="xs" c="dimmed" component="div">
        {version !== '' && `culvert ${version}, `}key {key ?? 'deleted'}, connected <Ago at={at} />
      </Text>
    </div>
  );
}

/** Domains of the organization that lead to a tunnel. */
function TunnelDomains({ tunnelId }: { readonly tunnelId: string }) {
  const domains = useBoundDomains(tunnelId);
  return (
    <Panel title="Domains">
      <Loaded query={domains} lines={1}>
        {(bound) => (
          <Stack gap={4}>
            {bound.map(({ id, domain, verified }) => (
              <Group key={id} gap="xs" justify="space-between">
                {verified ? <Outside url={`https://${domain}`} size="sm" /> : <Text size="sm">{domain}</Text>}
                {!verified && <StateBadge tone="warn">Not verified</StateBadge>}
              </Group>
            ))}
            <Text size="sm" c="dimmed">
              {bound.length === 0 && 'No custom domain. '}
              <Anchor component={Link} href="/domains" inherit underline="always">
                {bound.length === 0 ? 'Bind domain' : 'All domains'}
              </Anchor>
            </Text>
          </Stack>
        )}
      </Loaded>
    </Panel>
  );
}

const SHOWN = 10;

/** The latest requests of a tunnel's visitors; the inspector has all of them. */
function LatestRequests({ tunnelId }: { readonly tunnelId: string }) {
  const latest = useLatestRequests(tunnelId, SHOWN);
  return (
    <Panel title="Latest requests" actions={<More href={`/inspector?tunnel=${tunnelId}`}>All requests</More>}>
      <Loaded query={latest}>
        {(requests) =>
          requests.length === 0 ? (
            <Text size="sm" c="dimmed">
              No requests yet.
            </Text>
          ) : (
            <RequestLines requests={requests} />
          )
        }
      </Loaded>
    </Panel>
  );
}
