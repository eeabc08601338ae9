/** What can be done with one invitation: send it again, take it back. Nothing where the role allows nothing. */
import { Menu } from '@mantine/core';
import { IconMailForward, IconMailOff } from '@tabler/icons-react';
import { useAccount } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { useMenuDialog } from '../../parts/menu-dialog.ts';
import { RowMenu } from '../../parts/row-menu.tsx';
import { mayTouch, NOT_APPROVED, roleOf } from './roles.ts';

/** Each opens the dialog about the invitation. */
export interface InvitationActions {
  readonly onSend: (invitation: Schemas['Invitation']) => void;
  readonly onRevoke: (invitation: Schemas['Invitation']) => void;
}

interface InvitationMenuProps extends InvitationActions {
  readonly invitation: Schemas['Invitation'];
}

export function InvitationMenu({ invitation, onSend, onRevoke }: InvitationMenuProps) {
  const { active_org: org } = useAccount();
  const { button, from } = useMenuDialog();
  if (!mayTouch({ me: roleOf(org.role), other: roleOf(invitation.role) })) return null;
  const isApproved = org.approval_status === 'approved';
  return (
    <RowMenu button={button} label={`Actions for the invitation of ${invitation.email}`}>
      <Menu.Item
        leftSection={<IconMailForward size={16} />}
        disabled={!isApproved}
        title={isApproved ? undefined : NOT_APPROVED}
        onClick={from(() => onSend(invitation))}
      >
        Send again
      </Menu.Item>
      <Menu.Item color="red" leftSection={<IconMailOff size={16} />} onClick={from(() => onRevoke(invitation))}>
        Revoke
      </Menu.Item>
    </RowMenu>
  );
}
