/** Buttons that copy a text, and the clipboard behind them. */
import { ActionIcon, Code, Group, Tooltip } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { sayNews } from './action.ts';

interface CopyIconProps {
  readonly value: string;
  /** For screen readers, as in "Copy the command". */
  readonly what: string;
  /** Selects the text where it stands, when the browser does not copy it. */
  readonly select?: () => void;
}

/** Text to take along: a command, a key, an address. */
export function CopyIcon({ value, what, select }: CopyIconProps) {
  const { isCopied, copy } = useCopy(() => {
    select?.();
    sayNews(select === undefined ? withoutPlace(value) : BY_HAND);
  });
  return (
    <Tooltip label={isCopied ? 'Copied' : `Copy ${what}`}>
      <ActionIcon
        variant="subtle"
        color={isCopied ? 'teal' : 'gray'}
        onClick={() => copy(value)}
        aria-label={`Copy ${what}`}
      >
        {isCopied ? <IconCheck size={16} /> : <IconCopy size={16} />}
      </ActionIcon>
    </Tooltip>
  );
}

const BY_HAND = 'The browser blocked copying. The text is selected: press Ctrl+C, or Cmd+C on a Mac.';

/** A line of text is enough to be selected in the notice itself. */
const NOTICE_LENGTH = 200;

function withoutPlace(value: string): string {
  return value.length > NOTICE_LENGTH
    ? 'The browser blocked copying. Select the text and press Ctrl+C, or Cmd+C on a Mac.'
    : `The browser blocked copying. Select it in this notice: ${value}`;
}

interface CopyLineProps {
  readonly value: string;
  readonly what: string;
}

/** The text in full, with the button beside it. Lines stay as they are. */
export function CopyLine({ value, what }: CopyLineProps) {
  const text = useRef<HTMLPreElement>(null);
  const select = (): void => {
    if (text.current === null) return;
    text.current.focus();
    getSelection()?.selectAllChildren(text.current);
  };
  return (
    <Group className="culvert-copy" gap="xs" wrap="nowrap" align="flex-start">
      <Code block className="culvert-copy-text" tabIndex={0} role="group" aria-label={what} ref={text}>
        {value}
      </Code>
      <CopyIcon value={value} what={what} select={select} />
    </Group>
  );
}

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

interface Copying {
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
