/** The tunnels of a project, each with the way to its page. */
import { Anchor, Text } from '@mantine/core';
import { Link } from 'wouter';
import type { Schemas, Tunnel } from '../../api/types.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { useNow } from '../../parts/now.ts';
import { Panel } from '../../parts/panel.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { bytesText, countText } from '../../parts/format.ts';
import { STATES, stateOf } from '../tunnels/tunnel-state.ts';
import { useTunnels } from './project-query.ts';

const COLUMNS: ReadonlyArray<Column<Tunnel>> = [
  {
    key: 'name',
    title: 'Tunnel',
    cell: ({ id, subdomain }) => (
      <Anchor component={Link} href={`/tunnels/${id}`} inherit fw={600}>
        {subdomain}
      </Anchor>
    ),
  },
  {
    key: 'state',
    title: 'State',
    cell: (tunnel) => <TunnelStateBadge tunnel={tunnel} />,
  },
  { key: 'protocol', title: 'Protocol', cell: ({ protocol }) => protocol },
  { key: 'requests', title: 'Requests', align: 'right', cell: ({ totalRequests }) => countText(totalRequests) },
  {
    key: 'bytes',
    title: 'Traffic',
    align: 'right',
    cell: ({ bytesIn, bytesOut }) => bytesText(bytesIn + bytesOut),
  },
];

function TunnelStateBadge({ tunnel }: { readonly tunnel: Tunnel }) {
  const { tone, word } = STATES[stateOf(tunnel, useNow(30_000))];
  return <StateBadge tone={tone}>{word}</StateBadge>;
}

export function ProjectTunnels({ project: { slug, isDefault } }: { readonly project: Schemas['Project'] }) {
  const tunnels = useTunnels();
  return (
    <Panel title="Tunnels">
      <Loaded query={tunnels} lines={2}>
        {(all) => {
          const own = all.filter(({ projectSlug }) => projectSlug === slug);
          if (own.length > 0) return <Table label="Tunnels" rows={own} rowKey={({ id }) => id} columns={COLUMNS} />;
          return (
            <Text size="sm" c="dimmed">
              None yet. A tunnel is made when an agent asks for it, with{' '}
              <span className="culvert-mono">
                {isDefault ? 'culvert http 3000' : `culvert http 3000 --project ${slug}`}
              </span>
              .
            </Text>
          );
        }}
      </Loaded>
    </Panel>
  );
}
