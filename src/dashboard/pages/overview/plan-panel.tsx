/** The plan in a line. */
import { Text } from '@mantine/core';
import { useAccount } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { Panel } from '../../parts/panel.tsx';
import { spanText } from '../../parts/format.ts';
import { More } from './live-tunnels.tsx';

export function PlanPanel() {
  const { entitlements, billing_mode: mode } = useAccount();
  const { plan } = entitlements;
  return (
    <Panel
      title={`${plan.slice(0, 1).toUpperCase()}${plan.slice(1)} plan`}
      actions={mode === 'none' ? undefined : <More href="/billing">Billing</More>}
    >
      <Text size="sm" c="dimmed">
        {planText(entitlements)}
      </Text>
    </Panel>
  );
}

function planText(has: Schemas['Entitlements']): string {
  const { max_tunnel_ttl_seconds: ttl, inspector_retention_days: days, reserved_subdomains: names } = has;
  const parts = [
    ttl === null ? 'tunnels without expiry' : `tunnels for ${spanText(ttl * 1000)} at a time`,
    `recorded requests for ${days} ${days === 1 ? 'day' : 'days'}`,
    names === null
      ? 'unlimited reserved names'
      : `${names === 0 ? 'no' : names} reserved ${names === 1 ? 'name' : 'names'}`,
    has.edge_auth ? 'visitor login' : 'no visitor login',
  ];
  const text = parts.join(', ');
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
}
