/** Takes an invitation back. */
import { answered } from '../../api/client.ts';
import { useAccount, useApi } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import type { Asked } from '../../parts/asked.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { useAction } from '../../parts/action.ts';

type Invitation = Schemas['Invitation'];

export function RevokeDialog({ asked: { row: invitation, opened, close } }: { readonly asked: Asked<Invitation> }) {
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
      title={`Revoke the invitation of ${invitation?.email ?? ''}?`}
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
