/** The public URL of a tunnel, to open and to copy. */
import { ActionIcon, Anchor, Group, Text, Tooltip } from '@mantine/core';
import { IconExternalLink } from '@tabler/icons-react';
import { CopyIcon } from '../../parts/copy.tsx';

/** Pixels: of a name of 63 characters the end is cut off; its button copies the whole. */
const MAX_WIDTH = 'min(420px, 64vw)';

interface AddressProps {
  /** As the server made it; a `tcp:` one leads nowhere in a browser. */
  readonly url: string;
  /** Of the tunnel, for screen readers. */
  readonly name: string;
  /** `xs`: in lists, by the host alone. */
  readonly size?: 'xs' | 'sm';
}

export function Address({ url, name, size = 'sm' }: AddressProps) {
  const isLink = /^https?:\/\//.test(url);
  return (
    <Group gap={2} wrap="nowrap" className="culvert-address">
      {isLink ? (
        <Anchor href={url} target="_blank" rel="noopener noreferrer" size={size} c="dimmed" truncate maw={MAX_WIDTH}>
          {size === 'xs' ? new URL(url).host : url}
        </Anchor>
      ) : (
        <Text size={size} c="dimmed" truncate maw={MAX_WIDTH}>
          {url}
        </Text>
      )}
      <CopyIcon value={url} what={`the URL of ${name}`} />
      {isLink && (
        <Tooltip label="Open in a new tab">
          <ActionIcon
            component="a"
            href={url}
            target="_blank"
            rel="noopener noreferrer"
            variant="subtle"
            color="gray"
            aria-label={`Open ${name}`}
          >
            <IconExternalLink size={16} />
          </ActionIcon>
        </Tooltip>
      )}
    </Group>
  );
}
