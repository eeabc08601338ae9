/** Accounts of this server. */
import { Button, Group, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconUserPlus, IconUsers } from '@tabler/icons-react';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { Ago } from '../../parts/ago.tsx';
import { Empty } from '../../parts/empty.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { NewUserDialog } from './new-user-dialog.tsx';
import { PAGE_ROWS, Paged } from './paged.tsx';
import { useSearch } from './search.tsx';
import { UserMenu } from './user-menu.tsx';

type User = Schemas['User'];

const COLUMNS: ReadonlyArray<Column<User>> = [
  { key: 'who', title: 'Who', cell: (row) => <Who user={row} /> },
  { key: 'orgs', title: 'Organizations', cell: ({ orgs }) => orgs.map(({ name }) => name).join(', ') || 'none' },
  { key: 'mfa', title: 'Second factor', cell: ({ mfa_enabled: has }) => (has ? 'on' : 'off') },
  { key: 'made', title: 'Made', cell: (row) => <Ago at={row.created_at} /> },
  { key: 'actions', title: 'Actions', hidden: true, align: 'right', cell: (row) => <UserMenu user={row} /> },
];

export function UsersPart() {
  const { client } = useApi();
  const { asked, field } = useSearch('Search by name or address');
  const [making, { open, close }] = useDisclosure(false);
  return (
    <Stack>
      <Group justify="space-between" gap="sm">
        {field}
        <Button leftSection={<IconUserPlus size={16} />} onClick={open}>
          New account
        </Button>
      </Group>
      <Paged
        queryKey={['superadmin', 'users', asked]}
        ask={(after, signal) => {
          const query = { limit: PAGE_ROWS, ...(asked === '' ? {} : { query: asked }), ...(after ? { after } : {}) };
          return answered(client.GET('/superadmin/users', { params: { query }, signal }));
        }}
        cursorOf={({ id }: User) => id}
      >
        {(users) =>
          users.length === 0 ? (
            <Empty icon={IconUsers} title="No account found">
              No name and no address holds “{asked}”.
            </Empty>
          ) : (
            <Table isPaged label="Accounts" rows={users} rowKey={({ id }) => id} columns={COLUMNS} />
          )
        }
      </Paged>
      <NewUserDialog opened={making} onClose={close} />
    </Stack>
  );
}

function Who({ user }: { readonly user: User }) {
  return (
    <div>
      <Text span size="sm" fw={500} mr={6}>
        {user.email}
      </Text>
      {user.is_superadmin && <StateBadge tone="info">operator</StateBadge>}{' '}
      {user.is_locked && <StateBadge tone="bad">locked</StateBadge>}{' '}
      {!user.email_verified && <StateBadge tone="warn">not verified</StateBadge>}
      {user.name !== '' && (
        <Text size="xs" c="dimmed">
          {user.name}
        </Text>
      )}
    </div>
  );
}
