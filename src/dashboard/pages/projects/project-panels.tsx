/** Keys and tunnels of a project. */
import { Anchor, Button, Checkbox, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { useMay } from '../../api/context.tsx';
import type { Schemas, Token, Tunnel } from '../../api/types.ts';
import { bytesText, countText } from '../../parts/format.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { useNow } from '../../parts/time/now.ts';
import { Panel } from '../../parts/panel.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { nowSeconds, useTokens } from '../keys/key-query.ts';
import { isLive } from '../keys/key-state.ts';
import { KeyTable } from '../keys/key-table.tsx';
import { NewKey } from '../keys/new-key.tsx';
import { stateOf, STATES } from '../tunnels/tunnel-state.ts';
import { useTunnels } from './project-query.ts';

/** The keys that open tunnels in one project alone. */
export function ProjectKeys({ slug }: { readonly slug: string }) {
  const tokens = useTokens();
  const mayMint = useMay('member');
  const [opened, { open, close }] = useDisclosure(false);
  return (
    <Panel
      title="Keys"
      about="Keys for tunnels in this project only."
      actions={
        mayMint && (
          <Button leftSection={<IconPlus size={16} />} size="sm" onClick={open}>
            New key
          </Button>
        )
      }
    >
      <Loaded query={tokens} lines={2}>
        {(all) => <Listed slug={slug} all={all} />}
      </Loaded>
      <NewKey opened={opened} onClose={close} project={slug} />
    </Panel>
  );
}

function Listed({ slug, all }: { readonly slug: string; readonly all: readonly Token[] }) {
  const [withEnded, setWithEnded] = useState(false);
  const own = all.filter(({ projectSlug }) => projectSlug === slug);
  const live = own.filter((token) => isLive(token, nowSeconds()));
  const shown = withEnded ? own : live;
  return (
    <Stack gap="sm">
      {shown.length > 0 ? (
        <KeyTable label="Project keys" tokens={shown} all={all} />
      ) : (
        <Text size="sm" c="dimmed">
          No live keys.
        </Text>
      )}
      {own.length > live.length && (
        <Checkbox
          label={`Show ${own.length - live.length} ended`}
          checked={withEnded}
          onChange={(event) => setWithEnded(event.currentTarget.checked)}
        />
      )}
    </Stack>
  );
}

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

/** The tunnels of a project, each with the way to its page. */
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
              No tunnels yet. To open one, run an agent with{' '}
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
