/** What can be done to a tunnel from its row. */
import { ActionIcon, Menu } from '@mantine/core';
import { IconDotsVertical, IconPlayerPlay, IconPlayerStop, IconTool, IconTrash } from '@tabler/icons-react';
import type { Tunnel } from '../../api/types.ts';
import { useBeginMaintenance, useEndMaintenance, useStart, useStop } from './tunnel-deeds.ts';
import { isShut } from './tunnel-state.ts';

interface TunnelActionsProps {
  readonly tunnel: Tunnel;
  /** Unix milliseconds. */
  readonly now: number;
  readonly onDelete: (tunnel: Tunnel) => void;
}

export function TunnelActions({ tunnel, now, onDelete }: TunnelActionsProps) {
  const start = useStart();
  const stop = useStop();
  const begin = useBeginMaintenance();
  const end = useEndMaintenance();
  const { id, subdomain, maintenance } = tunnel;
  const isBusy = [start, stop, begin, end].some(({ isPending }) => isPending);
  return (
    <Menu position="bottom-end" width={220}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" loading={isBusy} aria-label={`Actions for ${subdomain}`}>
          <IconDotsVertical size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {isShut(tunnel, now) ? (
          <Menu.Item leftSection={<IconPlayerPlay size={16} />} onClick={() => start.mutate(tunnel)}>
            Start
          </Menu.Item>
        ) : (
          <Menu.Item leftSection={<IconPlayerStop size={16} />} onClick={() => stop.mutate(tunnel)}>
            Stop
          </Menu.Item>
        )}
        {maintenance ? (
          <Menu.Item leftSection={<IconTool size={16} />} onClick={() => end.mutate({ id })}>
            End maintenance
          </Menu.Item>
        ) : (
          <Menu.Item leftSection={<IconTool size={16} />} onClick={() => begin.mutate({ id, message: '' })}>
            Begin maintenance
          </Menu.Item>
        )}
        <Menu.Divider />
        <Menu.Item color="red" leftSection={<IconTrash size={16} />} onClick={() => onDelete(tunnel)}>
          Delete tunnel
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
