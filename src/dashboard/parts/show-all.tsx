/** "Show all" below a cut list. The button goes when it is pressed: the first row that it has shown gets the focus. */
import { Button } from '@mantine/core';
import { flushSync } from 'react-dom';
import { focusOn } from './focus.ts';
import { countText } from './format.ts';

interface ShowAllProps {
  /** Rows in all. */
  readonly count: number;
  /** Rows that are shown without it. They are the only ones of their `section`. */
  readonly shown: number;
  readonly onShow: () => void;
}

export function ShowAll({ count, shown, onShow }: ShowAllProps) {
  return (
    <Button
      variant="default"
      size="xs"
      className="culvert-touch"
      style={{ alignSelf: 'flex-start' }}
      onClick={({ currentTarget }) => {
        const section = currentTarget.closest('section');
        flushSync(onShow);
        focusOn(section?.querySelectorAll<HTMLElement>('tbody tr, li')[shown] ?? section);
      }}
    >
      Show all {countText(count)}
    </Button>
  );
}
