/** Why visitors do not reach the service now, or are refused by it, and the way out. Nothing otherwise. */
import { Alert, Anchor, Button, Code, Group, Text } from '@mantine/core';
import {
  type Icon,
  IconAlertTriangle,
  IconClockOff,
  IconPlayerStop,
  IconPlugConnectedX,
  IconTool,
} from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useMay } from '../../api/context.tsx';
import { Ago } from '../../parts/time/ago.tsx';
import { reasonOf } from '../connections/reasons.ts';
import { useEndMaintenance } from './use-tunnel-actions.ts';
import type { TunnelDetail } from './tunnel-queries.ts';
import { stateOf } from './tunnel-state.ts';

interface StateNoticeProps {
  readonly tunnel: TunnelDetail;
  /** Unix milliseconds. */
  readonly now: number;
}

/** That it waits for an agent is said by the panel that connects one. */
export function StateNotice({ tunnel, now }: StateNoticeProps) {
  switch (stateOf(tunnel, now)) {
    case 'maintenance':
      return <InMaintenance tunnel={tunnel} />;
    case 'stopped':
      return (
        <Notice color="gray" icon={IconPlayerStop} title="Stopped">
          Agents can&apos;t connect, and visitors see an offline page, until you start the tunnel.
        </Notice>
      );
    case 'expired':
      return (
        <Notice color="red" icon={IconClockOff} title="Expired">
          The tunnel expired <Ago at={tunnel.expiresAt} />. Its agent was disconnected, and visitors see an offline
          page. Start the tunnel, then the agent.
        </Notice>
      );
    case 'online':
      return <Advice tunnel={tunnel} />;
    case 'offline':
      return <Offline tunnel={tunnel} />;
    case 'waiting':
      return null;
  }
}

/** Since when and why; the command that brings it back is below. */
function Offline({ tunnel: { stateSince, stateReason } }: { readonly tunnel: TunnelDetail }) {
  const reason = stateReason === null ? undefined : reasonOf(stateReason);
  return (
    <Notice color={reason?.tone === 'quiet' ? 'gray' : 'red'} icon={IconPlugConnectedX} title="Offline">
      {stateSince === null ? (
        'No agent is connected.'
      ) : (
        <>
          The last agent left <Ago at={stateSince} />
          {reason !== undefined && ` (${reason.name.toLowerCase()})`}. {reason?.advice}{' '}
          <Anchor component={Link} href="/connections" size="sm" underline="always">
            Ended connections
          </Anchor>
        </>
      )}
    </Notice>
  );
}

/** What the agent has noticed in the refusals of the service. */
function Advice({ tunnel: { advice } }: { readonly tunnel: TunnelDetail }) {
  switch (advice) {
    case 'host_header':
      return (
        <Notice color="yellow" icon={IconAlertTriangle} title="Your service refuses the public host name">
          Restart the agent with <Code>--host-header rewrite</Code>. Your service then gets its own name.
        </Notice>
      );
    case 'allowed_hosts':
      return (
        <Notice color="yellow" icon={IconAlertTriangle} title="Your service refuses the public host name">
          Add the name to the allowed hosts of your service. In Rails, these are <Code>config.hosts</Code>.
        </Notice>
      );
    case 'tls':
      return (
        <Notice color="yellow" icon={IconAlertTriangle} title="Your service speaks TLS">
          Restart the agent with <Code>culvert https</Code> in place of <Code>culvert http</Code>.
        </Notice>
      );
    case null:
      return null;
  }
}

function InMaintenance({ tunnel }: { readonly tunnel: TunnelDetail }) {
  const { maintenanceMessage } = tunnel;
  const end = useEndMaintenance();
  const mayChange = useMay('member');
  return (
    <Notice
      color="yellow"
      icon={IconTool}
      title="In maintenance"
      action={
        mayChange && (
          <Button size="xs" variant="default" loading={end.isPending} onClick={() => end.mutate(tunnel)}>
            End maintenance
          </Button>
        )
      }
    >
      {maintenanceMessage === null || maintenanceMessage === ''
        ? 'All visitors are blocked.'
        : `All visitors are blocked. They see: ${maintenanceMessage}`}
    </Notice>
  );
}

interface NoticeProps {
  readonly color: string;
  readonly icon: Icon;
  readonly title: string;
  readonly action?: ReactNode;
  readonly children: ReactNode;
}

/** With a title in the colour of text: an Alert's own, on its ground, is too pale to read. */
function Notice({ color, icon: Sign, title, action, children }: NoticeProps) {
  return (
    <Alert color={color} icon={<Sign size={18} />} role="region" aria-label={title}>
      <Group justify="space-between" gap="sm">
        <Text size="sm" className="culvert-notice-words" component="div">
          <Text size="sm" fw={600}>
            {title}
          </Text>
          {children}
        </Text>
        {action}
      </Group>
    </Alert>
  );
}
