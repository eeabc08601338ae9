/** Linked identity providers. Logging in with another provider links it, if it has the account's address. */
import { Button, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useAuthOptions } from '../../api/auth-options.ts';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { Ago } from '../../parts/time/ago.tsx';
import { useAsked } from '../../parts/dialogs/asked.ts';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { useAction } from '../../parts/action.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Panel } from '../../parts/panel.tsx';
import { type Column, Table } from '../../parts/table.tsx';

type Identity = Schemas['Identity'];

/** As the server calls them; `google` is whatever OpenID Connect issuer the operator has chosen. */
function useProviderNames(): (id: string) => string {
  const { data } = useAuthOptions();
  return (id) => data?.providers.find((provider) => provider.id === id)?.name ?? id;
}

export function IdentitiesPanel() {
  const { client } = useApi();
  const nameOf = useProviderNames();
  const asked = useAsked<Identity>();
  const identities = useQuery({
    queryKey: ['me', 'identities'],
    queryFn: ({ signal }) => answered(client.GET('/auth/identities', { signal })),
  });
  const unlink = useAction({
    run: (id: string) => answered(client.DELETE('/auth/identities/{id}', { params: { path: { id } } })),
    touches: [['me']],
    onDone: asked.close,
    tellsFailure: true,
  });
  const columns = columnsFor(nameOf, (identity) => {
    unlink.reset();
    asked.ask(identity);
  });
  const { row } = asked;
  return (
    <Panel
      title="Identity providers"
      about="To link a provider, log in with it. It must confirm the email address of this account."
    >
      <Loaded query={identities} lines={1}>
        {(rows) =>
          rows.length === 0 ? (
            <Text size="sm">No provider linked.</Text>
          ) : (
            <Table label="Identity providers" rows={rows} rowKey={({ id }) => id} columns={columns} />
          )
        }
      </Loaded>
      <Confirm
        title={`Unlink ${nameOf(row?.provider ?? '')}?`}
        action="Unlink"
        opened={asked.opened}
        isBusy={unlink.isPending}
        error={unlink.error}
        onConfirm={() => row !== undefined && unlink.mutate(row.id)}
        onClose={asked.close}
      >
        You can no longer log in with this provider. Your sessions continue. To link it again, log in with it.
      </Confirm>
    </Panel>
  );
}

function columnsFor(
  nameOf: (provider: string) => string,
  ask: (identity: Identity) => void,
): ReadonlyArray<Column<Identity>> {
  return [
    { key: 'provider', title: 'Provider', cell: ({ provider }) => nameOf(provider) },
    { key: 'email', title: 'Email address', cell: ({ email }) => email },
    { key: 'used', title: 'Last used', cell: ({ last_used_at: at }) => <Ago at={at} /> },
    {
      key: 'actions',
      title: 'Actions',
      hidden: true,
      align: 'right',
      cell: (row) => (
        <Button
          size="xs"
          variant="default"
          aria-label={`Unlink ${nameOf(row.provider)}, ${row.email}`}
          onClick={() => ask(row)}
        >
          Unlink
        </Button>
      ),
    },
  ];
}
