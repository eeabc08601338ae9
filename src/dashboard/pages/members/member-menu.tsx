/** What can be done with one member: another role, take them out; with oneself: leave. Nothing where the role allows nothing. */
import { ActionIcon, Menu } from '@mantine/core';
import { IconDots, IconDoorExit, IconUserMinus, IconUserShield } from '@tabler/icons-react';
import { useAccount } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { useMenuDialog } from '../../parts/menu-dialog.ts';
import { mayTouch, roleOf } from './roles.ts';

/** Each opens the dialog about the member. */
export interface MemberDeeds {
  readonly onRole: (member: Schemas['Member']) => void;
  readonly onRemove: (member: Schemas['Member']) => void;
}

interface MemberMenuProps extends MemberDeeds {
  readonly member: Schemas['Member'];
}

export function MemberMenu({ member, onRole, onRemove }: MemberMenuProps) {
  const { user, active_org: org } = useAccount();
  const { button, from } = useMenuDialog();
  const isMe = member.user_id === user.id;
  const may = mayTouch({ me: roleOf(org.role), other: roleOf(member.role) });
  if (!may && !isMe) return null;
  return (
    <Menu position="bottom-end" withInitialFocusPlaceholder={false}>
      <Menu.Target>
        <ActionIcon ref={button} variant="subtle" color="gray" size={36} aria-label={`Actions for ${member.email}`}>
          <IconDots size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
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
      </Menu.Dropdown>
    </Menu>
  );
}
