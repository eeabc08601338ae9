/** Open invitations, with the menu and the dialogs of each. Hidden while there are none. */
import { Button, Group, Menu, Stack, Text } from '@mantine/core';
import { IconMailForward, IconMailOff } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { answered } from '../../api/client.ts';
import { useAccount, useApi } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { useAction } from '../../parts/action.ts';
import { Ago } from '../../parts/time/ago.tsx';
import { type Asked, useAsked } from '../../parts/dialogs/asked.ts';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { CopyLine } from '../../parts/copy.tsx';
import { FailureAlert } from '../../parts/loaded.tsx';
import { RowMenu, useMenuDialog } from '../../parts/dialogs/row-menu.tsx';
import { OneTimeSecret, OneTimeSecretModal, useHeld } from '../../parts/dialogs/one-time-secret.tsx';
import { Panel } from '../../parts/panel.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { mayTouch, NOT_APPROVED, ROLE_NAMES, roleOf } from './roles.ts';

type Invitation = Schemas['Invitation'];

export function InvitationsPanel() {
  const { client } = useApi();
  const { id } = useAccount().active_org;
  const [sending, revoking] = [useAsked<Invitation>(), useAsked<Invitation>()];
  const { data: rows = [], ...invitations } = useQuery({
    queryKey: ['orgs', id, 'invitations'],
    queryFn: ({ signal }) => answered(client.GET('/orgs/{id}/invitations', { params: { path: { id } }, signal })),
  });
  return (
    <>
      {invitations.isError && <FailureAlert error={invitations.error} again={invitations.refetch} />}
      {rows.length > 0 && (
        <Panel title="Invitations" about="Sent but not accepted yet.">
          <Table
            label="Invitations"
            rows={rows}
            rowKey={(row) => row.id}
            columns={columnsFor({ onSend: sending.ask, onRevoke: revoking.ask })}
          />
        </Panel>
      )}
      {/* A link that is shown once stays, whatever becomes of the list. */}
      <ResendDialog asked={sending} />
      <RevokeDialog asked={revoking} />
    </>
  );
}

function columnsFor(actions: InvitationActions): ReadonlyArray<Column<Invitation>> {
  return [
    { key: 'email', title: 'Email', cell: ({ email }) => email },
    { key: 'role', title: 'Role', cell: (row) => ROLE_NAMES[roleOf(row.role)] },
    { key: 'by', title: 'Invited by', cell: (row) => row.invited_by },
    { key: 'until', title: 'Expires', cell: (row) => <Ago at={row.expires_at} /> },
    {
      key: 'actions',
      title: 'Actions',
      hidden: true,
      align: 'right',
      cell: (row) => <InvitationMenu invitation={row} {...actions} />,
    },
  ];
}

/** Each opens the dialog about the invitation. */
interface InvitationActions {
  readonly onSend: (invitation: Schemas['Invitation']) => void;
  readonly onRevoke: (invitation: Schemas['Invitation']) => void;
}

interface InvitationMenuProps extends InvitationActions {
  readonly invitation: Schemas['Invitation'];
}

function InvitationMenu({ invitation, onSend, onRevoke }: InvitationMenuProps) {
  const { active_org: org } = useAccount();
  const { button, from } = useMenuDialog();
  if (!mayTouch({ me: roleOf(org.role), other: roleOf(invitation.role) })) return null;
  const isApproved = org.approval_status === 'approved';
  return (
    <RowMenu button={button} label={`Actions for the invitation for ${invitation.email}`}>
      <Menu.Item
        leftSection={<IconMailForward size={16} />}
        disabled={!isApproved}
        title={isApproved ? undefined : NOT_APPROVED}
        onClick={from(() => onSend(invitation))}
      >
        Resend
      </Menu.Item>
      <Menu.Item color="red" leftSection={<IconMailOff size={16} />} onClick={from(() => onRevoke(invitation))}>
        Revoke
      </Menu.Item>
    </RowMenu>
  );
}

/** Sends an invitation again, and shows its new link once, for servers whose email does not arrive. */
function ResendDialog({ asked: { row, opened, close } }: { readonly asked: Asked<Invitation> }) {
  return (
    <OneTimeSecretModal opened={opened} onClose={close} title={`Resend to ${row?.email ?? ''}?`}>
      {row !== undefined && <Steps key={row.id} invitation={row} onClose={close} />}
    </OneTimeSecretModal>
  );
}

interface StepsProps {
  readonly invitation: Invitation;
  readonly onClose: () => void;
}

function Steps({ invitation: { id: invitationId, email }, onClose }: StepsProps) {
  const { client } = useApi();
  const { id } = useAccount().active_org;
  const isHeld = useHeld();
  const [link, setLink] = useState<string>();
  const resend = useAction({
    run: () =>
      answered(
        client.POST('/orgs/{id}/invitations/{invitation_id}/resend', {
          params: { path: { id, invitation_id: invitationId } },
        }),
      ),
    touches: [['orgs', id, 'invitations']],
    onDone: ({ accept_url: url }) => setLink(url),
    tellsFailure: true,
  });
  if (link !== undefined)
    return (
      <OneTimeSecret label="Invitation link">
        <Text size="sm" className="culvert-wrap">
          Email sent to <strong>{email}</strong>. If it does not arrive, send this link yourself. It works only for the
          account with this address. You won&apos;t see it again.
        </Text>
        <CopyLine value={link} what="the link" />
      </OneTimeSecret>
    );
  return (
    <Stack>
      <Text size="sm">Sends another email with a new link, valid for 7 days. The old link stops working.</Text>
      {resend.isError && <FailureAlert error={resend.error} />}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" disabled={isHeld} onClick={onClose}>
          Cancel
        </Button>
        <Button loading={resend.isPending} onClick={() => resend.mutate()} data-autofocus>
          Resend
        </Button>
      </Group>
    </Stack>
  );
}

/** Takes an invitation back. */
function RevokeDialog({ asked: { row: invitation, opened, close } }: { readonly asked: Asked<Invitation> }) {
  const { client } = useApi();
  const { id } = useAccount().active_org;
  const revoke = useAction({
    run: (invitationId: string) =>
      answered(
        client.DELETE('/orgs/{id}/invitations/{invitation_id}', {
          params: { path: { id, invitation_id: invitationId } },
        }),
      ),
    touches: [['orgs', id, 'invitations']],
    onDone: close,
    tellsFailure: true,
  });
  return (
    <Confirm
      title={`Revoke the invitation for ${invitation?.email ?? ''}?`}
      action="Revoke invitation"
      opened={opened}
      isBusy={revoke.isPending}
      error={revoke.error}
      onConfirm={() => invitation !== undefined && revoke.mutate(invitation.id)}
      onClose={() => {
        revoke.reset();
        close();
      }}
    >
      The link in the email stops working. You can invite them again.
    </Confirm>
  );
}
