/** Invitations that wait to be accepted. Nothing is shown while there is none. */
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { answered } from '../../api/client.ts';
import { useAccount, useApi } from '../../api/context.tsx';
import type { Role, Schemas } from '../../api/types.ts';
import { Ago } from '../../parts/ago.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { useDeed } from '../../parts/deed.ts';
import { FailureAlert } from '../../parts/loaded.tsx';
import { Panel } from '../../parts/panel.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { mayTouch, ROLE_NAMES, roleOf } from './roles.ts';

type Invitation = Schemas['Invitation'];

export function InvitationsPanel() {
  const { client } = useApi();
  const { id, role } = useAccount().active_org;
  const [revoking, setRevoking] = useState<Invitation>();
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
        columns={columnsFor(roleOf(role), setRevoking)}
      />
      <RevokeDialog invitation={revoking} onClose={() => setRevoking(undefined)} />
    </Panel>
  );
}

interface RevokeDialogProps {
  readonly invitation: Invitation | undefined;
  readonly onClose: () => void;
}

function RevokeDialog({ invitation, onClose }: RevokeDialogProps) {
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
    onDone: onClose,
    tellsFailure: true,
  });
  return (
    <Confirm
      title={`Revoke the invitation of ${invitation?.email ?? ''}?`}
      deed="Revoke invitation"
      opened={invitation !== undefined}
      isBusy={revoke.isPending}
      error={revoke.error}
      onConfirm={() => invitation !== undefined && revoke.mutate(invitation.id)}
      onClose={() => {
        revoke.reset();
        onClose();
      }}
    >
      The link in the letter stops working. You can invite them again.
    </Confirm>
  );
}

function columnsFor(mine: Role, onRevoke: (invitation: Invitation) => void): ReadonlyArray<Column<Invitation>> {
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
          <Button
            variant="subtle"
            color="red"
            size="sm"
            onClick={() => onRevoke(row)}
            aria-label={`Revoke the invitation of ${row.email}`}
          >
            Revoke
          </Button>
        ),
    },
  ];
}
