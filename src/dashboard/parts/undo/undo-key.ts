/** Whether Ctrl+Z undoes the action of the notice. In text fields it is the browser's; behind a dialog or a menu it does nothing. */

const TEXT = 'textarea, select, input:not([type="radio"], [type="checkbox"])';
/** Also while the focus is outside: a click beside a dialog's fields takes it to the body. */
const IN_FRONT = '[role="dialog"], [role="menu"]';

export function isUndoKey({
  defaultPrevented,
  ctrlKey,
  metaKey,
  shiftKey,
  altKey,
  key,
  target,
}: KeyboardEvent): boolean {
  if (defaultPrevented || ctrlKey === metaKey || shiftKey || altKey || key.toLowerCase() !== 'z') return false;
  if (!(target instanceof HTMLElement) || target.isContentEditable || target.closest(TEXT) !== null) return false;
  return document.querySelector(IN_FRONT) === null;
}
