/** Text to take along: a command, a key, an address. */
import { ActionIcon, Code, CopyButton, Group, Tooltip } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';

/** `what`: for screen readers, as in "Copy the command". */
export function CopyIcon({ value, what }: { readonly value: string; readonly what: string }) {
  return (
    <CopyButton value={value} timeout={2000}>
      {({ copied, copy }) => (
        <Tooltip label={copied ? 'Copied' : `Copy ${what}`}>
          <ActionIcon variant="subtle" color={copied ? 'teal' : 'gray'} onClick={copy} aria-label={`Copy ${what}`}>
            {copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
          </ActionIcon>
        </Tooltip>
      )}
    </CopyButton>
  );
}

interface CopyLineProps {
  readonly value: string;
  readonly what: string;
}

/** The text in full, with the button beside it. Lines stay as they are. */
export function CopyLine({ value, what }: CopyLineProps) {
  return (
    <Group className="culvert-copy" gap="xs" wrap="nowrap" align="flex-start">
      <Code block className="culvert-copy-text" tabIndex={0} role="group" aria-label={what}>
        {value}
      </Code>
      <CopyIcon value={value} what={what} />
    </Group>
  );
}
