/** Invitations that wait to be accepted. Nothing is shown while there is none. */
import { useQuery } from '@tanstack/react-query';
import { answered } from '../../api/client.ts';
import { useAccount, useApi } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { Ago } from '../../parts/ago.tsx';
import { useAsked } from '../../parts/asked.ts';
import { FailureAlert } from '../../parts/loaded.tsx';
import { Panel } from '../../parts/panel.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { type InvitationActions, InvitationMenu } from './invitation-menu.tsx';
import { ResendDialog } from './resend-dialog.tsx';
import { RevokeDialog } from './revoke-dialog.tsx';
import { ROLE_NAMES, roleOf } from './roles.ts';

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
        <Panel title="Invitations" about="Sent, and not accepted yet.">
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
    { key: 'email', title: 'Address', cell: ({ email }) => email },
    { key: 'role', title: 'Role', cell: (row) => ROLE_NAMES[roleOf(row.role)] },
    { key: 'by', title: 'Invited by', cell: (row) => row.invited_by },
    { key: 'until', title: 'Runs out', cell: (row) => <Ago at={row.expires_at} /> },
    {
      key: 'actions',
      title: 'Actions',
      hidden: true,
      align: 'right',
      cell: (row) => <InvitationMenu invitation={row} {...actions} />,
    },
  ];
}
