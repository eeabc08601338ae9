/** Where the keyboard goes on when the element that has the focus is removed: else it would begin at the top of the document. */

/** Focuses an element that is no stop of the Tab key. */
export function focusOn(element: HTMLElement | null): void {
  if (element === null) return;
  if (element.tabIndex < 0) element.tabIndex = -1;
  element.focus({ preventScroll: true });
}

/** The page below the navigation. */
export function focusMain(): void {
  focusOn(document.getElementById('main'));
}
