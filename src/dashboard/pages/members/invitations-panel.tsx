/** Invitations that wait to be accepted. Nothing is shown while there is none. */
import { Button, Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { answered } from '../../api/client.ts';
import { useAccount, useApi } from '../../api/context.tsx';
import type { Role, Schemas } from '../../api/types.ts';
import { Ago } from '../../parts/ago.tsx';
import { type Asked, useAsked } from '../../parts/asked.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { useDeed } from '../../parts/deed.ts';
import { FailureAlert } from '../../parts/loaded.tsx';
import { Panel } from '../../parts/panel.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { ResendDialog } from './resend-dialog.tsx';
import { mayTouch, NOT_APPROVED, ROLE_NAMES, roleOf } from './roles.ts';

type Invitation = Schemas['Invitation'];

export function InvitationsPanel() {
  const { client } = useApi();
  const { id, role, approval_status: approval } = useAccount().active_org;
  const [sending, revoking] = [useAsked<Invitation>(), useAsked<Invitation>()];
  const invitations = useQuery({
    queryKey: ['orgs', id, 'invitations'],
    queryFn: ({ signal }) => answered(client.GET('/orgs/{id}/invitations', { params: { path: { id } }, signal })),
  });
  if (invitations.isError) return <FailureAlert error={invitations.error} again={invitations.refetch} />;
  if (invitations.data === undefined || invitations.data.length === 0) return null;
  return (
    <Panel title="Invitations" about="Sent, and not accepted yet.">
      <Table
        label="Invitations"
        rows={invitations.data}
        rowKey={(row) => row.id}
        columns={columnsFor({
          mine: roleOf(role),
          mayInvite: approval === 'approved',
          onSend: sending.ask,
          onRevoke: revoking.ask,
        })}
      />
      <ResendDialog asked={sending} />
      <RevokeDialog asked={revoking} />
    </Panel>
  );
}

function RevokeDialog({ asked: { row: invitation, opened, close } }: { readonly asked: Asked<Invitation> }) {
  const { client } = useApi();
  const { id } = useAccount().active_org;
  const revoke = useDeed({
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
      title={`Revoke the invitation of ${invitation?.email ?? ''}?`}
      deed="Revoke invitation"
      opened={opened}
      isBusy={revoke.isPending}
      error={revoke.error}
      onConfirm={() => invitation !== undefined && revoke.mutate(invitation.id)}
      onClose={() => {
        revoke.reset();
        close();
      }}
    >
      The link in the letter stops working. You can invite them again.
    </Confirm>
  );
}

interface Deeds {
  readonly mine: Role;
  /** The organization may have letters sent. */
  readonly mayInvite: boolean;
  readonly onSend: (invitation: Invitation) => void;
  readonly onRevoke: (invitation: Invitation) => void;
}

function columnsFor({ mine, mayInvite, onSend, onRevoke }: Deeds): ReadonlyArray<Column<Invitation>> {
  return [
    { key: 'email', title: 'Address', cell: ({ email }) => email },
    { key: 'role', title: 'Role', cell: (row) => ROLE_NAMES[roleOf(row.role)] },
    { key: 'by', title: 'Invited by', cell: (row) => row.invited_by },
    { key: 'until', title: 'Runs out', cell: (row) => <Ago at={row.expires_at} /> },
    {
      key: 'deeds',
      title: 'Actions',
      hidden: true,
      align: 'right',
      cell: (row) =>
        mayTouch({ me: mine, other: roleOf(row.role) }) && (
          <Group gap={0} justify="flex-end" wrap="nowrap">
            <Button
              variant="subtle"
              size="sm"
              onClick={() => onSend(row)}
              disabled={!mayInvite}
              title={mayInvite ? undefined : NOT_APPROVED}
              aria-label={`Send again the invitation of ${row.email}`}
            >
              Send again
            </Button>
            <Button
              variant="subtle"
              color="red"
              size="sm"
              onClick={() => onRevoke(row)}
              aria-label={`Revoke the invitation of ${row.email}`}
            >
              Revoke
            </Button>
          </Group>
        ),
    },
  ];
}
