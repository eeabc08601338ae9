/** Whether Ctrl+Z undoes the action of the notice. In text fields it is the browser's; behind a dialog or a menu it does nothing. */

const TEXT = 'textarea, select, input:not([type="radio"], [type="checkbox"]), [role="dialog"], [role="menu"]';

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
  return target instanceof HTMLElement && !target.isContentEditable && target.closest(TEXT) === null;
}
