/** Bytes as bytes, a few kilobytes at a time. */
import { Button, Code, Group } from '@mantine/core';
import { useState } from 'react';
import { bytesText } from '../../../parts/format.ts';
import { hexDump } from './bytes.ts';

const STEP = 4096;

export function HexView({ bytes }: { readonly bytes: Uint8Array }) {
  const [most, setMost] = useState(STEP);
  return (
    <>
      <Code block className="culvert-body" data-dump tabIndex={0} aria-label="The body as bytes">
        {hexDump(bytes, most)}
      </Code>
      {bytes.length > most && (
        <Group gap="xs">
          <Button size="xs" variant="default" onClick={() => setMost(most * 4)}>
            Show more ({bytesText(bytes.length - most)} left)
          </Button>
        </Group>
      )}
    </>
  );
}
