/** The actions menu of a row: a button with dots. The entries are the children. */
import { ActionIcon, Menu } from '@mantine/core';
import { IconDots } from '@tabler/icons-react';
import { type ReactNode, type RefObject, useRef } from 'react';

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

/**
 * Menus whose entries open a dialog. A dialog gives the focus back to what had it when it opened: the entry of the menu, which is gone by then, so
 * that the keyboard would start again at the top of the page.
 */
interface MenuDialog {
  /** Of the button that opens the menu. */
  readonly button: RefObject<HTMLButtonElement | null>;
  /** What an entry does: the dialog is opened from the menu's button. */
  readonly from: (open: () => void) => () => void;
  /** For a dialog that is drawn only once it is open, and so does not know where the focus was: it closes back to the menu's button. */
  readonly back: (close: () => void) => () => void;
}

export function useMenuDialog(): MenuDialog {
  const button = useRef<HTMLButtonElement>(null);
  const focusFirst = (then: () => void) => (): void => {
    button.current?.focus();
    then();
  };
  return { button, from: focusFirst, back: focusFirst };
}
