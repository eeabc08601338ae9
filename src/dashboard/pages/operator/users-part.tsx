/** The accounts of this server, and the dialog for a new one. */
import { Button, Group, Stack, Switch, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { IconUserPlus, IconUsers } from '@tabler/icons-react';
import { useState } from 'react';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { useAction } from '../../parts/action.ts';
import { Ago } from '../../parts/time/ago.tsx';
import { Empty } from '../../parts/empty.tsx';
import { FormEnd } from '../../parts/forms/form-end.tsx';
import { showFaults } from '../../parts/forms/form-failure.ts';
import { OneTimeSecretModal } from '../../parts/dialogs/one-time-secret.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { PAGE_ROWS, Paged, useSearch } from './paged.tsx';
import { IssuedPassword } from './password-dialog.tsx';
import { UserMenu } from './user-menu.tsx';

type User = Schemas['User'];

const COLUMNS: ReadonlyArray<Column<User>> = [
  { key: 'who', title: 'User', cell: (row) => <Who user={row} /> },
  { key: 'orgs', title: 'Organizations', cell: ({ orgs }) => orgs.map(({ name }) => name).join(', ') || 'none' },
  { key: 'mfa', title: '2FA', cell: ({ mfa_enabled: has }) => (has ? 'on' : 'off') },
  { key: 'made', title: 'Created', cell: (row) => <Ago at={row.created_at} /> },
  { key: 'actions', title: 'Actions', hidden: true, align: 'right', cell: (row) => <UserMenu user={row} /> },
];

export function UsersPart() {
  const { client } = useApi();
  const { asked, field } = useSearch('Search by name or email');
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
            <Empty icon={IconUsers} title="No accounts found">
              No name or email contains “{asked}”.
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

interface NewUser {
  readonly email: string;
  readonly name: string;
  readonly superadmin: boolean;
}

interface NewUserDialogProps {
  /** Drawn from the start, shut, it gives the focus back to its button. */
  readonly opened?: boolean;
  readonly onClose: () => void;
}

/** Makes an account, verified and with an organization of its own, and shows its password once. */
function NewUserDialog({ opened = true, onClose }: NewUserDialogProps) {
  const [made, setMade] = useState<Schemas['UserWithPassword']>();
  return (
    <OneTimeSecretModal
      opened={opened}
      onClose={onClose}
      onGone={() => setMade(undefined)}
      title={made === undefined ? 'New account' : `Password for ${made.email}`}
    >
      {made === undefined ? (
        <NewUserForm onClose={onClose} onMade={setMade} />
      ) : (
        <IssuedPassword email={made.email} password={made.password} />
      )}
    </OneTimeSecretModal>
  );
}

interface NewUserFormProps {
  readonly onClose: () => void;
  readonly onMade: (made: Schemas['UserWithPassword']) => void;
}

function NewUserForm({ onClose, onMade }: NewUserFormProps) {
  const { client } = useApi();
  const [rest, setRest] = useState<string>();
  const form = useForm<NewUser>({ initialValues: { email: '', name: '', superadmin: false } });
  const make = useAction({
    run: (body: NewUser) => answered(client.POST('/superadmin/users', { body })),
    touches: [['superadmin']],
    onDone: onMade,
    tellsFailure: true,
  });
  const save = (values: NewUser): void => {
    setRest(undefined);
    make.mutate(values, { onError: (error) => setRest(showFaults(form, error)) });
  };
  return (
    <form onSubmit={form.onSubmit(save)} noValidate>
      <Stack>
        <TextInput
          label="Email address"
          type="email"
          autoComplete="off"
          required
          data-autofocus
          {...form.getInputProps('email')}
        />
        <TextInput label="Name" autoComplete="off" {...form.getInputProps('name')} />
        <Switch
          label="Operator"
          description="Can see and change all accounts and organizations."
          {...form.getInputProps('superadmin', { type: 'checkbox' })}
        />
        <Text size="sm" c="dimmed">
          Creates a verified account with its own organization and a random password that you see once. Sends no email.
        </Text>
        <FormEnd action="Create account" refused={rest} isBusy={make.isPending} onClose={onClose} />
      </Stack>
    </form>
  );
}
