/** When Ctrl+Z means the notice: not while text is typed, where it is the browser's, nor behind a dialog or a menu. */

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
