/** One tunnel: state, actions and tabs. The address names the tab. */
import { ActionIcon, Button, Group, Tabs, Tooltip } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlayerPlay, IconPlayerStop, IconTrash } from '@tabler/icons-react';
import { Redirect, useLocation, useParams, useSearchParams } from 'wouter';
import { useMay } from '../../api/context.tsx';
import { DetailPage } from '../../parts/detail-page.tsx';
import { useNow } from '../../parts/time/now.ts';
import { Page } from '../../parts/page.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { RecordingTab } from '../inspector/recording/recording-tab.tsx';
import { PolicyPanel } from '../policy/policy-editor.tsx';
import { AccessControlTab } from './access-control-tab.tsx';
import { Address } from './address.tsx';
import { GuardBadges } from './badges.tsx';
import { ConnectTab } from './connect-tab.tsx';
import { MaintenancePanel } from './maintenance-panel.tsx';
import { OverviewTab } from './overview-tab.tsx';
import { StateNotice } from './state-notice.tsx';
import { DeleteTunnel, StopTunnel } from './tunnel-dialogs.tsx';
import { type TunnelDetail, useTunnel } from './tunnel-queries.ts';
import { isShut, stateOf, STATES } from './tunnel-state.ts';
import { useStart, useStop } from './use-tunnel-actions.ts';

const TABS = ['overview', 'access-control', 'policy', 'maintenance', 'recording', 'connect'] as const;
type Tab = (typeof TABS)[number];

/** How late it is said that the tunnel's time has run out. */
const LOOK_MS = 1000;

export function TunnelPage() {
  const { id = '' } = useParams();
  return (
    <DetailPage query={useTunnel(id)} title="Tunnel" list="/tunnels">
      {(tunnel) => <OneTunnel tunnel={tunnel} />}
    </DetailPage>
  );
}

function OneTunnel({ tunnel }: { readonly tunnel: TunnelDetail }) {
  const now = useNow(LOOK_MS);
  const { tone, word } = STATES[stateOf(tunnel, now)];
  return (
    <Page
      title={tunnel.subdomain}
      about={
        <Group gap="xs" component="span">
          <StateBadge tone={tone}>{word}</StateBadge>
          <Address url={tunnel.publicUrl} name={tunnel.subdomain} />
          <GuardBadges tunnel={tunnel} none="" />
        </Group>
      }
      actions={<HeadActions tunnel={tunnel} now={now} />}
    >
      <Parts tunnel={tunnel} now={now} />
    </Page>
  );
}

function Parts({ tunnel, now }: { readonly tunnel: TunnelDetail; readonly now: number }) {
  const [params, setParams] = useSearchParams();
  const tab = TABS.find((one) => one === params.get('tab')) ?? 'overview';
  const { authEnabled, edgeAuthEnabled, policyEnabled, agentFlagsEnabled = false, maintenance } = tunnel;
  const go = (next: string | null): void =>
    setParams(next === null || next === 'overview' ? '' : { tab: next }, { replace: true });
  // Bookmarks of 0.1 name the tab of access control so.
  if (params.get('tab') === 'gates') return <Redirect to={`/tunnels/${tunnel.id}?tab=access-control`} replace />;
  // The panel of maintenance says it itself.
  const isSaid = tab === 'maintenance' && maintenance;
  return (
    <>
      {!isSaid && <StateNotice tunnel={tunnel} now={now} />}
      <Tabs value={tab satisfies Tab} onChange={go} keepMounted={false} className="culvert-tabs">
        <Tabs.List mb="md" aria-label="Tunnel sections">
          <Tabs.Tab value="overview">Overview</Tabs.Tab>
          <Tabs.Tab value="access-control" rightSection={mark(authEnabled || edgeAuthEnabled || agentFlagsEnabled)}>
            Access control
          </Tabs.Tab>
          <Tabs.Tab value="policy" rightSection={mark(policyEnabled)}>
            Policy
          </Tabs.Tab>
          <Tabs.Tab value="maintenance" rightSection={mark(maintenance)}>
            Maintenance
          </Tabs.Tab>
          {tunnel.protocol !== 'tcp' && <Tabs.Tab value="recording">Recording</Tabs.Tab>}
          <Tabs.Tab value="connect">Connect</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="overview">
          <OverviewTab tunnel={tunnel} now={now} />
        </Tabs.Panel>
        <Tabs.Panel value="access-control">
          <AccessControlTab tunnel={tunnel} />
        </Tabs.Panel>
        <Tabs.Panel value="policy">
          <PolicyPanel tunnel={tunnel} />
        </Tabs.Panel>
        <Tabs.Panel value="maintenance">
          <MaintenancePanel tunnel={tunnel} />
        </Tabs.Panel>
        <Tabs.Panel value="recording">
          <RecordingTab tunnel={tunnel} />
        </Tabs.Panel>
        <Tabs.Panel value="connect">
          <ConnectTab tunnel={tunnel} now={now} />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}

/** A dot beside the name of a part that is on. */
function mark(isOn: boolean) {
  return isOn ? <span className="culvert-mark" role="img" aria-label="on" /> : undefined;
}

/** Nothing for those who may only watch. `now`: Unix milliseconds. */
function HeadActions({ tunnel, now }: { readonly tunnel: TunnelDetail; readonly now: number }) {
  const [, navigate] = useLocation();
  const [deleting, { open, close }] = useDisclosure(false);
  const [stopping, askStop] = useDisclosure(false);
  const start = useStart();
  const stop = useStop();
  if (!useMay('member')) return null;
  return (
    <>
      {isShut(tunnel, now) ? (
        <Button
          leftSection={<IconPlayerPlay size={16} />}
          loading={start.isPending}
          onClick={() => start.mutate(tunnel)}
        >
          Start
        </Button>
      ) : (
        <Button
          variant="default"
          leftSection={<IconPlayerStop size={16} />}
          loading={stop.isPending}
          onClick={() => (tunnel.online ? askStop.open() : stop.mutate(tunnel))}
        >
          Stop
        </Button>
      )}
      <Tooltip label="Delete tunnel">
        <ActionIcon variant="default" size={36} onClick={open} aria-label="Delete tunnel">
          <IconTrash size={16} />
        </ActionIcon>
      </Tooltip>
      <StopTunnel tunnel={tunnel} opened={stopping} onClose={askStop.close} />
      <DeleteTunnel
        tunnel={tunnel}
        opened={deleting}
        onClose={close}
        onDone={() => navigate('/tunnels', { replace: true })}
      />
    </>
  );
}
