/** The table of tunnels, with the menu of each. */
import { Anchor, Menu, Pagination, Stack, Text } from '@mantine/core';
import { IconPlayerPlay, IconPlayerStop, IconTool, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { useMay } from '../../api/context.tsx';
import type { Tunnel } from '../../api/types.ts';
import { Ago } from '../../parts/time/ago.tsx';
import { useAsked } from '../../parts/dialogs/asked.ts';
import { RowMenu, useMenuDialog } from '../../parts/dialogs/row-menu.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Address } from './address.tsx';
import { GuardBadges } from './badges.tsx';
import { Traffic } from './figures.tsx';
import { BeginMaintenance, DeleteTunnel, StopTunnel } from './tunnel-dialogs.tsx';
import { isShut, stateOf, STATES } from './tunnel-state.ts';
import { useBeginMaintenance, useEndMaintenance, useStart, useStop } from './use-tunnel-actions.ts';

/** An organization may have a thousand: drawing all of them each time would be felt. */
const PAGE_ROWS = 50;

interface TunnelTableProps {
  readonly tunnels: readonly Tunnel[];
  /** Unix milliseconds. */
  readonly now: number;
  /** Whether the organization has several projects, which are worth a word then. */
  readonly hasProjects: boolean;
}

export function TunnelTable({ tunnels, now, hasProjects }: TunnelTableProps) {
  const [page, setPage] = useState(1);
  const stopping = useAsked<Tunnel>();
  const beginning = useAsked<Tunnel>();
  const deleting = useAsked<Tunnel>();
  const mayChange = useMay('member');
  const pages = Math.max(1, Math.ceil(tunnels.length / PAGE_ROWS));
  const at = Math.min(page, pages);
  const asks = { onStop: stopping.ask, onMaintenance: beginning.ask, onDelete: deleting.ask };
  const columns = columnsOf(now, hasProjects);
  return (
    <Stack gap="sm">
      <Table
        label="Tunnels"
        rows={tunnels.slice((at - 1) * PAGE_ROWS, at * PAGE_ROWS)}
        rowKey={({ id }) => id}
        columns={mayChange ? [...columns, actions(now, asks)] : columns}
      />
      {pages > 1 && (
        <Pagination
          total={pages}
          value={at}
          onChange={setPage}
          getControlProps={(control) => ({ 'aria-label': `${control} page` })}
          getItemProps={(item) => ({ 'aria-label': `Page ${item}` })}
        />
      )}
      <StopTunnel tunnel={stopping.row} opened={stopping.opened} onClose={stopping.close} />
      <BeginMaintenance tunnel={beginning.row} opened={beginning.opened} onClose={beginning.close} />
      <DeleteTunnel tunnel={deleting.row} opened={deleting.opened} onClose={deleting.close} />
    </Stack>
  );
}

function actions(now: number, asks: Asks): Column<Tunnel> {
  return {
    key: 'actions',
    title: 'Actions',
    hidden: true,
    align: 'right',
    cell: (tunnel) => <TunnelActions tunnel={tunnel} now={now} {...asks} />,
  };
}

function columnsOf(now: number, hasProjects: boolean): ReadonlyArray<Column<Tunnel>> {
  return [
    {
      key: 'name',
      title: 'Tunnel',
      cell: ({ id, subdomain, publicUrl }) => (
        <Stack gap={0}>
          <Anchor component={Link} href={`/tunnels/${id}`} fw={600} size="sm">
            {subdomain}
          </Anchor>
          <Address url={publicUrl} name={subdomain} size="xs" />
        </Stack>
      ),
    },
    {
      key: 'state',
      title: 'State',
      cell: (tunnel) => {
        const state = stateOf(tunnel, now);
        const { tone, word } = STATES[state];
        return (
          <Stack gap={2} align="flex-start">
            <StateBadge tone={tone}>{word}</StateBadge>
            {state === 'offline' && tunnel.stateSince !== null && (
              <Text size="xs" c="dimmed" className="culvert-fixed" component="div">
                <Ago at={tunnel.stateSince} />
              </Text>
            )}
          </Stack>
        );
      },
    },
    {
      key: 'service',
      title: 'Service',
      cell: ({ protocol, localPort, projectSlug }) => (
        <Stack gap={0} className="culvert-fixed culvert-number">
          <Text size="sm">
            {protocol}, port {localPort}
          </Text>
          {hasProjects && (
            <Text size="xs" c="dimmed">
              in {projectSlug}
            </Text>
          )}
        </Stack>
      ),
    },
    {
      key: 'guards',
      title: 'Access control',
      cell: (tunnel) => <GuardBadges tunnel={tunnel} none="none" />,
    },
    { key: 'traffic', title: 'Traffic', align: 'right', cell: (tunnel) => <Traffic tunnel={tunnel} /> },
    {
      key: 'ends',
      title: 'Expires',
      cell: ({ expiresAt }) => (
        <span className="culvert-fixed">
          <Ago at={expiresAt} />
        </span>
      ),
    },
  ];
}

/** Actions that cut visitors off or can't be undone: a dialog of the whole list confirms them. */
interface Asks {
  readonly onStop: (tunnel: Tunnel) => void;
  readonly onMaintenance: (tunnel: Tunnel) => void;
  readonly onDelete: (tunnel: Tunnel) => void;
}

interface TunnelActionsProps extends Asks {
  readonly tunnel: Tunnel;
  /** Unix milliseconds. */
  readonly now: number;
}

function TunnelActions({ tunnel, now, onStop, onMaintenance, onDelete }: TunnelActionsProps) {
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
          Start maintenance
        </Menu.Item>
      )}
      <Menu.Divider />
      <Menu.Item color="red" leftSection={<IconTrash size={16} />} onClick={from(() => onDelete(tunnel))}>
        Delete tunnel
      </Menu.Item>
    </RowMenu>
  );
}
