/** Text as it is, from its beginning; the rest when it is asked for. */
import { Button, Code } from '@mantine/core';
import { useState } from 'react';
import { bytesText } from '../../../parts/format.ts';
import { visibleLines } from '../visible-text.ts';

/** Characters that are drawn at first. */
const FIRST = 50_000;

interface LongTextProps {
  readonly text: string;
  readonly label: string;
  /** Its lines stay as long as they are. */
  readonly isDump?: boolean;
}

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
