/** A body as it is: hexadecimal, or plain text. */
import { Button, Code, Group } from '@mantine/core';
import { useState } from 'react';
import { bytesText } from '../../../parts/format.ts';
import { visibleLines } from '../visible-text.ts';
import { hexDump } from './bytes.ts';

const STEP = 4096;

/** Bytes as bytes, a few kilobytes at a time. */
export function HexView({ bytes }: { readonly bytes: Uint8Array }) {
  const [most, setMost] = useState(STEP);
  return (
    <>
      <Code block className="culvert-body" data-dump tabIndex={0} aria-label="Body as bytes">
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

/** Characters that are drawn at first. */
const FIRST = 50_000;

interface LongTextProps {
  readonly text: string;
  readonly label: string;
  /** Its lines stay as long as they are. */
  readonly isDump?: boolean;
}

/** Text as it is, from its beginning; the rest when it is asked for. */
export function LongText({ text, label, isDump = false }: LongTextProps) {
  const [isWhole, setWhole] = useState(false);
  return (
    <>
      <Code block className="culvert-body" data-dump={isDump || undefined} tabIndex={0} aria-label={label}>
        {visibleLines(isWhole ? text : text.slice(0, FIRST))}
      </Code>
      {!isWhole && text.length > FIRST && (
        <Button size="xs" variant="default" onClick={() => setWhole(true)}>
          Show the rest ({bytesText(text.length - FIRST)})
        </Button>
      )}
    </>
  );
}
