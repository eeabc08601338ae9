/** The members, and what can be done with each. */
import { Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { answered } from '../../api/client.ts';
import { useAccount, useApi } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { Ago } from '../../parts/ago.tsx';
import { useAsked } from '../../parts/asked.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { SearchBox } from '../../parts/search-box.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { type MemberActions, MemberMenu } from './member-menu.tsx';
import { RemoveDialog } from './remove-dialog.tsx';
import { RoleDialog } from './role-dialog.tsx';
import { ROLE_NAMES, ROLE_WORDS, roleOf } from './roles.ts';

type Member = Schemas['Member'];

export function MembersList() {
  const { client } = useApi();
  const { id } = useAccount().active_org;
  const members = useQuery({
    queryKey: ['orgs', id, 'members'],
    queryFn: ({ signal }) => answered(client.GET('/orgs/{id}/members', { params: { path: { id } }, signal })),
  });
  return <Loaded query={members}>{(rows) => <Rows members={rows} />}</Loaded>;
}

function Rows({ members }: { readonly members: readonly Member[] }) {
  const { user } = useAccount();
  const [wanted, setWanted] = useState('');
  const [changing, removing] = [useAsked<Member>(), useAsked<Member>()];
  const columns = columnsFor(user.id, { onRole: changing.ask, onRemove: removing.ask });
  const shown = members.filter(({ email, name }) => `${name} ${email}`.toLowerCase().includes(wanted.toLowerCase()));
  return (
    <Stack gap="sm">
      <SearchBox
        label="Search members"
        placeholder="Search by name or address"
        among={members.length}
        value={wanted}
        onChange={setWanted}
      />
      <Table label="Members" rows={shown} rowKey={(row) => row.user_id} columns={columns} />
      <RoleDialog asked={changing} all={members} />
      <RemoveDialog asked={removing} all={members} />
    </Stack>
  );
}

function Who({ member: { name, email }, isMe }: { readonly member: Member; readonly isMe: boolean }) {
  return (
    <div>
      <Text span size="sm" fw={500} mr={6}>
        {name === '' ? email : name}
      </Text>
      {isMe && <StateBadge tone="info">you</StateBadge>}
      {name !== '' && (
        <Text size="xs" c="dimmed">
          {email}
        </Text>
      )}
    </div>
  );
}

/** Only admins and owners see this of other members. */
function SecondFactor({ enabled }: { readonly enabled: boolean | null }) {
  if (enabled === null)
    return (
      <Text c="dimmed" inherit component="span">
        not shown to you
      </Text>
    );
  return enabled ? (
    <span>on</span>
  ) : (
    <Text c="dimmed" inherit component="span">
      off
    </Text>
  );
}

function columnsFor(myId: string, actions: MemberActions): ReadonlyArray<Column<Member>> {
  return [
    { key: 'who', title: 'Who', cell: (row) => <Who member={row} isMe={row.user_id === myId} /> },
    {
      key: 'role',
      title: 'Role',
      cell: ({ role }) => <span title={ROLE_WORDS[roleOf(role)]}>{ROLE_NAMES[roleOf(role)]}</span>,
    },
    { key: 'mfa', title: 'Second factor', cell: ({ mfa_enabled: mfa }) => <SecondFactor enabled={mfa} /> },
    { key: 'joined', title: 'Joined', cell: (row) => <Ago at={row.joined_at} /> },
    {
      key: 'actions',
      title: 'Actions',
      hidden: true,
      align: 'right',
      cell: (row) => <MemberMenu member={row} {...actions} />,
    },
  ];
}
