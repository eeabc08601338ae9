/** One tunnel: state, traffic, access control and policy. The address names the tab. */
import { Group, Tabs } from '@mantine/core';
import { Redirect, useParams, useSearchParams } from 'wouter';
import { useNow } from '../../parts/now.ts';
import { DetailPage } from '../../parts/detail-page.tsx';
import { Page } from '../../parts/page.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { PolicyPanel } from '../policy/policy-panel.tsx';
import { Address } from './address.tsx';
import { ConnectTab } from './connect-tab.tsx';
import { AccessControlTab } from './access-control-tab.tsx';
import { GuardBadges } from './guard-badges.tsx';
import { HeadActions } from './head-actions.tsx';
import { MaintenancePanel } from './maintenance-panel.tsx';
import { OverviewTab } from './overview-tab.tsx';
import { StateNotice } from './state-notice.tsx';
import { type TunnelDetail, useTunnel } from './tunnel-queries.ts';
import { STATES, stateOf } from './tunnel-state.ts';

const TABS = ['overview', 'access-control', 'policy', 'maintenance', 'connect'] as const;
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
  const { authEnabled, edgeAuthEnabled, policyEnabled, maintenance } = tunnel;
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
        <Tabs.List mb="md" aria-label="Parts of the tunnel">
          <Tabs.Tab value="overview">Overview</Tabs.Tab>
          <Tabs.Tab value="access-control" rightSection={mark(authEnabled || edgeAuthEnabled)}>
            Access control
          </Tabs.Tab>
          <Tabs.Tab value="policy" rightSection={mark(policyEnabled)}>
            Policy
          </Tabs.Tab>
          <Tabs.Tab value="maintenance" rightSection={mark(maintenance)}>
            Maintenance
          </Tabs.Tab>
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
