/**
 * Puts text into the clipboard, also where the browser has no `navigator.clipboard`: over plain http it is there for localhost alone, and many a
 * server in a home or an office is reached so. Called by the buttons of parts/copy.tsx and by menus.
 */
import { useEffect, useRef, useState } from 'react';

/** How long a button says that it was done. */
const SAID_MS = 2000;

/** Must be called by a click or a key. Returns whether the text is in the clipboard; throws nothing. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Not there, or not allowed: the older way.
    return copyByCommand(text);
  }
}

/** Answers the browser's own question what is to be copied: nothing need be selected, and the focus stays where it is. */
function copyByCommand(text: string): boolean {
  let isTaken = false;
  const give = (event: ClipboardEvent): void => {
    if (event.clipboardData === null) return;
    event.clipboardData.setData('text/plain', text);
    event.preventDefault();
    event.stopImmediatePropagation();
    isTaken = true;
  };
  document.addEventListener('copy', give, { capture: true });
  try {
    return document.execCommand('copy') && isTaken;
  } finally {
    document.removeEventListener('copy', give, { capture: true });
  }
}

export interface Copying {
  /** For a moment after it was done. */
  readonly isCopied: boolean;
  readonly copy: (text: string) => void;
}

/** `onRefused`: the browser refused to copy; the caller shows another way. */
export function useCopy(onRefused: () => void): Copying {
  const [isCopied, setCopied] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const copy = (text: string): void => {
    void copyText(text).then((isDone) => {
      clearTimeout(timer.current);
      setCopied(isDone);
      if (!isDone) return onRefused();
      timer.current = setTimeout(() => setCopied(false), SAID_MS);
    });
  };
  return { isCopied, copy };
}
