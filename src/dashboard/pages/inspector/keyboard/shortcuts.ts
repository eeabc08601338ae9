/** Single keys of the inspector: which there are, and when they are meant. */
import { useLocalStorage } from '@mantine/hooks';
import { useEffect, useRef } from 'react';

export const KEYS = [
  { key: 'j', what: 'Next request' },
  { key: 'k', what: 'Previous request' },
  { key: 'Enter', what: 'Open the request' },
  { key: 'Escape', what: 'Close the request' },
  { key: 'r', what: 'Replay' },
  { key: 'c', what: 'Copy as curl' },
  { key: 'd', what: 'Compare with another request' },
  { key: '/', what: 'Search' },
  { key: '?', what: 'Show shortcuts' },
] as const;

type Key = (typeof KEYS)[number]['key'];
export type Handlers = Partial<Record<Key, () => void>>;

/** Speech input types by itself, and so do some people's hands: the keys can be turned off. */
export function useShortcutsOn(): readonly [isOn: boolean, set: (isOn: boolean) => void] {
  const [isOn, set] = useLocalStorage({
    key: 'culvert-inspector-shortcuts',
    defaultValue: true,
    getInitialValueInEffect: false,
  });
  return [isOn, set];
}

/** As long as the caller is drawn. `?` works also when the others are off: it is where they are turned on. */
export function useShortcuts(handlers: Handlers): void {
  const [isOn] = useShortcutsOn();
  const latest = useRef(handlers);
  useEffect(() => {
    latest.current = handlers;
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const act = Object.hasOwn(latest.current, event.key) ? latest.current[event.key as Key] : undefined;
      if (act === undefined || (!isOn && event.key !== '?') || !isMeant(event)) return;
      event.preventDefault();
      act();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [isOn]);
}

/** Not while text is typed, nor for a shortcut of the browser, nor behind a dialog or a menu. */
function isMeant({ defaultPrevented, ctrlKey, metaKey, altKey, target, key }: KeyboardEvent): boolean {
  if (defaultPrevented || ctrlKey || metaKey || altKey || !(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target.closest('input, textarea, select, [role="menu"], [role="dialog"]') !== null)
    return false;
  // What has the focus is what Enter presses.
  if (key === 'Enter' && target !== document.body) return false;
  return document.querySelector('[role="dialog"], [role="menu"]') === null;
}
