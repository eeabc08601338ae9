/** Who is in the organization, with which role, and who is invited. */
import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconUserPlus } from '@tabler/icons-react';
import { useAccount, useMay } from '../../api/context.tsx';
import { Page } from '../../parts/page.tsx';
import { InvitationsPanel } from './invitations-panel.tsx';
import { InviteDialog } from './invite-dialog.tsx';
import { MembersList } from './members-list.tsx';
import { NOT_APPROVED } from './roles.ts';

export function MembersPage() {
  const { active_org: org } = useAccount();
  const mayInvite = useMay('admin');
  const [inviting, { open, close }] = useDisclosure(false);
  const isApproved = org.approval_status === 'approved';
  return (
    <Page
      title="Members"
      about={`Who works in ${org.name}, and what their role lets them do.${mayInvite ? '' : ' Admins and owners invite people and change roles.'}`}
      actions={
        mayInvite && (
          <Button
            leftSection={<IconUserPlus size={16} />}
            onClick={open}
            disabled={!isApproved}
            title={isApproved ? undefined : NOT_APPROVED}
          >
            Invite member
          </Button>
        )
      }
    >
      <MembersList />
      <InvitationsPanel />
      <InviteDialog opened={inviting} onClose={close} />
    </Page>
  );
}
