/** Why visitors do not reach the service now, and the way out. Nothing while they do. */
import { Alert, Button, Group, Text } from '@mantine/core';
import { IconClockOff, IconPlayerStop, IconTool } from '@tabler/icons-react';
import { useMay } from '../../api/context.tsx';
import { Ago } from '../../parts/ago.tsx';
import { useEndMaintenance } from './tunnel-deeds.ts';
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
        <Alert color="gray" icon={<IconPlayerStop size={18} />} title="Stopped">
          Agents are refused, and visitors are told that it is offline, until somebody starts it.
        </Alert>
      );
    case 'expired':
      return (
        <Alert color="red" icon={<IconClockOff size={18} />} title="Its time has run out">
          It ended <Ago at={tunnel.expiresAt} />: its agent was cut off, and visitors are told that it is offline. Start
          it to begin a new time, and then the agent.
        </Alert>
      );
    case 'online':
    case 'waiting':
      return null;
  }
}

function InMaintenance({ tunnel: { id, maintenanceMessage } }: { readonly tunnel: TunnelDetail }) {
  const end = useEndMaintenance();
  const mayChange = useMay('member');
  return (
    <Alert color="yellow" icon={<IconTool size={18} />} title="In maintenance">
      <Group justify="space-between" gap="sm">
        <Text size="sm" className="culvert-grow">
          {maintenanceMessage === null || maintenanceMessage === ''
            ? 'Nobody gets through to the service.'
            : `Nobody gets through. Visitors read: ${maintenanceMessage}`}
        </Text>
        {mayChange && (
          <Button size="xs" variant="default" loading={end.isPending} onClick={() => end.mutate({ id })}>
            End maintenance
          </Button>
        )}
      </Group>
    </Alert>
  );
}
