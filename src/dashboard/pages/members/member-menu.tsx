/** What can be done with one member: another role, take them out; with oneself: leave. Nothing where the role allows nothing. */
import { Menu } from '@mantine/core';
import { IconDoorExit, IconUserMinus, IconUserShield } from '@tabler/icons-react';
import { useAccount } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { useMenuDialog } from '../../parts/menu-dialog.ts';
import { RowMenu } from '../../parts/row-menu.tsx';
import { mayTouch, roleOf } from './roles.ts';

/** Each opens the dialog about the member. */
export interface MemberActions {
  readonly onRole: (member: Schemas['Member']) => void;
  readonly onRemove: (member: Schemas['Member']) => void;
}

interface MemberMenuProps extends MemberActions {
  readonly member: Schemas['Member'];
}

export function MemberMenu({ member, onRole, onRemove }: MemberMenuProps) {
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
        {isMe ? 'Leave the organization' : 'Remove from the organization'}
      </Menu.Item>
    </RowMenu>
  );
}
