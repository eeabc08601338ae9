/** The tunnels that an agent serves now. */
import { Anchor, Group, Text } from '@mantine/core';
import { Link } from 'wouter';
import type { Tunnel } from '../../api/types.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Outside } from '../../parts/links.tsx';
import { Panel } from '../../parts/panel.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { bytesText, countText } from '../../parts/format.ts';
import { useTunnels } from './overview-queries.ts';

const MOST = 8;

export function LiveTunnels() {
  const query = useTunnels();
  return (
    <Panel title="Tunnels online" actions={<More href="/tunnels">All tunnels</More>}>
      <Loaded query={query} lines={3}>
        {(tunnels) => <Shown online={tunnels.filter(({ online }) => online)} />}
      </Loaded>
    </Panel>
  );
}

function Shown({ online }: { readonly online: readonly Tunnel[] }) {
  if (online.length === 0)
    return (
      <Text size="sm" c="dimmed">
        No tunnels online.
      </Text>
    );
  // Where most comes to, first.
  const busiest = [...online].sort((one, other) => other.totalRequests - one.totalRequests).slice(0, MOST);
  return (
    <ul className="culvert-rows" aria-label="Tunnels online">
      {busiest.map((tunnel) => (
        <li key={tunnel.id}>
          <Row {...tunnel} />
        </li>
      ))}
      {online.length > MOST && (
        <li>
          <Text size="sm" c="dimmed">
            and {countText(online.length - MOST)} more
          </Text>
        </li>
      )}
    </ul>
  );
}

function Row({ id, subdomain, publicUrl, protocol, maintenance, totalRequests, bytesIn, bytesOut }: Tunnel) {
  const bytes = bytesText(bytesIn + bytesOut);
  return (
    <>
      <Group justify="space-between" gap="sm" wrap="nowrap">
        <Group gap="xs" wrap="nowrap" miw={0}>
          <Anchor component={Link} href={`/tunnels/${id}`} fw={500} size="sm" truncate>
            {subdomain}
          </Anchor>
          {maintenance && <StateBadge tone="warn">Maintenance</StateBadge>}
        </Group>
        <Text size="sm" className="culvert-number culvert-fixed">
          {protocol === 'tcp' ? bytes : `${countText(totalRequests)} requests`}
        </Text>
      </Group>
      <Group justify="space-between" gap="sm" wrap="nowrap">
        <Outside url={publicUrl} />
        <Text size="xs" c="dimmed" className="culvert-number culvert-fixed">
          {protocol === 'tcp' ? 'TCP' : bytes}
        </Text>
      </Group>
    </>
  );
}

/** A way to the page that has all of it. */
export function More({ href, children }: { readonly href: string; readonly children: string }) {
  return (
    <Anchor component={Link} href={href} size="sm">
      {children}
    </Anchor>
  );
}
