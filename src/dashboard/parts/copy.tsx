/** Text to take along: a command, a key, an address. */
import { ActionIcon, Code, Group, Tooltip } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useRef } from 'react';
import { useCopy } from './clipboard.ts';
import { sayNews } from './action.ts';

interface CopyIconProps {
  readonly value: string;
  /** For screen readers, as in "Copy the command". */
  readonly what: string;
  /** Selects the text where it stands, when the browser does not copy it. */
  readonly select?: () => void;
}

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

const BY_HAND = 'The browser copies nothing here. The text is selected: press Ctrl+C, or Cmd+C on a Mac.';

/** A line of text is enough to be selected in the notice itself. */
const NOTICE_LENGTH = 200;

function withoutPlace(value: string): string {
  return value.length > NOTICE_LENGTH
    ? 'The browser copies nothing here. Select the text and press Ctrl+C, or Cmd+C on a Mac.'
    : `The browser copies nothing here. Select it in this notice: ${value}`;
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
