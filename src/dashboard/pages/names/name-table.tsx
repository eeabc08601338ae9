/** The names that are reserved, and which tunnel has each. */
import { ActionIcon, Anchor, Stack, Text } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { answered } from '../../api/client.ts';
import { useApi, useMay } from '../../api/context.tsx';
import type { Schemas, Tunnel } from '../../api/types.ts';
import { Ago } from '../../parts/time/ago.tsx';
import { type Asked, useAsked } from '../../parts/dialogs/asked.ts';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { useAction } from '../../parts/action.ts';
import { SearchBox } from '../../parts/forms/search-box.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { RESERVED } from './name-labels.ts';

type Reserved = Schemas['ReservedSubdomain'];

export function NameTable({ names }: { readonly names: readonly Reserved[] }) {
  const { client } = useApi();
  const mayDelete = useMay('member');
  const [text, setText] = useState('');
  const deletion = useAsked<Reserved>();
  const tunnels = useQuery({
    queryKey: ['tunnels'],
    queryFn: ({ signal }) => answered(client.GET('/tunnels', { signal })),
  });
  const shown = names.filter(({ subdomain }) => subdomain.includes(text.trim().toLowerCase()));
  const columns = columnsOf(tunnels.data);
  return (
    <Stack gap="sm">
      <SearchBox label="Search names" placeholder="Name" among={names.length} value={text} onChange={setText} />
      {shown.length === 0 ? (
        <Text c="dimmed" size="sm" role="status">
          No names match.
        </Text>
      ) : (
        <Table
          label="Reserved names"
          rows={shown}
          rowKey={({ id }) => id}
          columns={mayDelete ? [...columns, deleteColumn(deletion)] : columns}
        />
      )}
      <DeleteName asked={deletion} />
    </Stack>
  );
}

/** `tunnels`: undefined while it is not known which there are. */
function columnsOf(tunnels: readonly Tunnel[] | undefined): ReadonlyArray<Column<Reserved>> {
  const byName = new Map(tunnels?.map((tunnel) => [tunnel.subdomain, tunnel]));
  return [
    { key: 'name', title: 'Name', cell: ({ subdomain }) => <span className="culvert-mono">{subdomain}</span> },
    {
      key: 'tunnel',
      title: 'Tunnel',
      cell: ({ subdomain }) => tunnels !== undefined && <TunnelOf tunnel={byName.get(subdomain)} />,
    },
    { key: 'since', title: 'Reserved', cell: ({ created_at: at }) => <Ago at={at} /> },
  ];
}

function TunnelOf({ tunnel }: { readonly tunnel: Tunnel | undefined }) {
  if (tunnel === undefined)
    return (
      <Text span inherit c="dimmed">
        none
      </Text>
    );
  return (
    <Anchor component={Link} href={`/tunnels/${tunnel.id}`} inherit>
      {tunnel.online ? 'online' : 'offline'}
    </Anchor>
  );
}

function deleteColumn(deletion: Asked<Reserved>): Column<Reserved> {
  return {
    key: 'actions',
    title: 'Actions',
    hidden: true,
    align: 'right',
    cell: (name) => (
      <ActionIcon
        variant="subtle"
        color="red"
        c="var(--mantine-color-error)"
        size={36}
        aria-label={`Release the name ${name.subdomain}`}
        onClick={() => deletion.ask(name)}
      >
        <IconTrash size={16} />
      </ActionIcon>
    ),
  };
}

function DeleteName({ asked: { row: name, opened, close } }: { readonly asked: Asked<Reserved> }) {
  const { client } = useApi();
  const remove = useAction({
    run: (id: string) => answered(client.DELETE('/reserved-subdomains/{id}', { params: { path: { id } } })),
    touches: [RESERVED],
    onDone: close,
    tellsFailure: true,
  });
  return (
    <Confirm
      title={`Release the name ${name?.subdomain ?? ''}?`}
      action="Release name"
      opened={opened}
      isBusy={remove.isPending}
      error={remove.error}
      onConfirm={() => name !== undefined && remove.mutate(name.id)}
      onClose={() => {
        remove.reset();
        close();
      }}
    >
      For 24 hours only your organization can reserve it again. After that, any organization can. A running tunnel with
      this name continues.
    </Confirm>
  );
}
