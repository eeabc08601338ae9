/** Opens the palette (Ctrl+K, Cmd+K) and the list of keys (?). Their code is fetched at the first use. */
import { ActionIcon, Tooltip } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { lazy, Suspense, useEffect, useState } from 'react';
import { useLocation } from 'wouter';

const Palette = lazy(async () => ({ default: (await import('./palette.tsx')).Palette }));
const KeyList = lazy(async () => ({ default: (await import('./key-list.tsx')).KeyList }));

export function PaletteButton() {
  const [opened, setOpened] = useState<'palette' | 'keys'>();
  const [location] = useLocation();
  const hasOwnKeys = location.startsWith('/inspector');
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const wanted = wantedBy(event);
      // The inspector lists keys of its own.
      if (wanted === undefined || (wanted === 'keys' && hasOwnKeys)) return;
      event.preventDefault();
      setOpened((now) => (now === wanted ? undefined : wanted));
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [hasOwnKeys]);
  const close = (): void => setOpened(undefined);
  return (
    <>
      <Tooltip label="Search (Ctrl+K)">
        <ActionIcon
          variant="default"
          size="lg"
          aria-label="Search"
          aria-keyshortcuts="Control+K Meta+K"
          onClick={() => setOpened('palette')}
        >
          <IconSearch size={18} />
        </ActionIcon>
      </Tooltip>
      <Suspense>
        {opened === 'palette' && <Palette onClose={close} />}
        {opened === 'keys' && <KeyList onClose={close} />}
      </Suspense>
    </>
  );
}

function wantedBy({ key, ctrlKey, metaKey, altKey, target }: KeyboardEvent): 'palette' | 'keys' | undefined {
  if ((ctrlKey || metaKey) && !altKey && key.toLowerCase() === 'k') return isInDialog() ? undefined : 'palette';
  const isTyping =
    target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]') !== null;
  return key === '?' && !ctrlKey && !metaKey && !isTyping && !isInDialog() ? 'keys' : undefined;
}

/** What a dialog shows may be shown only once: nothing comes over it, but for the palette's own second press. */
function isInDialog(): boolean {
  const dialog = document.querySelector('[role="dialog"]');
  return dialog !== null && dialog.querySelector('.culvert-palette') === null;
}
