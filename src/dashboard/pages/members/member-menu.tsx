/** What can be done with one member: another role, take them out; with oneself: leave. Nothing where the role allows nothing. */
import { ActionIcon, Menu } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconDots, IconDoorExit, IconUserMinus, IconUserShield } from '@tabler/icons-react';
import { useAccount } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { useMenuDialog } from '../../parts/menu-dialog.ts';
import { mayTouch, roleOf } from './roles.ts';
import { RoleDialog } from './role-dialog.tsx';
import { RemoveDialog } from './remove-dialog.tsx';

interface MemberMenuProps {
  readonly member: Schemas['Member'];
  readonly isLastOwner: boolean;
}

export function MemberMenu({ member, isLastOwner }: MemberMenuProps) {
  const { user, active_org: org } = useAccount();
  const [changing, change] = useDisclosure(false);
  const [removing, remove] = useDisclosure(false);
  const { button, from, back } = useMenuDialog();
  const isMe = member.user_id === user.id;
  const may = mayTouch({ me: roleOf(org.role), other: roleOf(member.role) });
  if (!may && !isMe) return null;
  return (
    <>
      <Menu position="bottom-end" withInitialFocusPlaceholder={false}>
        <Menu.Target>
          <ActionIcon ref={button} variant="subtle" color="gray" size={36} aria-label={`Actions for ${member.email}`}>
            <IconDots size={18} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {may && (
            <Menu.Item leftSection={<IconUserShield size={16} />} onClick={from(change.open)}>
              Change role
            </Menu.Item>
          )}
          <Menu.Item
            color="red"
            leftSection={isMe ? <IconDoorExit size={16} /> : <IconUserMinus size={16} />}
            onClick={from(remove.open)}
          >
            {isMe ? 'Leave the organization' : 'Remove from the organization'}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {changing && <RoleDialog member={member} isLastOwner={isLastOwner} onClose={back(change.close)} />}
      <RemoveDialog member={member} isLastOwner={isLastOwner} opened={removing} onClose={remove.close} />
    </>
  );
}
