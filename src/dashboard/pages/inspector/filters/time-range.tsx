/** The period that a chart has led to, beside the filters. */
import { Pill } from '@mantine/core';
import { rangeText } from './time-range-text.ts';
import type { Filter } from './filter.ts';

interface TimeRangeProps {
  readonly filter: Filter;
  /** Any time. */
  readonly onRemove: () => void;
}

export function TimeRange({ filter, onRemove }: TimeRangeProps) {
  const text = rangeText(filter);
  if (text === undefined) return null;
  return (
    <Pill
      size="lg"
      withRemoveButton
      onRemove={onRemove}
      removeButtonProps={{ 'aria-label': 'Any time', 'aria-hidden': false, tabIndex: 0 }}
    >
      {text}
    </Pill>
  );
}
