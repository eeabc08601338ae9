/** One key: what it may do, what it spends, when and where it was used, and the agents that use it now. */
import { Alert, Anchor, Drawer, Group, List, SimpleGrid, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { Link } from 'wouter';
import type { Schemas } from '../../api/types.ts';
import { Ago } from '../../parts/time/ago.tsx';
import type { Opened } from '../../parts/dialogs/opened.ts';
import { Fact } from '../../parts/fact.tsx';
import { moneyText } from '../../parts/format.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { EndCell, ScopeCell } from './key-cells.tsx';
import { nowSeconds, usePricing, useToken } from './key-query.ts';
import { buysText, KIND_WORDS, stateOf } from './key-state.ts';

type Detail = Schemas['TokenDetail'];

export function KeyDrawer({ opened: { id, isOpen, close } }: { readonly opened: Opened }) {
  const found = useToken(id, isOpen);
  return (
    <Drawer
      opened={isOpen}
      onClose={close}
      position="right"
      size="lg"
      title={`Key ${found.data?.name ?? ''}`}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Loaded query={found}>{(detail) => <Content token={detail} />}</Loaded>
    </Drawer>
  );
}

function Content({ token }: { readonly token: Detail }) {
  const { kind, nonce, lastUsedAt, lastUsedIp, issuedAt } = token;
  return (
    <Stack>
      {stateOf(token, nowSeconds()) === 'ending' && <EndsSoon token={token} />}
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md" verticalSpacing="sm">
        <Fact title="Kind">{KIND_WORDS[kind]}</Fact>
        <Fact title="ID">
          <span className="culvert-mono">{nonce}</span>
        </Fact>
        <Fact title="Scope">
          <ScopeCell token={token} />
        </Fact>
        <Fact title="Expires">
          <EndCell token={token} />
        </Fact>
        <Fact title="Budget">
          <Budget token={token} />
        </Fact>
        <Fact title="Last used">
          <Ago at={lastUsedAt} />
          {lastUsedIp !== null && (
            <>
              {' '}
              from <span className="culvert-mono">{lastUsedIp}</span>
            </>
          )}
        </Fact>
        <Fact title="Created">
          <Ago at={issuedAt} />
        </Fact>
      </SimpleGrid>
      <Sessions token={token} />
    </Stack>
  );
}

function EndsSoon({ token: { kind, expiresAt, serving } }: { readonly token: Detail }) {
  const next = kind === 'cli' ? 'Run culvert login again on that machine.' : 'Rotate it, or create another one.';
  return (
    <Alert color="yellow" icon={<IconAlertTriangle size={18} />} role="status">
      The key expires <Ago at={expiresAt} />
      {serving.sessions > 0 && ', and its tunnels go offline then'}. {next}
    </Alert>
  );
}

function Budget({ token: { monthlyBudgetUsdCents: cap, spentUsdCents: spent } }: { readonly token: Detail }) {
  const { data: prices } = usePricing();
  if (cap === null) return <>No cap; {moneyText(spent)} spent this month</>;
  const buys = buysText(cap, prices?.usdCentsPerGb ?? null);
  return (
    <>
      {moneyText(spent)} of {moneyText(cap)} spent this month
      {buys !== undefined && (
        <Text size="xs" c="dimmed">
          {buys}
        </Text>
      )}
    </>
  );
}

function Sessions({ token: { sessions, kind } }: { readonly token: Detail }) {
  if (kind === 'master') return null;
  return (
    <Stack gap="xs" component="section" aria-label="Serves now">
      <Text size="sm" fw={600}>
        Serves now
      </Text>
      {sessions.length === 0 ? (
        <Text size="sm" c="dimmed">
          No agent is connected with this key.
        </Text>
      ) : (
        <List size="sm" spacing="xs">
          {sessions.map(({ agentId, hostname, remoteIp, connectedAt, tunnels, networks }) => (
            <List.Item key={agentId}>
              <Group gap={6}>
                {tunnels.map(({ id, subdomain }) => (
                  <Anchor key={id} component={Link} href={`/tunnels/${id}`} inherit underline="always">
                    {subdomain}
                  </Anchor>
                ))}
                {networks.length > 0 && `${networks.length} private network${networks.length === 1 ? '' : 's'}`}
                {tunnels.length + networks.length === 0 && 'No tunnel'}
              </Group>
              <Text size="xs" c="dimmed">
                {hostname} at {remoteIp}, connected <Ago at={connectedAt} />
              </Text>
            </List.Item>
          ))}
        </List>
      )}
    </Stack>
  );
}
