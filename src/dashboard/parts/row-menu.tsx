/** What can be done with one row: a button with dots, and the menu that it opens. The entries are the children. */
import { ActionIcon, Menu } from '@mantine/core';
import { IconDots } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import type { MenuDialog } from './menu-dialog.ts';

interface RowMenuProps {
  /** Of `useMenuDialog`, for entries that open a dialog. */
  readonly button: MenuDialog['button'];
  /** "Actions for the key ci" */
  readonly label: string;
  /** What was chosen is under way. */
  readonly isBusy?: boolean;
  readonly children: ReactNode;
}

export function RowMenu({ button, label, isBusy = false, children }: RowMenuProps) {
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon ref={button} variant="subtle" color="gray" size={36} loading={isBusy} aria-label={label}>
          <IconDots size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>{children}</Menu.Dropdown>
    </Menu>
  );
}
