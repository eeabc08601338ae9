/** The list of members, with the menu of each and the dialog to remove one. */
import { Menu, Stack, Text } from '@mantine/core';
import { IconDoorExit, IconUserMinus, IconUserShield } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { answered } from '../../api/client.ts';
import { useAccount, useApi } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { useAction } from '../../parts/action.ts';
import { Ago } from '../../parts/time/ago.tsx';
import { type Asked, useAsked } from '../../parts/dialogs/asked.ts';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { RowMenu, useMenuDialog } from '../../parts/dialogs/row-menu.tsx';
import { SearchBox } from '../../parts/forms/search-box.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { endedKeys, RoleDialog } from './role-dialog.tsx';
import { isLastOwner, LAST_OWNER, mayTouch, ROLE_NAMES, ROLE_WORDS, roleOf } from './roles.ts';

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
        placeholder="Name or email"
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
        hidden
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
    { key: 'who', title: 'User', cell: (row) => <Who member={row} isMe={row.user_id === myId} /> },
    {
      key: 'role',
      title: 'Role',
      cell: ({ role }) => <span title={ROLE_WORDS[roleOf(role)]}>{ROLE_NAMES[roleOf(role)]}</span>,
    },
    { key: 'mfa', title: '2FA', cell: ({ mfa_enabled: mfa }) => <SecondFactor enabled={mfa} /> },
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

/** Each opens the dialog about the member. */
interface MemberActions {
  readonly onRole: (member: Schemas['Member']) => void;
  readonly onRemove: (member: Schemas['Member']) => void;
}

interface MemberMenuProps extends MemberActions {
  readonly member: Schemas['Member'];
}

function MemberMenu({ member, onRole, onRemove }: MemberMenuProps) {
  const { user, active_org: org } = useAccount();
  const { button, from } = useMenuDialog();
  const isMe = member.user_id === user.id;
  const may = mayTouch({ me: roleOf(org.role), other: roleOf(member.role) });
  if (!may && !isMe) return null;
  return (
    <RowMenu button={button} label={`Actions for ${member.email}`}>
      {may && (
        <Menu.Item leftSection={<IconUserShield size={16} />} onClick={from(() => onRole(member))}>
          Change role
        </Menu.Item>
      )}
      <Menu.Item
        color="red"
        leftSection={isMe ? <IconDoorExit size={16} /> : <IconUserMinus size={16} />}
        onClick={from(() => onRemove(member))}
      >
        {isMe ? 'Leave organization' : 'Remove member'}
      </Menu.Item>
    </RowMenu>
  );
}

interface RemoveDialogProps {
  readonly asked: Asked<Schemas['Member']>;
  /** Of the organization. */
  readonly all: ReadonlyArray<Schemas['Member']>;
}

/** Removes a member from the organization, or lets the user leave it. */
function RemoveDialog({ asked: { row: member, opened, close }, all }: RemoveDialogProps) {
  const { user, active_org: org } = useAccount();
  const { client, session } = useApi();
  const isMe = member?.user_id === user.id;
  const remove = useAction({
    run: ({ user_id: userId }: Schemas['Member']) =>
      answered(client.DELETE('/orgs/{id}/members/{user_id}', { params: { path: { id: org.id, user_id: userId } } })),
    done: ({ revoked_tokens: ended }, { email }) =>
      isMe ? `You left ${org.name}.` : `${email} removed from ${org.name}.${endedKeys(ended)}`,
    touches: isMe ? [] : [['orgs', org.id]],
    onDone: async () => {
      close();
      // The session goes on in another organization of theirs, or is over where there is none.
      if (isMe) await session.begin();
    },
    tellsFailure: true,
  });
  return (
    <Confirm
      title={isMe ? `Leave ${org.name}?` : `Remove ${member?.email ?? ''} from ${org.name}?`}
      action={isMe ? 'Leave' : 'Remove'}
      opened={opened}
      isBusy={remove.isPending}
      error={remove.error}
      onConfirm={() => member !== undefined && remove.mutate(member)}
      onClose={() => {
        remove.reset();
        close();
      }}
    >
      {member !== undefined && isLastOwner(all, member.user_id) ? (
        <Text size="sm">{LAST_OWNER}</Text>
      ) : (
        <Text size="sm">
          The keys that {isMe ? 'you' : 'they'} created here are revoked, with all keys created by them, and their
          agents are disconnected. Invitations that {isMe ? 'you' : 'they'} sent are revoked. Tunnels stay with the
          organization.
          {isMe && ' To return, you need a new invitation.'}
        </Text>
      )}
    </Confirm>
  );
}
