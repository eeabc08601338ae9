/** Private networks of the organization: which there are, and how it stands with each. */
import { Anchor, Button, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconNetwork, IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { answered } from '../../api/client.ts';
import { useApi, useMay } from '../../api/context.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { SearchBox } from '../../parts/forms/search-box.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { CreateNetwork } from './create-network.tsx';
import { useNetworks } from './network-queries.ts';
import { type Network, networkStatus } from './network-labels.ts';

export function NetworksPage() {
  const networks = useNetworks();
  const mayMake = useMay('member');
  const [isOpen, { open, close }] = useDisclosure(false);
  const isEmpty = networks.data?.length === 0;
  const button = mayMake && (
    <Button leftSection={<IconPlus size={16} />} onClick={open}>
      New network
    </Button>
  );
  return (
    <Page
      title="Private networks"
      about="WireGuard between your machines. The network's server can be behind NAT: no inbound ports needed."
      actions={isEmpty ? undefined : button}
    >
      <Loaded query={networks}>
        {(all) =>
          all.length === 0 ? (
            <Empty icon={IconNetwork} title="No private networks yet" action={button}>
              Phones, laptops and routers reach your machine at home or in the office with WireGuard. An agent on that
              machine relays the encrypted packets; Culvert can&apos;t read them.
              {!mayMake && " Viewers can't create networks. Ask an admin for the member role."}
            </Empty>
          ) : (
            <Networks all={all} />
          )
        }
      </Loaded>
      <CreateNetwork opened={isOpen} onClose={close} networks={networks.data ?? []} />
    </Page>
  );
}

function Networks({ all }: { readonly all: readonly Network[] }) {
  const [search, setSearch] = useState('');
  const carried = useCarried();
  const words = search.trim().toLowerCase();
  const shown = all.filter(({ name, cidr }) => `${name} ${cidr}`.toLowerCase().includes(words));
  return (
    <>
      <SearchBox
        label="Search networks"
        placeholder="Name or address range"
        among={all.length}
        value={search}
        onChange={setSearch}
      />
      {shown.length === 0 ? (
        <Text c="dimmed" size="sm">
          No networks match.
        </Text>
      ) : (
        <Table label="Private networks" rows={shown} rowKey={({ id }) => id} columns={columnsFor(carried)} />
      )}
    </>
  );
}

function columnsFor(carried: StateProps['carried']): ReadonlyArray<Column<Network>> {
  return [
    {
      key: 'name',
      title: 'Name',
      cell: ({ id, name }) => (
        <Anchor component={Link} href={`/networks/${id}`} fw={500} size="sm">
          {name}
        </Anchor>
      ),
    },
    { key: 'cidr', title: 'Address range', cell: ({ cidr }) => <span className="culvert-mono">{cidr}</span> },
    {
      key: 'endpoint',
      title: 'Endpoint',
      cell: ({ public_endpoint: at }) => (at === null ? '-' : <span className="culvert-mono">{at}</span>),
    },
    { key: 'devices', title: 'Devices', align: 'right', cell: ({ device_count: count }) => count },
    { key: 'state', title: 'State', cell: (network) => <State network={network} carried={carried} /> },
  ];
}

interface StateProps {
  readonly network: Network;
  readonly carried: ReadonlySet<string> | undefined;
}

function State({ network, carried }: StateProps) {
  const status = networkStatus(network, undefined);
  if (status !== undefined) return <StateBadge tone={status.tone}>{status.words}</StateBadge>;
  if (carried === undefined) return null;
  return carried.has(network.id) ? (
    <StateBadge tone="good">Online</StateBadge>
  ) : (
    <StateBadge tone="bad">No agent</StateBadge>
  );
}

/** Ids of the networks that an agent carries now, by one question for all. */
function useCarried(): ReadonlySet<string> | undefined {
  const { client } = useApi();
  const { data } = useQuery({
    queryKey: ['connections'],
    queryFn: ({ signal }) => answered(client.GET('/connections', { signal })),
    refetchInterval: 3000,
  });
  return data === undefined ? undefined : new Set(data.flatMap(({ networks }) => networks));
}
