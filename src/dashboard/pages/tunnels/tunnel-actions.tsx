/** What can be done to a tunnel from its row. */
import { Menu } from '@mantine/core';
import { IconPlayerPlay, IconPlayerStop, IconTool, IconTrash } from '@tabler/icons-react';
import type { Tunnel } from '../../api/types.ts';
import { useMenuDialog } from '../../parts/menu-dialog.ts';
import { RowMenu } from '../../parts/row-menu.tsx';
import { useBeginMaintenance, useEndMaintenance, useStart, useStop } from './use-tunnel-actions.ts';
import { isShut } from './tunnel-state.ts';

/** Actions that cut visitors off or can't be undone: a dialog of the whole list confirms them. */
export interface Asks {
  readonly onStop: (tunnel: Tunnel) => void;
  readonly onMaintenance: (tunnel: Tunnel) => void;
  readonly onDelete: (tunnel: Tunnel) => void;
}

interface TunnelActionsProps extends Asks {
  readonly tunnel: Tunnel;
  /** Unix milliseconds. */
  readonly now: number;
}

export function TunnelActions({ tunnel, now, onStop, onMaintenance, onDelete }: TunnelActionsProps) {
  const start = useStart();
  const stop = useStop();
  const begin = useBeginMaintenance();
  const end = useEndMaintenance();
  const { button, from } = useMenuDialog();
  const { subdomain, maintenance, online } = tunnel;
  const isBusy = [start, stop, begin, end].some(({ isPending }) => isPending);
  return (
    <RowMenu button={button} label={`Actions for ${subdomain}`} isBusy={isBusy}>
      {isShut(tunnel, now) ? (
        <Menu.Item leftSection={<IconPlayerPlay size={16} />} onClick={() => start.mutate(tunnel)}>
          Start
        </Menu.Item>
      ) : (
        <Menu.Item
          leftSection={<IconPlayerStop size={16} />}
          onClick={online ? from(() => onStop(tunnel)) : () => stop.mutate(tunnel)}
        >
          Stop
        </Menu.Item>
      )}
      {maintenance ? (
        <Menu.Item leftSection={<IconTool size={16} />} onClick={() => end.mutate(tunnel)}>
          End maintenance
        </Menu.Item>
      ) : (
        <Menu.Item
          leftSection={<IconTool size={16} />}
          onClick={online ? from(() => onMaintenance(tunnel)) : () => begin.mutate({ tunnel, message: '' })}
        >
          Begin maintenance
        </Menu.Item>
      )}
      <Menu.Divider />
      <Menu.Item color="red" leftSection={<IconTrash size={16} />} onClick={from(() => onDelete(tunnel))}>
        Delete tunnel
      </Menu.Item>
    </RowMenu>
  );
}
