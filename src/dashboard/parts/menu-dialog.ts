/**
 * Menus whose entries open a dialog. A dialog gives the focus back to what had it when it opened: the entry of the menu, which is gone by then, so
 * that the keyboard would start again at the top of the page.
 */
import { type RefObject, useRef } from 'react';

export interface MenuDialog {
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
