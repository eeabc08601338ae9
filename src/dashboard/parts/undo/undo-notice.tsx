/** The notice of an action, with its undo. It expires, so the page must also offer the reverse action. */
import { Button, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useEffect, useRef, useState } from 'react';
import { focusMain } from '../focus.ts';
import { BROWSER_CLOCK, Expiry } from './expiry.ts';
import { isUndoKey } from './undo-key.ts';

/** One at a time: a later action replaces the notice of the one before. */
const ID = 'undo';
const NOTICE = '[role="group"][aria-label="Undo"]';
/** A status that comes with its text is often not announced: the text follows so much later. */
const ANNOUNCED_MS = 50;

/** `run`: never throws. Called once at most. */
export function showUndo(message: string, run: () => void): void {
  notifications.hide(ID);
  const onUndo = (): void => {
    notifications.hide(ID);
    run();
  };
  notifications.show({
    id: ID,
    color: 'culvert',
    // Before notices that stay: they must not delay it.
    priority: 1,
    autoClose: false,
    role: 'group',
    'aria-label': 'Undo',
    closeButtonProps: { 'aria-label': 'Dismiss' },
    onClose: () => {
      if (document.activeElement?.matches(`${NOTICE} *`) === true) focusMain();
    },
    // Each begins its time anew.
    message: <Offer key={performance.now()} message={message} onUndo={onUndo} />,
  });
}

interface OfferProps {
  readonly message: string;
  readonly onUndo: () => void;
}

function Offer({ message, onUndo }: OfferProps) {
  const place = useRef<HTMLDivElement>(null);
  const isDone = useRef(false);
  const undo = (): void => {
    if (isDone.current) return;
    isDone.current = true;
    onUndo();
  };
  const latest = useRef(undo);
  useEffect(() => {
    latest.current = undo;
  });
  const [announced, announce] = useState('');
  useEffect(() => BROWSER_CLOCK.after(ANNOUNCED_MS, () => announce(message)), [message]);
  useEffect(() => expireUnheld(noticeOf(place.current)), []);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (!isUndoKey(event)) return;
      event.preventDefault();
      latest.current();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  return (
    <Group ref={place} justify="space-between" wrap="nowrap" gap="sm">
      <Text size="sm" className="culvert-wrap" role="status">
        {announced}
      </Text>
      <Button
        variant="subtle"
        size="compact-sm"
        className="culvert-fixed"
        aria-keyshortcuts="Control+Z Meta+Z"
        title="Ctrl+Z"
        onClick={undo}
      >
        Undo
      </Button>
    </Group>
  );
}

/** The whole notice, with its button to dismiss. */
function noticeOf(place: HTMLElement | null): HTMLElement | null {
  return place?.closest<HTMLElement>(NOTICE) ?? null;
}

/** Hides the notice after its time, which stands still while the pointer or the focus is in it. */
function expireUnheld(notice: HTMLElement | null): () => void {
  const expiry = new Expiry(() => notifications.hide(ID));
  const listeners = new AbortController();
  const on = (type: string, act: () => void): void => notice?.addEventListener(type, act, { signal: listeners.signal });
  on('pointerenter', () => expiry.hold('hover'));
  on('pointerleave', () => expiry.release('hover'));
  on('focusin', () => expiry.hold('focus'));
  on('focusout', () => expiry.release('focus'));
  return () => {
    listeners.abort();
    expiry.stop();
  };
}
